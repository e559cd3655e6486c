// What became of a transaction whose COMMIT was sent and never answered: asks the database by the transaction's id, on fresh connections.
// Never guesses: what cannot be learned is said to be unknown.

import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { endConnection, limitAnswers } from './conversation.ts';
import { DatabaseError } from './database.ts';
import type { Log } from './log.ts';
import { describe, runStatement, toPortError } from './statements.ts';

/** How long to ask: a database that restarts needs some seconds, and an unanswered client must not wait for ever. */
const ASK_FOR_MS = 20_000;
const ASK_EVERY_MS = 200;
/** For one answer; a network that swallows packets would otherwise have the last word. */
const ANSWER_LIMIT_MS = 5_000;

export type CommitOutcome = 'committed' | 'aborted' | 'unknown';

/** Since when the server counts: it begins anew after a crash, since recovery discards its statistics. */
const STATISTICS = `coalesce((select extract(epoch from stats_reset)::text from pg_stat_bgwriter), '')`;

/** One run of one server: its statistics, and when it was started. */
export const SERVER_MARK = `${STATISTICS} || '/' || extract(epoch from pg_postmaster_start_time())::text`;

/**
 * After a crash an id that was never flushed is given out again, and after a failover one that the new primary never heard of, so that
 * `committed` may then speak of somebody else's transaction. It is ours in the same run, and in one that followed it in good order. The
 * statistics alone would not tell: a standby that was made of the files of a stopped server has those too, but begins by replaying.
 */
const askText = `select pg_xact_status($1::xid8) as status, case when ${SERVER_MARK} = $2 then true
  when ${STATISTICS} <> split_part($2, '/', 1) then false else pg_last_wal_replay_lsn() is null end as "isOurs"`;

// The server may not have noticed yet that its client is gone. Ending the session settles the matter: if COMMIT has not arrived, it never will.
const endHolderText =
  'select pg_terminate_backend(pid) from pg_stat_activity ' +
  "where backend_xid = ($1::xid8)::xid and state = 'idle in transaction' and usename = current_user";

export interface LostCommit {
  readonly xid: string;
  /** The server's mark as it was when the lost connection was opened. */
  readonly mark: string;
}

/** Opens a connection that is ready for statements; the caller ends it. */
export type Connect = () => Promise<pg.Client>;

export async function learnOutcome(connect: Connect, lost: LostCommit, log: Log): Promise<CommitOutcome> {
  const until = performance.now() + ASK_FOR_MS;
  while (performance.now() < until) {
    let client: pg.Client | null = null;
    try {
      client = await connect();
      limitAnswers(client, ANSWER_LIMIT_MS);
      while (performance.now() < until) {
        const outcome = await ask(client, lost);
        if (outcome !== 'in progress') return outcome;
        await wait(ASK_EVERY_MS);
      }
    } catch (error) {
      const reason = toPortError(error);
      // The id is ahead of the counter: the server crashed and lost it, and with it the transaction.
      if (reason instanceof DatabaseError && reason.sqlstate === '22023') return 'aborted';
      log.warn({ xid: lost.xid, reason: describe(reason) }, 'Cannot learn yet whether a commit took effect; asking again');
      await wait(ASK_EVERY_MS);
    } finally {
      if (client !== null) await endConnection(client).catch(() => undefined);
    }
  }
  return 'unknown';
}

async function ask(client: pg.Client, lost: LostCommit): Promise<CommitOutcome | 'in progress'> {
  // A standby has not replayed all that it received: what it does not know of may yet turn out committed. Once promoted, it has.
  const [server] = await runStatement<{ recovers: boolean }>(client, false, 'select pg_is_in_recovery() as recovers', []);
  if (server?.recovers !== false) return 'in progress';
  const rows = await runStatement<{ status: string | null; isOurs: boolean }>(client, false, askText, [lost.xid, lost.mark]);
  const status = rows[0]?.status ?? null;
  const isOurs = rows[0]?.isOurs === true;
  if (status === 'aborted') return 'aborted';
  if (status === 'committed') return isOurs ? 'committed' : 'unknown';
  if (status !== 'in progress') return 'unknown';
  // If not, it is somebody else's after a crash, or still ours after the statistics were reset by hand: its own end will tell.
  if (isOurs) await runStatement(client, false, endHolderText, [lost.xid]);
  return 'in progress';
}
