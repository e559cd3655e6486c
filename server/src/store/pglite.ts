// The port to the embedded PostgreSQL (PGlite): one process, one connection, real fsync, a lock on the directory.
// Everything takes its turn on that connection, so that a statement can never slip into another's transaction.

import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { ask } from './conversation.ts';
import {
  CommitUnknown,
  type Database,
  type DatabaseLoad,
  DatabaseUnavailable,
  type Migration,
  type Queryable,
  type Transaction,
} from './database.ts';
import { lockDirectory } from './directory-lock.ts';
import { DurableNodeFS, publishTree } from './durable-fs.ts';
import { Holds } from './holds.ts';
import type { Log } from './log.ts';
import { applyMigrations } from './migrations.ts';
import { maintain } from './pglite-maintenance.ts';
import { PgliteStream } from './pglite-stream.ts';
import { copyTemplate, makeTemplate } from './pglite-template.ts';
import { type Planning, plannerSettings, SessionPlans } from './planner.ts';
import { describe, runScript, runStatement } from './statements.ts';
import { BEGIN, runTransaction, SELECT_ID, type Session } from './transaction.ts';
import { Turns } from './turns.ts';

/** PGlite starts PostgreSQL with `-F`, which turns fsync off. Of the methods to sync the log only `fsync` reaches our file system. */
const durableParameters = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  ...['-c', 'wal_sync_method=fsync'],
  // Checkpoints come from pglite-maintenance.ts; this only bounds how many old segments are kept for later use.
  ...['-c', 'max_wal_size=192MB'],
];
/** Values are read by their form, which these fix. */
const sessionParameters = ['timezone=UTC', 'datestyle=ISO', ...plannerSettings].flatMap((setting) => ['-c', setting.replaceAll(' ', '')]);
const memoryParameters = [...PGlite.defaultStartParams, '-c', 'shared_buffers=16MB'];

/** Nothing else can run while a transaction is open, so one that waits for what never comes must not wait for ever. */
const TRANSACTION_TIMEOUT_MS = 10_000;
const MAINTENANCE_EVERY_MS = 10_000;

/** What the engine says of why it will not start. */
const MAX_COMPLAINTS = 5;

const DATABASE_DIRECTORY = 'postgres';
const MEMORY = 'memory://';

export interface PgliteOptions {
  /** The database lies in a subdirectory of it. `memory://` keeps it in memory: no fsync, no lock, for tests. */
  readonly dataDir: string;
  readonly log: Log;
  /** Called after each fsync, for a test to count them. */
  readonly onFsync?: () => void;
  /** What a database in memory begins with, as `dumpDataDir` returned it. */
  readonly snapshot?: Blob;
  readonly maintenanceEveryMs?: number;
  /** Where the files of an empty database are looked for, for a test; those of the installation otherwise. */
  readonly packages?: string;
  /** How long to wait for another process that holds the directory. */
  readonly lockWaitMs?: number;
}

