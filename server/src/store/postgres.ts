// The port to a PostgreSQL server: a pool of pipelined connections, one more that listens, and the truth about a lost COMMIT.
// Knows no tables of the service but `schema_migrations`, through migrations.ts.

import pg from 'pg';
import { learnOutcome, SERVER_MARK } from './commit-outcome.ts';
import { ask, limitAnswers } from './conversation.ts';
import {
  CommitUnknown,
  type Database,
  type DatabaseLoad,
  DatabaseUnavailable,
  type Migration,
  type Queryable,
  type Transaction,
  TransactionAborted,
} from './database.ts';
import { type Hold, Holds } from './holds.ts';
import type { Log } from './log.ts';
import { applyMigrations } from './migrations.ts';
import { KEPT_PLANS, type Planning, plannerSettings, SessionPlans } from './planner.ts';
import { BACKEND, isPooled, PoolerInTheWay, speaksForAnother } from './pooler.ts';
import { PostgresListener } from './postgres-listener.ts';
import { ReadingSocket } from './reading-socket.ts';
import { SharedRides } from './shared-rides.ts';
import { describe, runScript, runStatement, spoilsConnection, toPortError } from './statements.ts';
import { BEGIN, isReusable, runAlone, runTransaction, SELECT_ID, type Session } from './transaction.ts';

/** A write waits for another at most so long; the lane then puts the batch back. */
const LOCK_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 15_000;
/** A process that stops in the middle of a transaction must not hold its locks for ever. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;
/** Our own limit, for a network that swallows packets: longer than any the server keeps, so that its clearer answer comes first. */
const ANSWER_TIMEOUT_MS = 30_000;
/** For a free connection, a new one included. */
const CONNECT_TIMEOUT_MS = 5_000;
const IDLE_CONNECTION_MS = 60_000;
/** A migration may build an index for long; another process that migrates at the same time waits for it. */
const MIGRATION_LOCK_TIMEOUT_MS = 600_000;
/** Any number that no other software uses as its advisory lock: 'tranche' in ASCII. */
const MIGRATION_LOCK = '32776860087838821';

const settings = [
  `lock_timeout = ${LOCK_TIMEOUT_MS}`,
  `statement_timeout = ${STATEMENT_TIMEOUT_MS}`,
  `idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_TIMEOUT_MS}`,
  // Dates and times are read by their form, which these two fix.
  `timezone = 'UTC'`,
  `datestyle = 'ISO'`,
  ...plannerSettings,
];
/** A pooler refuses settings at start-up and shares what is set later with strangers, so there they are set for each transaction. */
const beginPooled = [BEGIN, ...settings.map((setting) => `set local ${setting}`)].join('; ');

export interface PostgresOptions {
  readonly url: string;
  /** For LISTEN and migrations, where `url` leads to a transaction pooler. */
  readonly directUrl?: string | undefined;
  /** False behind a transaction pooler, which gives every transaction another session. */
  readonly preparedStatements: boolean;
  readonly poolSize: number;
  /** How long an answer may take before its connection is given up. */
  readonly answerTimeoutMs?: number;
  readonly log: Log;
}

export interface PostgresPort extends Database {
  /** Whether somebody stands between us and the server and answers for it; known from the first statement on. */
  isPooled(): boolean;
}

/** Opens no connection yet: the first statement does. */
export function createPostgres(options: PostgresOptions): PostgresPort {
  return new PostgresDatabase(options);
}

export async function openPostgres(options: PostgresOptions): Promise<PostgresPort> {
  return createPostgres(options);
}

interface Lease {
  readonly session: Session;
  readonly client: pg.PoolClient;
  readonly hold: Hold;
}

class PostgresDatabase implements PostgresPort {
  readonly kind = 'postgres';
  readonly shared: Queryable;
  readonly #options: PostgresOptions;
  readonly #pool: pg.Pool;
  readonly #listener: PostgresListener;
  readonly #begin: string;
  readonly #holds: Holds;
  readonly #broken = new WeakSet<pg.ClientBase>();
  readonly #marks = new WeakMap<pg.ClientBase, string>();
  readonly #plans = new WeakMap<pg.ClientBase, SessionPlans>();
  #isPooled = false;
  #closing: Promise<void> | null = null;

