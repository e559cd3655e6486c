// Looks at the machine, the configuration and the database, and says what to mend. Changes nothing.

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { dirname, join, resolve } from 'node:path';
import { pino } from 'pino';
import { type Config, databaseOptions, readConfig, replicaOptions, webhookNetwork } from '../config.ts';
import { checkEncryptionKey, createCipher, loadEncryptionKey } from '../store/cipher.ts';
import type { Database } from '../store/database.ts';
import { DirectoryInUse } from '../store/directory-lock.ts';
import { readMigrations } from '../store/migrations.ts';
import { openDatabase } from '../store/open.ts';
import { PoolerInTheWay } from '../store/pooler.ts';
import { lookAtReplica } from '../store/replica.ts';
import { controlSocketPath } from './control-socket.ts';

export interface Finding {
  readonly ok: boolean;
  readonly what: string;
  readonly fix?: string;
  /** To be mended, but the service runs all the same. */
  readonly harmless?: true;
}

/** A clock this far from the database's makes signatures look old to receivers. */
const MAX_CLOCK_SKEW_MS = 30_000;
const PROBE_TIMEOUT_MS = 3_000;

export async function examine(environment: Readonly<Record<string, string | undefined>>, version: string): Promise<Finding[]> {
  const findings: Finding[] = [{ ok: true, what: `Tranche ${version} on Node ${process.versions.node}` }];
  let config: Config;
  try {
    config = readConfig(environment);
    findings.push({ ok: true, what: 'The configuration is well-formed.' });
  } catch (error) {
    return [...findings, { ok: false, what: messageOf(error), fix: 'docs/reference/configuration.md lists every variable.' }];
  }
  findings.push(await examinePort(config));
  const directory = examineDirectory(config);
  findings.push(...directory);
  // What cannot be written cannot be opened either, and one complaint is enough.
  if (directory.every((finding) => finding.ok || finding.harmless)) findings.push(...(await examineDatabase(config)));
  findings.push({
    ok: true,
    what: `Webhooks go to ${webhookNetwork(config) === 'public' ? 'public addresses only' : 'any address, loopback and private ones too'} (WEBHOOK_NETWORK).`,
  });
  return findings;
}

/** Whether the port is free, ours already, or somebody else's. */
async function examinePort(config: Config): Promise<Finding> {
  if (config.PORT === 0) return { ok: true, what: 'PORT 0 picks a free port at each start.' };
  const place = `${config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST}:${config.PORT}`;
  const answer = await askReadiness(config);
  if (answer === 'ECONNREFUSED') return { ok: true, what: `No server runs at ${place} yet.` };
  if (answer === 'ENOTFOUND' || answer === 'EADDRNOTAVAIL')
    return { ok: false, what: `HOST ${config.HOST} is not an address of this machine.`, fix: 'Use 127.0.0.1, or 0.0.0.0 for all.' };
  if (typeof answer === 'string' || !/^req_/.test(String(answer.headers['request-id'] ?? '')))
    return { ok: false, what: `Something that is not Tranche uses ${place}.`, fix: 'Choose another PORT, or stop what uses it.' };
  if (answer.statusCode === 200) return { ok: true, what: `A server answers at ${place} and is ready.` };
  return { ok: false, what: `A server answers ${answer.statusCode} at ${place}: it is not ready.`, fix: 'Its log says why.' };
}

