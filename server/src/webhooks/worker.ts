// The delivery worker: fans new events out, claims what is due and sends it, from its start until it is told to stop.
// Any number of workers may run on one database. It never stops by itself: an error is logged, and after a pause it goes on.

import { setTimeout as pause } from 'node:timers/promises';
import type { Uuid } from '../domain/ids.ts';
import type { Database } from '../store/database.ts';
import { claimDue } from '../store/deliveries-queue.ts';
import { createBell } from './bell.ts';
import { createDeliver, type DeliverOptions } from './deliver.ts';
import { createInFlight, type GoneEndpoint } from './in-flight.ts';
import { SEND_TIMEOUT_MS } from './safe-fetch.ts';
import { createSpread, EVENTS_CHANNEL } from './spread.ts';

/** Between two passes, so that what is committed in quick succession is handled together. */
/** What of the places endpoints share; the rest is kept for endpoints that have no attempt under way. */
const SHARED_SHARE = 0.75;
const PASS_PAUSE_MS = 10;

export interface DeliveryWorkerOptions extends DeliverOptions {
  readonly database: Database;
  /** Disables an endpoint that answered 410. */
  readonly disableEndpoint: (gone: GoneEndpoint) => Promise<void>;
  readonly newId: () => Uuid;
  /** Attempts under way at once, to all endpoints together. */
  readonly concurrency?: number;
  /** Attempts under way at once to one endpoint: what a hanging receiver can hold of the above. */
  readonly perEndpoint?: number;
  /** How long a claimed delivery is left to this worker. Longer than the sender's timeout by far, or deliveries would be made twice. */
  readonly leaseMs?: number;
  /** How often the worker looks by itself, in case a notification was missed. */
  readonly pollMs?: number;
  /** How long it rests after an error of the database. */
  readonly errorPauseMs?: number;
  /** How long `stop` waits for the attempts under way: not long, since the next process is waiting for the data directory. */
  readonly drainMs?: number;
}

export interface WorkerStatus {
  /** When the last pass ended without an error. */
  readonly lastRunAt: Date | null;
  /** The message of the error that ended the last pass, null when there was none. */
  readonly lastError: string | null;
  readonly inFlight: number;
}

export interface DeliveryWorker {
  start(): Promise<void>;
  /** Looks for work now, at all workspaces. */
  wake(): void;
  /** Claims no more, waits for the attempts under way for a bounded time and writes their results. What remains is sent again later. */
  stop(): Promise<void>;
  /** Resolves when all events are fanned out, nothing is due and nothing is under way. */
  idle(): Promise<void>;
  status(): WorkerStatus;
}

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

export function createDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { database, now, newId, log } = options;
  const { concurrency = 64, perEndpoint = 8, leaseMs = 4 * SEND_TIMEOUT_MS } = options;
  const { pollMs = 1_000, errorPauseMs = 1_000, drainMs = 3_000 } = options;
  const bell = createBell();
  const spread = createSpread({ database, newId, now });
  const inFlight = createInFlight({
    database,
    deliver: createDeliver(options),
    disableEndpoint: options.disableEndpoint,
    log,
    pauseMs: errorPauseMs,
    onRoom: () => bell.ring(),
  });
  const stopping = new AbortController();
  let waiters: Waiter[] = [];
  let lookedAtAllAt = 0;
  let lastRunAt: Date | null = null;
  let lastError: string | null = null;
  let loop: Promise<void> | null = null;
  let unlisten: (() => Promise<void>) | null = null;

  function wake(): void {
    spread.lookAtAll();
    bell.ring();
  }

  /** Claims and launches as much as there is room for. Returns how many. */
  async function claim(): Promise<number> {
    const room = concurrency - inFlight.size;
    if (room <= 0) return 0;
    const claimed = await claimDue(database, {
      limit: room,
      shared: Math.max(0, Math.ceil(concurrency * SHARED_SHARE) - inFlight.size),
      perEndpoint,
      inFlight: inFlight.byEndpoint,
      leaseMs,
      now: now(),
      newToken: newId,
    });
    inFlight.launch(claimed);
    return claimed.length;
  }

  /** Returns whether to go on at once. */
  async function pass(): Promise<boolean> {
    const waiting = waiters;
    waiters = [];
    try {
      // What is already fanned out is sent even while fanning out fails.
      const [spreading] = await Promise.allSettled([spread.pass()]);
      const claimed = await claim();
      if (spreading.status === 'rejected') throw spreading.reason;
      const isBehind = spreading.value;
      lastRunAt = now();
      lastError = null;
      if (!isBehind && claimed === 0 && inFlight.size === 0) for (const waiter of waiting.splice(0)) waiter.resolve();
      return isBehind || claimed > 0;
    } finally {
      waiters.push(...waiting);
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let isBusy = false;
      try {
        isBusy = await pass();
      } catch (error) {
        lastError = error instanceof Error ? error.message : String(error);
        log.error({ err: error }, 'webhook worker failed and goes on after a pause');
        await pause(errorPauseMs, undefined, { signal: stopping.signal }).catch(() => {});
      }
      await pause(PASS_PAUSE_MS);
      if (!isBusy) await bell.wait(pollMs);
      // By the clock and not by silence: a lost notification is made up for even while others keep arriving.
      if (now().getTime() - lookedAtAllAt >= pollMs) {
        lookedAtAllAt = now().getTime();
        spread.lookAtAll();
      }
    }
  }

  return {
    async start() {
      unlisten = await database.listen(EVENTS_CHANNEL, (payload) => {
        spread.hear(payload);
        bell.ring();
      });
      loop = run();
    },
    wake,
    async stop() {
      stopping.abort();
      bell.ring();
      await loop;
      for (const waiter of waiters.splice(0)) waiter.reject(new Error('The delivery worker was stopped.'));
      await inFlight.drain(drainMs);
      await unlisten?.();
      unlisten = null;
    },
    idle() {
      if (stopping.signal.aborted) return Promise.reject(new Error('The delivery worker was stopped.'));
      const done = new Promise<void>((resolve, reject) => waiters.push({ resolve, reject }));
      wake();
      return done;
    },
    status: () => ({ lastRunAt, lastError, inFlight: inFlight.size }),
  };
}