  constructor(options: PostgresOptions) {
    this.#options = options;
    this.#holds = new Holds(options.poolSize);
    this.#listener = new PostgresListener(options.directUrl ?? options.url, options.log);
    this.#begin = options.preparedStatements
      ? `${BEGIN}; ${SELECT_ID}, ${KEPT_PLANS}`
      : `${beginPooled}; ${SELECT_ID}, ${SERVER_MARK} as mark`;
    this.#pool = new pg.Pool({
      connectionString: options.url,
      fallback_application_name: 'tranche',
      max: options.poolSize,
      stream: () => new ReadingSocket(),
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      idleTimeoutMillis: IDLE_CONNECTION_MS,
      onConnect: (client) => this.#prepare(client),
    });
    this.shared = new SharedRides<Lease>({
      lease: () => this.#lease('kept'),
      run: (lease, text, parameters) => this.#run(lease, text, parameters),
      release: (lease, spoilt) => this.#release(lease, spoilt),
      spoils: spoilsConnection,
    });
    // The pool has dropped that connection already; without a listener the event would end the process.
    this.#pool.on('error', (error) => options.log.warn({ reason: describe(error) }, 'Lost an idle connection to the database'));
  }

  async query<Row>(text: string, parameters?: readonly unknown[]): Promise<Row[]> {
    const lease = await this.#lease('chosen');
    let spoilt = false;
    try {
      return await this.#run<Row>(lease, text, parameters);
    } catch (error) {
      spoilt = spoilsConnection(error);
      throw error;
    } finally {
      this.#release(lease, spoilt);
    }
  }

  /** One statement by itself. */
  #run<Row>({ session }: Lease, text: string, parameters: readonly unknown[] | undefined): Promise<Row[]> {
    if (!session.named) return runAlone<Row>(session, beginPooled, text, parameters);
    return runStatement<Row>(session.client, true, text, parameters);
  }

  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const lease = await this.#lease();
    const { session, client } = lease;
    let spoilt = false;
    const outcome = await runTransaction(session, this.#begin, work)
      .catch((error: unknown) => {
        spoilt = spoilsConnection(error);
        throw error;
      })
      .finally(() => this.#release(lease, spoilt));
    if (outcome.committed === true) return outcome.result;

    const mark = outcome.mark ?? this.#marks.get(client) ?? '';
    this.#options.log.warn({ xid: outcome.xid, reason: describe(outcome.cause) }, 'A commit was not answered; asking what became of it');
    const learned = await learnOutcome(() => this.#connect(), { xid: outcome.xid, mark }, this.#options.log);
    if (learned === 'committed') return outcome.result;
    const options = { cause: outcome.cause };
    if (learned === 'aborted')
      throw new TransactionAborted('The connection was lost at COMMIT and the transaction was rolled back.', options);
    throw new CommitUnknown('The connection was lost at COMMIT and whether it took effect could not be learned.', options);
  }

  async notify(channel: string, payload: string): Promise<void> {
    await this.query('select pg_notify($1, $2)', [channel, payload]);
  }

  listen(channel: string, onNotify: (payload: string) => void): Promise<() => Promise<void>> {
    return this.#listener.listen(channel, onNotify);
  }

  isPooled(): boolean {
    return this.#isPooled;
  }

  load(): DatabaseLoad {
    return { open: this.#pool.totalCount, idle: this.#pool.idleCount, waiting: this.#pool.waitingCount };
  }

  expectedWaitMs(): number {
    return this.#holds.expectedWaitMs(this.#pool.waitingCount);
  }

  isListening(): boolean {
    return this.#listener.isListening();
  }

  async migrate(migrations: readonly Migration[]): Promise<string[]> {
    const { url, directUrl } = this.#options;
    const client = await this.#connect();
    try {
      if (directUrl !== undefined && directUrl !== url && (await isPooled(client))) throw new PoolerInTheWay('DATABASE_DIRECT_URL');
      // A lock of the session, so it must not go through a pooler. It ends with the connection, however that ends.
      await runScript(
        client,
        `set statement_timeout = 0; set lock_timeout = ${MIGRATION_LOCK_TIMEOUT_MS}; select pg_advisory_lock(${MIGRATION_LOCK})`,
      );
      return await applyMigrations(client, migrations);
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  close(): Promise<void> {
    this.#closing ??= Promise.all([this.#listener.close(), this.#pool.end()]).then(() => undefined);
    return this.#closing;
  }

  /** `planning`: of statements that are not in a transaction, which says it for itself. */
  async #lease(planning?: Planning): Promise<Lease> {
    if (this.#closing !== null) throw new DatabaseUnavailable('The database is closed.');
    let client: pg.PoolClient;
    try {
      client = await this.#pool.connect();
    } catch (error) {
      throw toPortError(error);
    }
    const session = { client, named: this.#options.preparedStatements, isBroken: () => this.#broken.has(client) };
    // Behind a pooler a setting of the session would be a stranger's as well; there is nothing kept there anyway.
    const ahead = this.#plans.get(client)?.ahead(session.named ? planning : undefined) ?? [];
    // Without waiting: a connection that is lost fails the caller's statement too, which says why. One cancelled by itself costs time alone.
    for (const command of ahead) ask(client, { text: command }).catch(() => undefined);
    return { session, client, hold: this.#holds.begin() };
  }

  #release({ session, client, hold }: Lease, spoilt: boolean): void {
    this.#holds.end(hold);
    client.release(spoilt || !isReusable(session));
  }

  /** Once for every new connection of the pool, before anybody uses it. */
  async #prepare(client: pg.ClientBase): Promise<void> {
    limitAnswers(client, this.#options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS);
    const lost = (): void => void this.#broken.add(client);
    client.on('error', lost);
    client.on('end', lost);
    const set = this.#options.preparedStatements ? settings.map((setting) => `set ${setting}; `).join('') : '';
    const rows = await runScript<{ mark: string; pid: number }>(client, `${set}select ${SERVER_MARK} as mark, ${BACKEND} as pid`);
    this.#isPooled = speaksForAnother(client, rows[0]?.pid);
    this.#plans.set(client, new SessionPlans());
    this.#marks.set(client, rows[0]?.mark ?? '');
  }

  /** A connection beside the pool and past any pooler. */
  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#options.directUrl ?? this.#options.url,
      fallback_application_name: 'tranche',
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    client.on('error', (error) => this.#options.log.warn({ reason: describe(error) }, 'Lost a connection to the database'));
    try {
      await client.connect();
    } catch (error) {
      throw toPortError(error);
    }
    return client;
  }
}
