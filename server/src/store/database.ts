// The port to the database: what the service asks of PostgreSQL, whichever of the two adapters stands behind it.
// Types and errors only; knows no tables. `postgres.ts` and `pglite.ts` implement it and pass one suite of tests.
//
// Values are alike on both: int8 → bigint, int4 → number, timestamptz → Date, date → 'YYYY-MM-DD', json/jsonb → parsed,
// bytea → Buffer, uuid → lower-case text. A JavaScript array is passed as a PostgreSQL array, a Date as timestamptz.

export interface Queryable {
  /** Runs one statement and returns its rows. Statements sent without awaiting the one before run in the order sent. */
  query<Row>(text: string, parameters?: readonly unknown[]): Promise<Row[]>;
}

export interface Transaction extends Queryable {
  /** What the rows that it writes carry as `xmin`. */
  readonly id: Promise<string>;
}

export interface Database extends Queryable {
  readonly kind: 'postgres' | 'pglite';

  /**
   * For single statements that are written for one index and quick whatever the values and the size of the tables: those that come up together
   * may travel on one connection, one behind the other, and each keeps its plan. Never inside a transaction.
   */
  readonly shared: Queryable;

  /**
   * Runs `work` in one READ COMMITTED transaction and commits it. When `work` throws, everything is rolled back and the error passed on.
   * When the connection dies at COMMIT, the adapter finds out by the transaction's id whether it committed: then it returns as if nothing
   * had happened, or throws `TransactionAborted` (safe to run again) or `CommitUnknown` (neither could be learned).
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;

  /** Tells every process that listens, this one included. Never inside a transaction: there it would take a database-wide lock. */
  notify(channel: string, payload: string): Promise<void>;

  /** Calls `onNotify` for each notification until the returned function is called. Survives reconnects; what was missed meanwhile is not repeated. */
  listen(channel: string, onNotify: (payload: string) => void): Promise<() => Promise<void>>;

  /** How busy the connections are at this moment. */
  load(): DatabaseLoad;

  /** About how long one more statement would wait for a connection; 0 while few or none wait. Costs next to nothing. */
  expectedWaitMs(): number;

  /** Whether notifications are arriving right now. While false, caches that rely on them must not be trusted. */
  isListening(): boolean;

  /** Brings the schema up to date, under an advisory lock; returns the names of the migrations it applied. */
  migrate(migrations: readonly Migration[]): Promise<string[]>;

  close(): Promise<void>;
}

export interface DatabaseLoad {
  readonly open: number;
  /** Of the open ones. */
  readonly idle: number;
  /** Statements and transactions that wait for a connection. */
  readonly waiting: number;
}

export interface Migration {
  /** `0001_initial`: applied in the order of the names, each once and in a transaction of its own. */
  readonly name: string;
  readonly sql: string;
}

/** A statement failed. `sqlstate` is PostgreSQL's five-character code. */
export class DatabaseError extends Error {
  readonly sqlstate: string;
  constructor(message: string, sqlstate: string, options?: ErrorOptions) {
    super(message, options);
    this.sqlstate = sqlstate;
  }
  /** Class 22 or 23: the data of some command is at fault, so that running the others without it will succeed. */
  get isData(): boolean {
    return this.sqlstate.startsWith('22') || this.sqlstate.startsWith('23');
  }
  /** Class 40: a deadlock or serialization failure; the same work may succeed when run again. */
  get isRetryable(): boolean {
    return this.sqlstate.startsWith('40');
  }
}

/** The database could not be reached, or went away before COMMIT was sent: nothing was changed. */
export class DatabaseUnavailable extends Error {}

/** The connection died at COMMIT and the transaction is known to have been rolled back. */
export class TransactionAborted extends Error {}

/** The connection died at COMMIT and whether it took effect could not be learned. */
export class CommitUnknown extends Error {}
