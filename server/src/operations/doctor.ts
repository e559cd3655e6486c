// Looks at the machine, the configuration and the database, and says what to mend. Changes nothing.

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pino } from 'pino';
import { type Config, databaseOptions, readConfig, webhookNetwork } from '../config.ts';
import type { Database } from '../store/database.ts';
import { readMigrations } from '../store/migrations.ts';
import { openDatabase } from '../store/open.ts';
import { controlSocketPath } from './control-socket.ts';

export interface Finding {
  readonly ok: boolean;
  readonly what: string;
  readonly fix?: string;
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
  const serving = await findServer(config);
  findings.push(serving.finding);
  findings.push(...examineDirectory(config));
  if (config.DATABASE_URL === undefined && serving.running) {
    findings.push({ ok: true, what: 'The embedded database is held by the serving process, which answers for it.' });
  } else findings.push(...(await examineDatabase(config)));
  findings.push({
    ok: true,
    what: `Webhooks go to ${webhookNetwork(config) === 'public' ? 'public addresses only' : 'any address, loopback and private ones too'} (WEBHOOK_NETWORK).`,
  });
  return findings;
}

async function findServer(config: Config): Promise<{ running: boolean; finding: Finding }> {
  const url = `http://${config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST}:${config.PORT}/readyz`;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    if (answer.ok) return { running: true, finding: { ok: true, what: `A server answers at ${url} and is ready.` } };
    const fix = 'Its log says why; if it is not Tranche, choose another PORT.';
    return { running: true, finding: { ok: false, what: `A server answers ${answer.status} at ${url}.`, fix } };
  } catch {
    return { running: false, finding: { ok: true, what: `No server runs at ${config.HOST}:${config.PORT} yet.` } };
  }
}

function examineDirectory(config: Config): Finding[] {
  const path = resolve(config.DATA_DIR);
  if (config.DATABASE_URL !== undefined) return [];
  if (!existsSync(path)) return [{ ok: true, what: `DATA_DIR ${path} will be made at the first start.` }];
  const findings: Finding[] = [];
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
    });
  }
  if (controlSocketPath(config.DATA_DIR).length > 107) {
    findings.push({
      ok: false,
      what: 'The path of DATA_DIR is too long for a control socket.',
      fix: 'Choose a shorter path, so that "tranche keys" can reach a running server.',
    });
  }
  return findings;
}

async function examineDatabase(config: Config): Promise<Finding[]> {
  const embedded = config.DATABASE_URL === undefined;
  if (embedded && !existsSync(resolve(config.DATA_DIR))) return [];
  try {
    const database = await openDatabase(databaseOptions(config), pino({ level: 'silent' }));
    try {
      return await examineOpenDatabase(database, embedded ? 'embedded database' : 'PostgreSQL');
    } finally {
      await database.close();
    }
  } catch (error) {
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
