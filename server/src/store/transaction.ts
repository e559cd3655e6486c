// One transaction on one connection, from BEGIN to COMMIT, pipelined: BEGIN travels with the first statement of the work.
// Opens no connection and never asks what became of a lost COMMIT; it says that it was lost, and the adapter finds out.

import { setImmediate } from 'node:timers/promises';
import type pg from 'pg';
import { ask, isAtRest } from './conversation.ts';
import { DatabaseUnavailable, type Transaction, TransactionAborted } from './database.ts';
import { runScript, runStatement, toPortError } from './statements.ts';

/** A connection that one caller at a time may use. */
export interface Session {
  readonly client: pg.ClientBase;
  /** Whether statements are prepared under names. */
  readonly named: boolean;
  /** Whether the socket is known to be dead. */
  isBroken(): boolean;
}

export type Outcome<T> =
  | { readonly committed: true; readonly result: T }
  /** COMMIT was sent and the connection died before the answer. */
  | ({ readonly committed: 'unknown'; readonly result: T; readonly cause: Error } & Begun);

export const BEGIN = 'begin isolation level read committed';
export const SELECT_ID = 'select pg_current_xact_id()::text as xid';

/** Of a transaction's id, which counts on for ever, a row keeps the lower part. */
const XMIN_BITS = 32;

/** What BEGIN told, to ask by. */
export interface Begun {
  readonly xid: string;
  /** The server's mark, where `beginText` selects it too: behind a pooler the server may be another one at each transaction. */
  readonly mark?: string;
}

/** What `work` is handed: it refuses to be used after the end, when its statements would run outside the transaction. */
class Scope implements Transaction {
  readonly #session: Session;
  #over = false;
  /** The failure that aborted the transaction; the statements after it only fail because of it. */
  failure: Error | null = null;
  readonly begun: Promise<Begun>;

  /** Sends `beginText`, which selects the transaction's id. */
  constructor(session: Session, beginText: string) {
    this.#session = session;
    this.begun = runScript<Begun>(session.client, beginText).then((rows) => rows[0] ?? { xid: '' });
    // Awaited only after the work; until then nobody else handles its failure.
    this.begun.catch((error: Error) => {
      this.failure ??= error;
      this.#over = true;
    });
  }

  get id(): Promise<string> {
    return this.begun.then(({ xid }) => String(BigInt.asUintN(XMIN_BITS, BigInt(xid))));
  }

  query<Row>(text: string, parameters?: readonly unknown[]): Promise<Row[]> {
    if (this.#over)
      return Promise.reject(this.failure ?? new Error('The transaction is over: a statement came after its work had returned.'));
    const rows = runStatement<Row>(this.#session.client, this.#session.named, text, parameters);
    // Remembered for the case that the work does not await this statement or swallows its failure.
    rows.catch((error: Error) => {
      this.failure ??= error;
    });
    return rows;
  }

  close(): void {
    this.#over = true;
  }
}

/**
 * Runs `work` between `beginText` and COMMIT; rolls back and passes the error on when it throws. A statement that `work` sent without
 * awaiting it still belongs to the transaction: its failure fails the whole.
 *
 * BEGIN is not awaited, to save a round trip. Were it to fail on a connection that lives on, which takes somebody cancelling that very
 * statement by hand, then what `work` sends before the answer arrives would not be rolled back; from then on the scope refuses.
 */
export async function runTransaction<T>(
  session: Session,
  beginText: string,
  work: (transaction: Transaction) => Promise<T>,
): Promise<Outcome<T>> {
  const scope = new Scope(session, beginText);
  const { begun } = scope;
  let result: T;
  let told: Begun;
  try {
    result = await work(scope);
    // Without the id a lost COMMIT could never be cleared up.
    told = await begun;
  } catch (error) {
    scope.close();
    await rollBack(session);
    await begun;
    throw error;
  }
  scope.close();
  if (session.isBroken()) throw new DatabaseUnavailable('The connection to the database was lost before COMMIT was sent.');
  return commit(session, scope, result, told);
}

async function commit<T>(session: Session, scope: Scope, result: T, begun: Begun): Promise<Outcome<T>> {
  let command: string;
  try {
    ({ command } = await ask(session.client, { text: 'commit' }));
  } catch (error) {
    const cause = toPortError(error);
    if (cause instanceof DatabaseUnavailable) return { committed: 'unknown', result, cause, ...begun };
    // The server answered, so it lives and has rolled back: a deferred constraint, or a serialization failure.
    throw cause;
  }
  if (command === 'COMMIT') return { committed: true, result };
  // COMMIT of a failed transaction is answered as a success of ROLLBACK. The failure came before this answer, but perhaps with the same
  // packet: then the promise that carries it needs the rest of this turn of the event loop.
  await setImmediate();
  throw scope.failure ?? new TransactionAborted(`COMMIT was answered with ${command}.`);
}

/**
 * One statement in a transaction of its own, all in one packet: behind a pooler, where what a session is set to is somebody else's or lost.
 * `beginText` sets what the statement needs, for this transaction alone.
 */
export async function runAlone<Row>(
  { client }: Session,
  beginText: string,
  text: string,
  parameters: readonly unknown[] | undefined,
): Promise<Row[]> {
  const begun = runScript(client, beginText);
  const rows = runStatement<Row>(client, false, text, parameters);
  const ended = runScript(client, 'commit');
  // All three, or the connection would be given back while an answer is still to come. The first failure is the cause of those after it.
  for (const outcome of await Promise.allSettled([begun, rows, ended])) if (outcome.status === 'rejected') throw outcome.reason;
  return rows;
}

async function rollBack(session: Session): Promise<void> {
  if (session.isBroken()) return;
  // A failure leaves the connection in a transaction, and so it will be closed, which rolls back as well.
  await ask(session.client, { text: 'rollback' }).catch(() => undefined);
}

/** Whether the connection can serve the next caller: alive, with everything answered, and outside any transaction. */
export function isReusable(session: Session): boolean {
  return !session.isBroken() && isAtRest(session.client);
}
