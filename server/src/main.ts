#!/usr/bin/env node
// The command line. Reads arguments, calls one function, prints what came of it; holds no logic of the service.

import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { type Config, ConfigurationError, readConfig } from './config.ts';
import { inColumns } from './operations/columns.ts';
import type { OperationName, Operations } from './operations/operations.ts';
import { OperatorError } from './operations/operator-error.ts';
import { EncryptionKeyRefused } from './store/cipher.ts';
import { DatabaseUnavailable } from './store/database.ts';
import { DirectoryInUse } from './store/directory-lock.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
const say = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};

const program = new Command('tranche')
  .description('Work that is paid by milestone: the API, its webhooks and its books.')
  .version(version)
  .configureOutput({ outputError: (text, write) => write(inColumns(text)) })
  .addHelpText(
    'after',
    '\nConfiguration is read from the environment; see docs/reference/configuration.md.\n"npm run tranche -- <command>" runs a command without a global install.',
  );

program
  .command('serve')
  .description('serve the API, with the embedded database or with DATABASE_URL')
  .option('--no-worker', 'leave the delivery of webhooks to "tranche worker" (PostgreSQL only)')
  .option('--processes <n>', 'so many processes on the one port, or "auto" for one per core (PostgreSQL only)')
  .action(async ({ worker, processes }) => {
    const config = readConfig(processes === undefined ? process.env : { ...process.env, PROCESSES: processes });
    await startServing(worker ? config : { ...config, WEBHOOK_WORKER: false });
  });

program
  .command('worker')
  .description('deliver webhooks and nothing else, beside any number of servers (PostgreSQL only)')
  .action(async () => {
    const { work } = await import('./work.ts');
    await work(readConfig(process.env), version, say);
  });

program
  .command('migrate')
  .description('bring the database up to date and stop (serve does so by itself)')
  .action(async () => {
    const { openStore } = await import('./open-store.ts');
    const store = await openStore(readConfig(process.env));
    try {
      say(store.applied.length === 0 ? 'The database is up to date.' : `Applied: ${store.applied.join(', ')}.`);
    } finally {
      await store.close();
    }
  });

const keys = program.command('keys').description('create, list and revoke API keys');

keys
  .command('create')
  .description('create an API key and show its secret once')
  .requiredOption('--name <name>', 'what people call it')
  .option('--scopes <list>', 'comma-separated scopes; every scope when left out', (text) => text.split(',').map((scope) => scope.trim()))
  .option('--expires-at <time>', 'when it stops working, such as 2027-01-31T00:00:00Z')
  .option('--workspace <id>', 'wsp_…; the default workspace when left out')
  .option('--json', 'print JSON')
  .action(async ({ name, scopes, expiresAt, workspace, json }) => {
    const key = await operate('createKey', { name, scopes, expires_at: expiresAt, workspace });
    if (json) say(JSON.stringify(key, null, 2));
    else say(`${key.secret}\n\nThat is the key "${key.name}" (${key.id}).\nIt is shown this once and cannot be read again.`);
  });

keys
  .command('list')
  .description('list API keys, oldest first')
  .option('--workspace <id>', 'wsp_…; the default workspace when left out')
  .option('--json', 'print JSON')
  .action(async ({ workspace, json }) => {
    const rows = await operate('listKeys', { workspace });
    if (json) say(JSON.stringify(rows, null, 2));
    else if (rows.length === 0) say('There are no keys. Make one with: tranche keys create --name <name>');
    else for (const row of rows) say(`${row.id}  ${row.status.padEnd(7)}  ${`${row.hint}…`.padEnd(14)}  ${row.name}`);
  });

keys
  .command('revoke')
  .description('revoke an API key: from then on nothing can be done with it')
  .argument('<id>', 'key_…, as "keys list" shows it')
  .option('--workspace <id>', 'wsp_…; the default workspace when left out')
  .option('--json', 'print JSON')
  .action(async (id: string, { workspace, json }) => {
    const key = await operate('revokeKey', { id, workspace });
    say(json ? JSON.stringify(key, null, 2) : `Revoked ${key.id} ("${key.name}").`);
  });

program
  .command('people')
  .description('help people who cannot sign in')
  .command('reset-password')
  .description('give somebody a new password; turns their second factor off and ends their sessions')
  .requiredOption('--email <address>', 'the address they signed up with')
  .option('--json', 'print JSON')
  .action(async ({ email, json }) => {
    const reset = await operate('resetPassword', { email });
    if (json) say(JSON.stringify(reset, null, 2));
    else say(`${reset.password}\n\nThat is the password of ${reset.email} now. Pass it on, and have it changed.`);
  });

