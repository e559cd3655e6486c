// Fresh, migrated databases for tests, of both kinds; opened fast, since hundreds of tests ask for one.
// Nothing is shared between two that are open at the same time.

import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { inject } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import type { Log } from '../../src/store/log.ts';
import { applyMigrations, readMigrations } from '../../src/store/migrations.ts';
import { openPglite } from '../../src/store/pglite.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { canPool, type Pooler, pgbouncerMissing, startPgbouncer } from './pgbouncer.ts';
import { postgresMissing, startPostgres, untilReady } from './postgres-server.ts';
import './global-setup.ts';

export { type PostgresServer, startPostgres } from './postgres-server.ts';

export interface OpenDatabase {
  readonly database: Database;
  close(): Promise<void>;
}

export interface TestDatabase<Name extends string = 'embedded' | 'PostgreSQL'> {
  readonly name: Name;
  /** False: skip visibly, with `reason`. Always true where TRANCHE_REQUIRE_POSTGRES=1 turns absence into a failure. */
  readonly available: boolean;
  readonly reason?: string;
  open(): Promise<OpenDatabase>;
}

const quietly: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

// --- embedded -------------------------------------------------------------------------------------------------------------------------

/** Beside the installed packages, so that a fresh install makes it anew. */
const cacheDirectory = new URL('../../../node_modules/.cache/tranche-tests/', import.meta.url);

/** The files of an empty database, which initdb takes seconds to make and which depend on nothing but PGlite. */
async function emptySnapshot(): Promise<Blob> {
  const packageFile = new URL('../../../node_modules/@electric-sql/pglite/package.json', import.meta.url);
  const key = createHash('sha256').update(readFileSync(packageFile)).digest('hex').slice(0, 16);
  const file = new URL(`empty-${key}.tar`, cacheDirectory);
  if (!existsSync(file)) {
    const pglite = await PGlite.create('memory://');
    await pglite.query('checkpoint');
    const tar = Buffer.from(await (await pglite.dumpDataDir('none')).arrayBuffer());
    await pglite.close();
    mkdirSync(cacheDirectory, { recursive: true });
    // Under another name first: another test process may be looking.
    const unfinished = new URL(`${process.pid}.tmp`, cacheDirectory);
    writeFileSync(unfinished, tar);
    renameSync(unfinished, file);
  }
  return new Blob([readFileSync(file)]);
}

/** One embedded database, for a test that needs no more to say; it ends with its `close`. */
export async function openDatabase(): Promise<Database> {
  return (await openEmbedded()).database;
}

/** Databases that a test has given back: emptying one is several times faster than opening another. */
const idle: Database[] = [];
const MAX_IDLE = 2;

async function openEmbedded(): Promise<OpenDatabase> {
  const database = idle.pop() ?? (await openPglite({ dataDir: 'memory://', log: quietly, snapshot: await emptySnapshot() }));
  await database.migrate(await readMigrations());
  return { database, close: () => giveBack(database) };
}

async function giveBack(database: Database): Promise<void> {
  try {
    await database.query('drop schema public cascade');
    await database.query('create schema public');
    if (idle.length < MAX_IDLE) idle.push(database);
    else await database.close();
  } catch {
    // The test has closed it or broken it; the next one opens another.
    await database.close();
  }
}

// --- PostgreSQL -----------------------------------------------------------------------------------------------------------------------

const TEMPLATE = 'tranche_template';
const TEMPLATE_LOCK = 4_711;

let server: Promise<string> | null = null;
let pooler: Promise<Pooler> | null = null;

/** The run's server, or where a test runs without the global setup, one that ends with this process. */
async function serverUrl(): Promise<string> {
  const url = inject('postgresUrl') ?? (await startPostgres()).url;
  await untilReady(url);
  return url;
}

async function withAdmin<T>(url: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

function databaseUrl(url: string, name: string): string {
  const result = new URL(url);
  result.pathname = `/${name}`;
  return result.href;
}

/** Made once a run, by whichever test process comes first. */
async function makeTemplate(url: string): Promise<void> {
  await withAdmin(url, async (admin) => {
    await admin.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const present = await admin.query('select from pg_database where datname = $1', [TEMPLATE]);
    if (present.rowCount !== 0) return;
    const unfinished = `${TEMPLATE}_unfinished`;
    await admin.query(`drop database if exists ${unfinished}`);
    await admin.query(`create database ${unfinished}`);
    await withAdmin(databaseUrl(url, unfinished), async (client) => applyMigrations(client, await readMigrations()));
    await admin.query(`alter database ${unfinished} rename to ${TEMPLATE}`);
  });
}

/** A new database on `url`'s server; `template` where it should be migrated already. Returns its address. */
async function createDatabase(url: string, template: string): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await withAdmin(url, (admin) => admin.query(`create database ${name} template ${template}`));
  return databaseUrl(url, name);
}

async function openServer(pooled = false): Promise<OpenDatabase> {
  server ??= serverUrl().then(async (url) => {
    await makeTemplate(url);
    return url;
  });
  const admin = await server;
  const direct = await createDatabase(admin, TEMPLATE);
  // One for the whole of a test file, ended with its process.
  if (pooled) pooler ??= startPgbouncer(admin);
  const url = pooled ? ((await pooler) as Pooler).through(direct) : direct;
  const database = await openPostgres({ url, directUrl: direct, preparedStatements: !pooled, poolSize: 5, log: quietly });
  const close = async (): Promise<void> => {
    await database.close();
    await withAdmin(admin, (client) => client.query(`drop database if exists ${new URL(url).pathname.slice(1)} with (force)`));
  };
  return { database, close };
}

/** The address of a fresh, empty database on the run's server: for tests that open it themselves. */
export async function emptyPostgresDatabase(): Promise<string> {
  return createDatabase(await serverUrl(), 'template1');
}

const required = process.env.TRANCHE_REQUIRE_POSTGRES === '1';

export const testDatabases: readonly TestDatabase[] = [
  { name: 'embedded', available: true, open: openEmbedded },
  postgresMissing === null
    ? { name: 'PostgreSQL', available: true, open: () => openServer() }
    : { name: 'PostgreSQL', available: required, reason: postgresMissing, open: () => openServer() },
];

/** The same server as its users reach it through a pooler in transaction mode: for the suites that show what a port or a list promises. */
export const pooledDatabase: TestDatabase<'PostgreSQL behind PgBouncer'> = {
  name: 'PostgreSQL behind PgBouncer',
  available: canPool,
  ...(pgbouncerMissing === null ? {} : { reason: pgbouncerMissing }),
  open: () => openServer(true),
};
