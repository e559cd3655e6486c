// What a process clears away when its time is over: stored answers of idempotency keys, deliveries and their attempts. Never events.
// In small bites with pauses between them, so that nobody waits for it. What a stop leaves undone the next start goes on with.

import { setTimeout as pause } from 'node:timers/promises';
import type { Uuid } from '../domain/ids.ts';
import type { Database } from '../store/database.ts';
import { pruneIdempotencyRecords } from '../store/idempotency.ts';
import {
  type Bite,
  type Bitten,
  type Position,
  pruneAttempts,
  pruneDeliveries,
  pruneRepairs,
  workspacesAfter,
} from '../store/retention.ts';
import { startHourly } from './hourly.ts';

const DAY_MS = 24 * 60 * 60_000;
export const IDEMPOTENCY_RETENTION_MS = 30 * DAY_MS;
const BITE = 500;
/** Deliveries of one bite: each goes with up to a dozen attempts of up to 16 KiB. */
export const DELIVERY_BITE = 200;
/** Rows that one bite looks at to find them. */
const DELIVERY_LOOK = 2_000;
/** Bites of one round for each kind; what is left waits for the next round. */
const MAX_BITES = 2_000;
const MAX_DELIVERY_BITES = 20_000;
const BITE_PAUSE_MS = 20;
const WORKSPACE_PAGE = 500;

export type PruneKind = 'deliveries' | 'attempts' | 'idempotency_keys';

/** How long deliveries and attempts are kept; null: for ever. */
export interface Retention {
  readonly deliveriesMs: number | null;
  readonly attemptsMs: number | null;
}

export const KEEP_FOR_EVER: Retention = { deliveriesMs: null, attemptsMs: null };

/** From days as they are configured; 0 keeps for ever. Attempts are never kept for longer than their delivery. */
export function retentionOf(deliveryDays: number, attemptDays: number | undefined): Retention {
  const deliveriesMs = deliveryDays === 0 ? null : deliveryDays * DAY_MS;
  const attemptsMs = attemptDays === undefined || attemptDays === 0 ? null : attemptDays * DAY_MS;
  return { deliveriesMs, attemptsMs: attemptsMs !== null && attemptsMs >= (deliveriesMs ?? Number.POSITIVE_INFINITY) ? null : attemptsMs };
}

interface Log {
  warn(fields: object, message: string): void;
}

export interface MaintenanceOptions {
  readonly database: Database;
  readonly clock: () => Date;
  readonly log: Log;
  readonly retention: Retention;
  readonly onPruned?: (kind: PruneKind, rows: number) => void;
}

/** Deletes what is too old, bite by bite; returns how many stored answers went. */
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

type PruneBite = (database: Database, bite: Bite) => Promise<Bitten>;

/** Walks through every workspace once, as far as the bound on bites allows, and tells of each bite. */
async function walk(
  database: Database,
  before: Date,
  prune: PruneBite,
  onBitten: (bitten: Bitten) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  let bites = 0;
  let last: Position = null;
  for (;;) {
    const page: Uuid[] = await workspacesAfter(database, last, WORKSPACE_PAGE);
    for (const workspaceId of page) {
      let after: Position = null;
      do {
        if (bites >= MAX_DELIVERY_BITES || signal?.aborted) return;
        const bitten: Bitten = await prune(database, { workspaceId, after, before, look: DELIVERY_LOOK, limit: DELIVERY_BITE });
        onBitten(bitten);
        after = bitten.next;
        // Only what writes counts and is followed by a pause: a workspace with nothing to prune costs one look at an index.
        if (bitten.deliveries + bitten.attempts === 0) continue;
        bites += 1;
        await pause(BITE_PAUSE_MS);
      } while (after !== null);
    }
    last = page.at(-1) ?? null;
    if (page.length < WORKSPACE_PAGE) return;
  }
}

/** Deletes deliveries and attempts whose retention has ended; returns how many of each went. */
export async function pruneDelivered(
  { database, retention, onPruned }: Pick<MaintenanceOptions, 'database' | 'retention' | 'onPruned'>,
  now: Date,
  signal?: AbortSignal,
): Promise<{ deliveries: number; attempts: number }> {
  const pruned = { deliveries: 0, attempts: 0 };
  const count = ({ deliveries, attempts }: Bitten): void => {
    pruned.deliveries += deliveries;
    pruned.attempts += attempts;
    if (deliveries > 0) onPruned?.('deliveries', deliveries);
    if (attempts > 0) onPruned?.('attempts', attempts);
  };
  const { deliveriesMs, attemptsMs } = retention;
  if (deliveriesMs !== null) await walk(database, new Date(now.getTime() - deliveriesMs), pruneDeliveries, count, signal);
  // A repair is of use no longer than the deliveries that it changed.
  if (deliveriesMs !== null) await walk(database, new Date(now.getTime() - deliveriesMs), pruneRepairs, count, signal);
  if (attemptsMs !== null) await walk(database, new Date(now.getTime() - attemptsMs), pruneAttempts, count, signal);
  return pruned;
}

/** Prunes now and every hour, until the returned function is called. */
export function startMaintenance({ database, clock, log, retention, onPruned }: MaintenanceOptions): () => Promise<void> {
  return startHourly(
    async (signal) => {
      const answers = await pruneOnce(database, clock(), signal);
      if (answers > 0) onPruned?.('idempotency_keys', answers);
      await pruneDelivered({ database, retention, ...(onPruned === undefined ? {} : { onPruned }) }, clock(), signal);
    },
    (error) => log.warn({ err: error }, 'pruning failed; it is tried again within the hour'),
  );
}