program
  .command('verify')
  .description('prove the books: hash chain, ledger, numbers and invoices of every workspace')
  .option('--expect <seq:hash>', 'a head noted earlier that the log must still hold; may be repeated', collectHeads, [])
  .option('--json', 'print JSON')
  .action(async ({ expect, json }) => {
    const reports = await operate('verify', { expect }, (line) => process.stderr.write(`${line}\n`));
    if (json) say(JSON.stringify(reports, null, 2));
    else {
      const { describeReport } = await import('./operations/describe-report.ts');
      for (const report of reports) say(describeReport(report));
    }
    if (reports.some((report) => report.faultsInAll > 0)) process.exitCode = 1;
  });

program
  .command('doctor')
  .description('check this machine, the configuration and the database, and say what to mend')
  .action(async () => {
    const { examine } = await import('./operations/doctor.ts');
    const findings = await examine(process.env, version);
    for (const { ok, what, fix } of findings) {
      say(`${ok ? 'ok  ' : 'MEND'}  ${inColumns(what, '      ')}`);
      if (fix !== undefined) say(`      ${inColumns(fix, '      ')}`);
    }
    if (findings.some((finding) => !finding.ok)) process.exitCode = 1;
  });

program
  .command('listen')
  .description('forward live events to a receiver on this machine, signed like webhooks')
  .requiredOption('--forward-to <url>', 'where to send them, such as http://localhost:3000/hook')
  .option('--events <list>', 'comma-separated kinds of event; every kind when left out', (text) =>
    text.split(',').map((type) => type.trim()),
  )
  .option('--secret <whsec_…>', 'the secret to sign with; a new one is made and printed when left out')
  .option('--url <url>', 'the server; TRANCHE_URL or http://127.0.0.1:8080 when left out')
  .option('--api-key <key>', 'a key with the scope events:read; TRANCHE_API_KEY when left out')
  .action(async ({ forwardTo, events, secret, ...options }) => {
    const { startListening } = await import('./command-line/start-listening.ts');
    await startListening({ forwardTo, events, secret, ...options }, process.env, say);
  });

program
  .command('trigger')
  .description('make an event happen on a running server, with real records')
  .argument('<event>', 'the kind of event, such as payment.released')
  .option('--url <url>', 'the server; TRANCHE_URL or http://127.0.0.1:8080 when left out')
  .option('--api-key <key>', 'a key with every scope that it takes; TRANCHE_API_KEY when left out')
  .action(async (type: string, options) => {
    const [{ targetOf }, { trigger }] = await Promise.all([import('./command-line/client.ts'), import('./command-line/trigger.ts')]);
    await trigger({ target: targetOf(options, process.env), type, say });
  });

function collectHeads(text: string, before: readonly string[]): string[] {
  if (!/^(wsp_[0-9a-z]{26}:)?\d+:[0-9a-f]{64}$/.test(text))
    throw new InvalidArgumentError('It must look like 1234:9f86d081…, as verify prints it.');
  return [...before, text];
}

/** As one process, as the supervisor of several, or as one of them. */
async function startServing(config: Config): Promise<void> {
  if (config.PROCESSES !== undefined) {
    const { isWorker } = (await import('node:cluster')).default;
    if (isWorker) return (await import('./serve-supervised.ts')).serveSupervised(config, version);
    const { processCount, supervise } = await import('./supervise.ts');
    const count = processCount(config);
    if (count !== null) return supervise(config, count, version, say);
  }
  const { serve } = await import('./serve.ts');
  await serve(config, version, say);
}

/** Carries an operation out: in the serving process that holds the embedded database, or else right here. */
async function operate<Name extends OperationName>(
  name: Name,
  input: unknown,
  onProgress: (line: string) => void = () => {},
): Promise<Awaited<ReturnType<Operations[Name]>>> {
  const config: Config = readConfig(process.env);
  if (config.DATABASE_URL === undefined) {
    const { callControlSocket, controlSocketPath } = await import('./operations/control-socket.ts');
    const answer = await callControlSocket(controlSocketPath(config.DATA_DIR), name, input, onProgress);
    if (answer !== undefined) return answer;
  }
  const { openStore } = await import('./open-store.ts');
  const store = await openStore(config);
  try {
    return (await store.operations[name](input, onProgress)) as Awaited<ReturnType<Operations[Name]>>;
  } finally {
    await store.close();
  }
}

/** Whether an error tells a person what to do, so that the place in the code would only be in the way. */
async function isExpected(error: unknown): Promise<boolean> {
  // Loaded here, since most runs end well and need no database.
  const [{ NewerSchema }, { UnsupportedDatabase }, { PoolerInTheWay }] = await Promise.all([
    import('./store/migrations.ts'),
    import('./store/open.ts'),
    import('./store/pooler.ts'),
  ]);
  const kinds = [
    ConfigurationError,
    OperatorError,
    DirectoryInUse,
    DatabaseUnavailable,
    EncryptionKeyRefused,
    NewerSchema,
    UnsupportedDatabase,
    PoolerInTheWay,
  ];
  return kinds.some((kind) => error instanceof kind);
}

try {
  await program.parseAsync();
} catch (error) {
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  process.stderr.write(`${(await isExpected(error)) ? inColumns(message) : stack}\n`);
  process.exitCode = 1;
}
