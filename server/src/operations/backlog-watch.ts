// Looks at the backlog of webhooks now and then, keeps what it saw, and warns when webhooks are late.
// Delivers nothing and decides nothing about traffic: a late receiver is no reason to stop serving the API.

import type { Uuid } from '../domain/ids.ts';
import { encodeId } from '../domain/ids.ts';
import type { Database } from '../store/database.ts';
import { type DeliveryBacklog, readBacklog } from '../store/delivery-backlog.ts';
import type { Log } from '../store/log.ts';

const LOOK_EVERY_MS = 5_000;
/** Whoever asks in between gets what was seen; a collector and a load balancer together cost one look. */
const FRESH_MS = 4_000;
const WARN_EVERY_MS = 60_000;

export interface BacklogWatchOptions {
  readonly database: Database;
  /** The time by which deliveries are due: the database's, whatever this machine's clock says. */
  readonly now: () => Promise<Date>;
  /** Milliseconds that only ever grow. */
  readonly uptimeMs: () => number;
  readonly log: Log;
  /** From this age of the oldest due delivery on, webhooks are late. */
  readonly lateAfterMs: number;
  readonly lookEveryMs?: number;
}

export interface BacklogSeen extends Omit<DeliveryBacklog, 'workers'> {
  /** Null on the embedded database, whose one process gives no sign of life. */
  readonly workers: number | null;
  /** Of the oldest due delivery, or of the oldest event that no delivery has been made of yet; 0 when there are none. */
  readonly oldestAgeMs: number;
}

export interface BacklogWatch {
  start(): void;
  stop(): Promise<void>;
  /** Looks once and warns where it must; `start` has it done again and again. */
  round(): Promise<void>;
  /** What is waiting, a few seconds old at most. */
  look(): Promise<BacklogSeen>;
  /** In words, when webhooks are late; null when they are not, or when nobody has looked yet. Asks no database. */
  trouble(): string | null;
}

export function createBacklogWatch(options: BacklogWatchOptions): BacklogWatch {
  const { database, now, uptimeMs, log, lateAfterMs, lookEveryMs = LOOK_EVERY_MS } = options;
  let seen: BacklogSeen | null = null;
  let seenAtMs = 0;
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  let looking: Promise<BacklogSeen> | null = null;
  let timer: NodeJS.Timeout | null = null;

  async function read(): Promise<BacklogSeen> {
    const time = await now();
    const backlog = await readBacklog(database, time, new Date(time.getTime() - lateAfterMs));
    const ageMs = (since: Date | null): number => (since === null ? 0 : Math.max(0, time.getTime() - since.getTime()));
    const oldestAgeMs = Math.max(ageMs(backlog.oldestDueAt), ageMs(backlog.oldestUnspreadAt));
    seen = { ...backlog, oldestAgeMs, workers: database.kind === 'pglite' ? null : backlog.workers };
    seenAtMs = uptimeMs();
    return seen;
  }

  function look(): Promise<BacklogSeen> {
    if (seen !== null && uptimeMs() - seenAtMs < FRESH_MS) return Promise.resolve(seen);
    looking ??= read().finally(() => {
      looking = null;
    });
    return looking;
  }

  function trouble(): string | null {
    if (seen === null || seen.oldestAgeMs < lateAfterMs) return null;
    const places = `${seen.lateEndpoints} of ${seen.dueEndpoints} endpoints with some due are late, ${seen.unspread} events wait for fan-out`;
    const cause = seen.workers === 0 ? '; no worker is running' : '';
    return `the webhook that has been due for longest has waited ${Math.round(seen.oldestAgeMs / 1000)} s; ${places}${cause}`;
  }

  async function round(): Promise<void> {
    try {
      const { oldestEndpointId, pending, isEstimate } = await look();
      const words = trouble();
      const time = uptimeMs();
      if (words === null || time - warnedAtMs < WARN_EVERY_MS) return;
      warnedAtMs = time;
      log.warn({ pending, isEstimate, oldestEndpoint: endpointName(oldestEndpointId) }, `webhooks are late: ${words}`);
    } catch (error) {
      log.warn({ err: error }, 'the backlog of webhooks could not be looked at; it is tried again');
    }
  }

  return {
    start() {
      timer = setInterval(() => void round(), lookEveryMs);
      timer.unref();
      void round();
    },
    async stop() {
      if (timer !== null) clearInterval(timer);
      await looking?.catch(() => undefined);
    },
    round,
    look,
    trouble,
  };
}

const endpointName = (id: Uuid | null): string | null => (id === null ? null : encodeId('webhook_endpoint', id));
