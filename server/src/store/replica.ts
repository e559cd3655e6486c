// A standby of the database, for reads that may be a little behind: whether it is there and how far behind it is, looked at aside.
// Never writes. Says only whether it may be asked; who asks it, and what happens when it may not, is decided elsewhere.

import { setTimeout as wait } from 'node:timers/promises';
import { type Database, DatabaseError, DatabaseUnavailable, type Queryable } from './database.ts';
import type { Log } from './log.ts';
import { createPostgres } from './postgres.ts';
import { describe } from './statements.ts';

const LOOK_EVERY_MS = 500;
/** A standby that does not answer is as good as gone; whoever waits for it is better served by the primary. */
export const REPLICA_TIMEOUT_MS = 2_000;
/** A standby that is well is known to be after the second look; what is still wrong after so many is said. */
const FIRST_LOOKS = 4;
/** How far back the primary's positions are remembered; a lag beyond what they cover is only known to be longer. */
const MAX_POSITIONS = 256;

export interface ReplicaOptions {
  readonly url: string;
  readonly preparedStatements: boolean;
  readonly poolSize: number;
  /** Beyond this it is not asked. */
  readonly maxLagMs: number;
  /** Asked for where it stands, so that the standby's position means something. */
  readonly primary: Queryable;
  readonly log: Log;
}

export interface Replica {
  readonly database: Pick<Database, 'query' | 'shared'>;
  /** Whether it was well and fresh enough when last looked at. */
  isUsable(): boolean;
  /** The work, while it does not take too long. A failure to reach the standby makes it unusable until it has been seen well again. */
  ask<T>(work: () => Promise<T>): Promise<T>;
  /** At most so far behind, as of the last look; null when that is not known. */
  lagMs(): number | null;
  /** Why it is not used; null when it is. */
  trouble(): string | null;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Where the primary stood at a time: what it had committed until then is at or before this position of its log. */
interface Position {
  readonly atMs: number;
  readonly lsn: bigint;
}

export function openReplica({ url, preparedStatements, poolSize, maxLagMs, primary, log }: ReplicaOptions): Replica {
  const database: Database = createPostgres({ url, preparedStatements, poolSize, log });
  const positions: Position[] = [];
  let freshAsOfMs: number | null = null;
  let trouble: string | null = 'it has not been looked at yet';
  let looks = 0;
  let isTold = false;
  let timer: NodeJS.Timeout | null = null;
  let looking: Promise<void> = Promise.resolve();

  function lagMs(): number | null {
    return freshAsOfMs === null ? null : performance.now() - freshAsOfMs;
  }

  /** Told once each time it changes, since the look is repeated for ever. */
  function conclude(found: string | null): void {
    if (found !== null && !isTold && (trouble === null || looks >= FIRST_LOOKS)) {
      log.warn({ reason: found }, 'the replica is not used: eventual reads are served by the primary');
      isTold = true;
    }
    if (found === null && trouble !== null) {
      log.info({ lagMs: Math.round(lagMs() ?? 0) }, 'the replica serves eventual reads');
      isTold = false;
    }
    trouble = found;
  }

  /**
   * What the standby has replayed is compared with where the primary stood, which needs neither their clocks nor traffic: a standby whose
   * connection was lost replays all it has, and is still seen to fall behind.
   */
  async function look(): Promise<void> {
    looks += 1;
    try {
      const atMs = performance.now();
      const lsn = await positionOf(primary, 'pg_current_wal_lsn()');
      if (lsn !== null) positions.push({ atMs, lsn });
      if (positions.length > MAX_POSITIONS) positions.shift();
      const replayed = await inTime(positionOf(database, 'pg_last_wal_replay_lsn()'));
      if (replayed === null) return conclude('DATABASE_REPLICA_URL leads to no standby');
      // Each time before it is used: by then the address may lead to another one.
      if (trouble !== null && !(await isOfPrimary()))
        return conclude('DATABASE_REPLICA_URL leads to no standby of the database of DATABASE_URL');
      const reached = positions.findLastIndex((position) => position.lsn <= replayed);
      if (reached !== -1) freshAsOfMs = (positions[reached] as Position).atMs;
      const lag = lagMs();
      conclude(lag !== null && lag <= maxLagMs ? null : `it is ${lag === null ? 'further' : `${Math.round(lag)} ms`} behind`);
    } catch (error) {
      conclude(describe(error));
    }
  }

  /** Positions of another server's log can be compared as well, and mean nothing; another database of the same server has none of our rows. */
  async function isOfPrimary(): Promise<boolean> {
    const [ours, theirs] = await Promise.all([identityOf(primary), inTime(identityOf(database))]);
    return ours === null || theirs === null || ours === theirs;
  }

  async function keepLooking(): Promise<void> {
    await look();
    timer = setTimeout(() => {
      looking = keepLooking();
    }, LOOK_EVERY_MS).unref();
  }

  return {
    database,
    // Between two looks it may have fallen behind as well: the age of what is known counts as lag.
    isUsable: () => trouble === null && (lagMs() as number) <= maxLagMs,
    async ask(work) {
      try {
        return await inTime(work());
      } catch (error) {
        if (error instanceof DatabaseUnavailable) conclude(describe(error));
        throw error;
      }
    },
    lagMs,
    trouble: () => trouble,
    start() {
      looking = keepLooking();
      return looking;
    },
    async close() {
      if (timer !== null) clearTimeout(timer);
      await looking;
      if (timer !== null) clearTimeout(timer);
      await database.close();
    },
  };
}

/** For a look without a use: twice, since a standby that has all but the last moment is only seen to have reached the position before. */
export async function lookAtReplica(options: ReplicaOptions): Promise<{ readonly trouble: string | null }> {
  const replica = openReplica(options);
  try {
    await replica.start();
    if (replica.trouble() !== null) await wait(2 * LOOK_EVERY_MS);
    return { trouble: replica.trouble() };
  } finally {
    await replica.close();
  }
}

async function positionOf(database: Queryable, lsn: string): Promise<bigint | null> {
  const rows = await database.query<{ position: bigint | null }>(
    `select case when pg_is_in_recovery() = ($1 = 'standby') then pg_wal_lsn_diff(${lsn}, '0/0')::int8 end as position`,
    [lsn.startsWith('pg_last') ? 'standby' : 'primary'],
  );
  return rows[0]?.position ?? null;
}

/** By the index over the names of databases. */
const identityText =
  `select (select system_identifier::text from pg_control_system()) || '/' || oid as identity from pg_database ` +
  'where datname = current_database()';

/** Of the database, the same on a server and all its standbys; null where this user may not ask. */
async function identityOf(database: Queryable): Promise<string | null> {
  try {
    return (await database.query<{ identity: string }>(identityText))[0]?.identity ?? null;
  } catch (error) {
    if (error instanceof DatabaseError) return null;
    throw error;
  }
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = wait(REPLICA_TIMEOUT_MS, null, { signal: over.signal, ref: false }).then(() => {
    throw new DatabaseUnavailable(`The replica did not answer within ${REPLICA_TIMEOUT_MS} ms.`);
  });
  // When the work was faster, this ends by being told so.
  late.catch(() => undefined);
  return Promise.race([work, late]).finally(() => over.abort());
}
