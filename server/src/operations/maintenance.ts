// What a serving process clears away: idempotency keys past their 30 days. In small bites, so that nobody waits for it.

import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../store/database.ts';
import { pruneIdempotencyRecords } from '../store/idempotency.ts';

export const IDEMPOTENCY_RETENTION_MS = 30 * 24 * 60 * 60_000;
const INTERVAL_MS = 60 * 60_000;
const BITE = 500;
/** Bites of one round; what is left waits for the next. */
const MAX_BITES = 2_000;
const BITE_PAUSE_MS = 20;

interface Log {
  warn(fields: object, message: string): void;
}

/** Deletes what is too old, bite by bite; returns how many rows went. */
export async function pruneOnce(database: Database, now: Date, signal?: AbortSignal): Promise<number> {
  let pruned = 0;
  for (let bite = 0; bite < MAX_BITES && !signal?.aborted; bite++) {
    const gone = await pruneIdempotencyRecords(database, new Date(now.getTime() - IDEMPOTENCY_RETENTION_MS), BITE);
    pruned += gone;
    if (gone < BITE) break;
    await pause(BITE_PAUSE_MS);
  }
  return pruned;
}

/** Prunes now and every hour, until the returned function is called. */
export function startMaintenance(database: Database, clock: () => Date, log: Log): () => Promise<void> {
  const ending = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const round = (): void => {
    running = running
      .then(() => pruneOnce(database, clock(), ending.signal))
      .catch((error: unknown) => log.warn({ err: error }, 'pruning failed; it is tried again within the hour'));
  };
  const timer = setInterval(round, INTERVAL_MS);
  timer.unref();
  round();
  return async () => {
    clearInterval(timer);
    ending.abort();
    await running;
  };
}