/** The answer of whatever listens there, or the code of the failure. */
function askReadiness({ HOST, PORT }: Config): Promise<IncomingMessage | string> {
  return new Promise((done) => {
    const call = get({ host: HOST, port: PORT, path: '/readyz', agent: false, signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    call.on('response', (answer) => done(answer.resume()));
    call.on('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
  });
}

function examineDirectory(config: Config): Finding[] {
  const path = resolve(config.DATA_DIR);
  if (config.DATABASE_URL !== undefined) return [];
  if (!existsSync(path)) return [examineParent(path)];
  const findings: Finding[] = [];
  if (!statSync(path).isDirectory()) return [{ ok: false, what: `DATA_DIR ${path} is not a directory.`, fix: 'Choose another DATA_DIR.' }];
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    findings.push({ ok: true, what: `DATA_DIR ${path} can be written.` });
  } catch {
    findings.push({
      ok: false,
      what: `DATA_DIR ${path} cannot be written by this user.`,
      fix: 'Give it to the user that runs Tranche, or choose another DATA_DIR.',
    });
  }
  if ((statSync(path).mode & 0o077) !== 0) {
    findings.push({
      ok: false,
      what: `DATA_DIR ${path} can be entered by other users; the books and the encryption key are in it.`,
      fix: `chmod 700 ${path}`,
      harmless: true,
    });
  }
  if (controlSocketPath(config.DATA_DIR).length > 107) {
    findings.push({
      ok: false,
      what: 'The path of DATA_DIR is too long for a control socket.',
      fix: 'Choose a shorter path, so that "tranche keys" can reach a running server.',
      harmless: true,
    });
  }
  return findings;
}

/** Where the data directory is still to be made: whether this user may. */
function examineParent(path: string): Finding {
  let parent = dirname(path);
  while (!existsSync(parent)) parent = dirname(parent);
  try {
    accessSync(parent, constants.W_OK | constants.X_OK);
    return { ok: true, what: `DATA_DIR ${path} will be made at the first start.` };
  } catch {
    const fix = 'Make it and give it to the user that runs Tranche, or choose another DATA_DIR.';
    return { ok: false, what: `DATA_DIR ${path} cannot be made by this user.`, fix };
  }
}

async function examineDatabase(config: Config): Promise<Finding[]> {
  const embedded = config.DATABASE_URL === undefined;
  // To open it would make it.
  if (embedded && !existsSync(join(resolve(config.DATA_DIR), 'postgres')))
    return [{ ok: true, what: 'The embedded database will be made at the first start.' }];
  try {
    const database = await openDatabase(databaseOptions(config), pino({ level: 'silent' }));
    try {
      const findings = await examineOpenDatabase(database, embedded ? 'embedded database' : 'PostgreSQL');
      return [...findings, ...(await examineEncryptionKey(database, config)), ...(await examineReplica(database, config))];
    } finally {
      await database.close();
    }
  } catch (error) {
    if (error instanceof DirectoryInUse)
      return [{ ok: true, what: 'The embedded database is held by a running process, which answers for it.' }];
    if (error instanceof PoolerInTheWay)
      return [{ ok: false, what: messageOf(error), fix: 'docs/guides/operating.md, "Behind a pooler", shows the three variables.' }];
    const what = `The ${embedded ? 'embedded database' : 'PostgreSQL database'} cannot be used: ${messageOf(error)}`;
    return [
      {
        ok: false,
        what,
        fix: embedded ? 'The message says what to do.' : 'Check DATABASE_URL, and that the server runs and lets this user in.',
      },
    ];
  }
}

async function examineOpenDatabase(database: Database, kind: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  const [row] = await database.query<{ version: string; fsync: string; now: Date }>(
    `select current_setting('server_version') as version, current_setting('fsync') as fsync, clock_timestamp() as now`,
  );
  findings.push({ ok: true, what: `The ${kind} answers: version ${row?.version}.` });
  if (row?.fsync !== 'on')
    findings.push({ ok: false, what: 'fsync is off: a power cut can lose committed money.', fix: 'Set fsync = on.' });
  const skewMs = Math.abs(Date.now() - (row?.now.getTime() ?? 0));
  if (skewMs > MAX_CLOCK_SKEW_MS)
    findings.push({
      ok: false,
      what: `The clocks of this machine and the database differ by ${Math.round(skewMs / 1000)} s.`,
      fix: 'Synchronise them (NTP).',
    });
  const [table] = await database.query<{ found: boolean }>(`select to_regclass('schema_migrations') is not null as found`);
  const applied = table?.found ? (await database.query<{ name: string }>('select name from schema_migrations')).length : 0;
  const known = (await readMigrations()).length;
  findings.push({
    ok: true,
    what:
      applied === known
        ? `All ${known} migrations are applied.`
        : `${applied} of ${known} migrations are applied; the next start applies the rest.`,
  });
  return findings;
}

/** Whether eventual reads have somebody to serve them. Without it they cost the primary, and that is all. */
async function examineReplica(primary: Database, config: Config): Promise<Finding[]> {
  if (config.DATABASE_REPLICA_URL === undefined) return [];
  const { trouble } = await lookAtReplica({
    ...replicaOptions(config, config.DATABASE_REPLICA_URL),
    primary,
    log: pino({ level: 'silent' }),
  });
  if (trouble === null) return [{ ok: true, what: 'The replica answers and is not far behind (DATABASE_REPLICA_URL).' }];
  const fix = 'Until then the primary serves what is asked for as eventual.';
  return [{ ok: false, what: `The replica cannot be used: ${trouble}.`, fix, harmless: true }];
}

/** Whether the key is the one that the stored secrets were sealed with. Makes none: that is for the first start. */
async function examineEncryptionKey(database: Database, config: Config): Promise<Finding[]> {
  const [table] = await database.query<{ found: boolean }>(`select to_regclass('encryption_checks') is not null as found`);
  const isUsed = table?.found === true && (await database.query('select from encryption_checks')).length > 0;
  if (!isUsed) return [{ ok: true, what: 'No secret is stored yet; the first start fixes the encryption key.' }];
  if (config.ENCRYPTION_KEY === undefined && !existsSync(join(resolve(config.DATA_DIR), 'encryption.key'))) {
    const fix = 'Restore it from a backup, or set ENCRYPTION_KEY to what it held: without it no stored secret can be read.';
    return [{ ok: false, what: `encryption.key is missing in DATA_DIR ${resolve(config.DATA_DIR)}.`, fix }];
  }
  try {
    const required = config.DATABASE_URL !== undefined;
    await checkEncryptionKey(
      database,
      createCipher(loadEncryptionKey({ encryptionKey: config.ENCRYPTION_KEY, dataDir: config.DATA_DIR, required })),
    );
    return [{ ok: true, what: 'The encryption key is the one of this database.' }];
  } catch (error) {
    return [{ ok: false, what: messageOf(error), fix: 'Nothing can be served before: stored secrets could not be read.' }];
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