export async function openPglite(options: PgliteOptions): Promise<Database> {
  if (options.dataDir === MEMORY) {
    const snapshot = options.snapshot === undefined ? {} : { loadDataDir: options.snapshot };
    const pglite = await PGlite.create(MEMORY, { startParams: [...memoryParameters, ...sessionParameters], ...snapshot });
    return connect(pglite, options, () => undefined);
  }
  const dataDir = resolve(options.dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const unlock = await lockDirectory(dataDir, options.lockWaitMs);
  try {
    const directory = join(dataDir, DATABASE_DIRECTORY);
    const pglite = existsSync(directory) ? await start(directory, options.onFsync) : await startNew(directory, options);
    return await connect(pglite, options, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

async function start(directory: string, onFsync?: () => void): Promise<PGlite> {
  const said: string[] = [];
  const listen = (line: string): boolean => {
    if (/FATAL|PANIC|ERROR|HINT/.test(line) && said.length < MAX_COMPLAINTS) said.push(line);
    return false;
  };
  const fs = new DurableNodeFS(directory, onFsync);
  try {
    return await PGlite.create({ fs, startParams: [...durableParameters, ...sessionParameters], onStderr: listen });
  } catch (error) {
    throw new Error(`The embedded database in ${directory} did not start: ${said.join(' ') || describe(error)}`, { cause: error });
  }
}

async function initialise(directory: string): Promise<void> {
  mkdirSync(directory, { mode: 0o700 });
  await (await start(directory)).close();
}

/** A first start. A copy that does not start has never held anything, and gives way to files that are made here. */
async function startNew(directory: string, { onFsync, packages }: PgliteOptions): Promise<PGlite> {
  const unfinished = `${directory}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  if (copyTemplate(unfinished, packages)) {
    publishTree(unfinished, directory);
    try {
      return await start(directory, onFsync);
    } catch {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  await initialise(unfinished);
  publishTree(unfinished, directory);
  return start(directory, onFsync);
}

/** What an installation does ahead of the first start. */
export const prepareTemplate = (): Promise<void> => makeTemplate(initialise);

async function connect(pglite: PGlite, options: PgliteOptions, unlock: () => void): Promise<Database> {
  const client = new pg.Client({
    user: 'postgres',
    database: 'postgres',
    // Given outright, or variables of the environment that are meant for a server would be obeyed.
    ssl: false,
    stream: () => new PgliteStream(pglite),
  });
  const database = new PgliteDatabase(pglite, client, options, unlock);
  await client.connect();
  return database;
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new DatabaseUnavailable(`A transaction took longer than ${TRANSACTION_TIMEOUT_MS} ms.`)),
      TRANSACTION_TIMEOUT_MS,
    );
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

class PgliteDatabase implements Database {
  readonly kind = 'pglite';
  /** There is but one connection. */
  readonly shared: Queryable = { query: (text, parameters) => this.#run('kept', text, parameters) };
  readonly #pglite: PGlite;
  readonly #client: pg.Client;
  readonly #log: Log;
  readonly #unlock: () => void;
  readonly #session: Session;
  readonly #plans = new SessionPlans();
  readonly #turns = new Turns();
  readonly #holds = new Holds(1);
  readonly #maintenance: NodeJS.Timeout;
  readonly #listeners = new Map<string, Set<(payload: string) => void>>();
  #broken = false;
  #maintaining = false;
  #closing: Promise<void> | null = null;

  constructor(pglite: PGlite, client: pg.Client, { log, maintenanceEveryMs }: PgliteOptions, unlock: () => void) {
    this.#pglite = pglite;
    this.#client = client;
    this.#log = log;
    this.#unlock = unlock;
    this.#session = { client, named: true, isBroken: () => this.#broken };
    client.on('error', (error) => {
      this.#broken = true;
      clearInterval(this.#maintenance);
      log.error({ reason: describe(error) }, 'The embedded database has failed; a restart recovers it from its log');
    });
    this.#maintenance = setInterval(() => this.#maintain(), maintenanceEveryMs ?? MAINTENANCE_EVERY_MS).unref();
  }

  query<Row>(text: string, parameters?: readonly unknown[]): Promise<Row[]> {
    return this.#run('chosen', text, parameters);
  }

  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      this.#plan('chosen');
      const outcome = await runTransaction(this.#session, `${BEGIN}; ${SELECT_ID}`, (transaction) => inTime(work(transaction)));
      if (outcome.committed === true) return outcome.result;
      // There is no network in between: no answer to COMMIT means that the engine has failed, and only its log knows.
      throw new CommitUnknown('The embedded database failed at COMMIT.', { cause: outcome.cause });
    });
  }

  /** Nobody outside the process can listen, so it never leaves it. Told later, as a notification would be. */
  async notify(channel: string, payload: string): Promise<void> {
    for (const onNotify of this.#listeners.get(channel) ?? []) setImmediate(onNotify, payload);
  }

  async listen(channel: string, onNotify: (payload: string) => void): Promise<() => Promise<void>> {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners);
    listeners.add(onNotify);
    return async () => void listeners.delete(onNotify);
  }

  load(): DatabaseLoad {
    return { open: 1, idle: this.#turns.isTaken ? 0 : 1, waiting: this.#turns.waiting };
  }

  expectedWaitMs(): number {
    return this.#holds.expectedWaitMs(this.#turns.waiting);
  }

  isListening(): boolean {
    return this.#closing === null;
  }

  /** Without waiting: what fails here fails what follows too. */
  #plan(planning: Planning): void {
    for (const command of this.#plans.ahead(planning)) ask(this.#client, { text: command }).catch(() => undefined);
  }

  #run<Row>(planning: Planning, text: string, parameters: readonly unknown[] | undefined): Promise<Row[]> {
    return this.#inTurn(() => {
      this.#plan(planning);
      return runStatement<Row>(this.#client, true, text, parameters);
    });
  }

  /** The directory's lock keeps other processes away, the turn other callers in this one. */
  migrate(migrations: readonly Migration[]): Promise<string[]> {
    return this.#inTurn(() => applyMigrations(this.#client, migrations));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #inTurn<T>(run: () => Promise<T>): Promise<T> {
    if (this.#closing !== null) throw new DatabaseUnavailable('The database is closed.');
    await this.#turns.take();
    const hold = this.#holds.begin();
    try {
      return await run();
    } finally {
      this.#holds.end(hold);
      this.#turns.give();
    }
  }

  #maintain(): void {
    if (this.#maintaining) return;
    this.#maintaining = true;
    maintain(this)
      .catch((error: unknown) => {
        if (this.#closing === null)
          this.#log.warn({ reason: describe(error) }, 'Maintenance of the embedded database failed; it is tried again');
      })
      .finally(() => (this.#maintaining = false));
  }

  async #close(): Promise<void> {
    clearInterval(this.#maintenance);
    // Waits for what was accepted before.
    await this.#turns.take();
    try {
      // Shortens the next start; the log alone would do.
      if (!this.#broken) await runScript(this.#client, 'checkpoint');
      await this.#client.end();
      await this.#pglite.close();
    } catch (error) {
      this.#log.warn({ reason: describe(error) }, 'The embedded database did not close cleanly; the next start recovers it from its log');
    } finally {
      this.#unlock();
    }
  }
}
