// What a process clears away of the request log, of the use of keys and of logos, when their time is over. Never what an invoice shows.
// In small bites with pauses between them, so that nobody waits for it. What a stop leaves undone the next start goes on with.

import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../store/database.ts';
import { pruneKeyUsage } from '../store/key-usage.ts';
import { pruneLogos, pruneRequestLog } from '../store/log-retention.ts';
import { workspacesAfter } from '../store/retention.ts';

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const BITE = 1_000;
/** Bites of one round; what is left waits for the next round. */
const MAX_BITES = 5_000;
const BITE_PAUSE_MS = 20;
const WORKSPACE_PAGE = 500;
/** How long hours of use are kept: those that are shown, and a day more for clocks that differ. */
export const KEY_USAGE_RETENTION_MS = 2 * DAY_MS;

export interface LogRetentionOptions {
  readonly database: Database;
  readonly clock: () => Date;
  readonly retentionDays: number;
  readonly log: { warn(fields: object, message: string): void };
}

/** Deletes what is too old; returns how many entries of the request log went. */
export async function pruneLogs({ database, retentionDays }: LogRetentionOptions, now: Date, signal?: AbortSignal): Promise<number> {
  await pruneKeyUsage(database, new Date(now.getTime() - KEY_USAGE_RETENTION_MS), BITE * 10);
  const before = new Date(now.getTime() - retentionDays * DAY_MS);
  let pruned = 0;
  let bites = 0;
  let last: string | null = null;
  for (;;) {
    const page: string[] = await workspacesAfter(database, last, WORKSPACE_PAGE);
    for (const workspaceId of page) {
      await pruneLogos(database, workspaceId);
      for (let gone = BITE; gone === BITE; ) {
        if (bites >= MAX_BITES || signal?.aborted) return pruned;
        gone = await pruneRequestLog(database, workspaceId, before, BITE);
        pruned += gone;
        if (gone === 0) continue;
        bites += 1;
        await pause(BITE_PAUSE_MS);
      }
    }
    last = page.at(-1) ?? null;
    if (page.length < WORKSPACE_PAGE) return pruned;
  }
}

/** Prunes now and every hour, until the returned function is called. */
export function startLogRetention(options: LogRetentionOptions): () => Promise<void> {
  const ending = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const round = (): void => {
    running = running
      .then(() => pruneLogs(options, options.clock(), ending.signal))
      .catch((error: unknown) => options.log.warn({ err: error }, 'pruning the request log failed; it is tried again within the hour'));
  };
  const timer = setInterval(round, HOUR_MS);
  timer.unref();
  round();
  return async () => {
    clearInterval(timer);
    ending.abort();
    await running;
  };
}
