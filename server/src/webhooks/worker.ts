// The delivery worker: fans new events out, claims what is due and sends it, from its start until it is told to stop.
// Any number of workers may run on one database. It never stops by itself: an error is logged, and after a pause it goes on.

import type { Uuid } from '../domain/ids.ts';
import type { Database } from '../store/database.ts';
import { retireWorker } from '../store/lost-leases.ts';
import { createCare } from './care.ts';
import { createClaims } from './claims.ts';
import { createDeliver, type DeliverOptions } from './deliver.ts';
import { createInFlight, type GoneEndpoint } from './in-flight.ts';
import { createLoop, type Loop, type Rest } from './loop.ts';
import { SEND_TIMEOUT_MS } from './safe-fetch.ts';
import { createSpread, DUE_CHANNEL, EVENTS_CHANNEL } from './spread.ts';

/** Between two passes, so that what is committed or becomes free in quick succession is handled together. */
const SPREAD_PAUSE_MS = 10;
const CLAIM_PAUSE_MS = 4;
/** Enough to write the result of an attempt that took all its time. */
const LEASE_MARGIN_MS = 5_000;

export interface DeliveryWorkerOptions extends DeliverOptions {
  readonly database: Database;
  /** Disables an endpoint that answered 410, or that has failed for days. */
  readonly disableEndpoint: (gone: GoneEndpoint) => Promise<void>;
  readonly newId: () => Uuid;
  /** Attempts under way at once, to all endpoints together; those that turn out slow do not count for long. */
  readonly concurrency?: number;
  /** How long a claimed delivery is left to this worker. Longer than the sender's timeout, or deliveries would be made twice. */
  readonly leaseMs?: number;
  /** How often the worker looks by itself, in case a notification was missed. */
  readonly pollMs?: number;
  /** How long it rests after an error of the database; longer after each further one. */
  readonly errorPauseMs?: number;
  /** How long `stop` waits for the attempts under way: not long, since the next process is waiting for the data directory. */
  readonly drainMs?: number;
  /** How often it gives a sign of life, and looks for workers that give none. */
  readonly careMs?: number;
  /** A worker that has given no sign of life for so long is dead, and what it had claimed is sent by others. */
  readonly deadAfterMs?: number;
  /** Milliseconds that only ever grow. */
  readonly uptimeMs?: () => number;
  /** Told the database's time with every sign of life. */
  readonly onDatabaseTime?: (time: Date) => void;
}

export interface WorkerStatus {
  /** When the last pass ended without an error, of the part that has been quiet for longest; by `uptimeMs`, which no clock can move. */
  readonly lastRunMs: number | null;
  /** When the last pass ended, with an error or without, of the part that has been quiet for longest. */
  readonly lastPassMs: number | null;
  /** The message of the error that ended the last pass, null when there was none. */
  readonly lastError: string | null;
  readonly inFlight: number;
}

export interface DeliveryWorker {
  start(): Promise<void>;
  /** Looks for work now, at all workspaces. */
  wake(): void;
  /** Claims no more, waits for the attempts under way for a bounded time and writes their results. What remains is sent again at once. */
  stop(): Promise<void>;
  /** Resolves when all events are fanned out, nothing is due and nothing is under way. */
  idle(): Promise<void>;
  status(): WorkerStatus;
}

export function createDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { database, now, newId, random, log, disableEndpoint } = options;
  const { concurrency = 64, leaseMs = SEND_TIMEOUT_MS + LEASE_MARGIN_MS, pollMs = 1_000, errorPauseMs = 1_000, drainMs = 3_000 } = options;
  const { careMs = 2_000, deadAfterMs = 8_000, uptimeMs = () => performance.now(), onDatabaseTime = () => {} } = options;
  const owner = newId();
  const stopping = new AbortController();
  const spread = createSpread({ database, newId, now });
  const deliver = createDeliver(options);
  const onRoom = (): void => claiming.ring();
  const inFlight = createInFlight({ database, deliver, disableEndpoint, now, random, log, pauseMs: errorPauseMs, onRoom });
  const loop = (name: string, pass: () => Promise<boolean | Rest>, pauseMs: number, restMs: number, isQuiet = () => true): Loop =>
    createLoop({ name, pass, isQuiet, pauseMs, pollMs: restMs, errorPauseMs, uptimeMs, log, signal: stopping.signal });

  let lookedAtAllAt = uptimeMs();
  const spreading = loop('fan-out', spreadOnce, SPREAD_PAUSE_MS, pollMs);
  const care = createCare({
    ...{ database, owner, leaseMs, now, uptimeMs, random, log, onDatabaseTime },
    // The embedded database has one process, so nobody needs a sign of its life.
    deadAfterMs: database.kind === 'pglite' ? null : deadAfterMs,
    holds: inFlight.holds,
    onReleased: onRoom,
    onAlive: onRoom,
  });
  const caring = loop('care', () => care.pass().then(() => false), 0, careMs);
  const claims = createClaims({
    ...{ database, inFlight, concurrency, leaseMs, owner, now, newId, log },
    leaseMarginMs: Math.min(LEASE_MARGIN_MS, leaseMs / 4),
    signal: stopping.signal,
  });
  const claimWhileAlive: typeof claims = async () => care.isKnownAlive && claims();
  const claiming = loop('claim', claimWhileAlive, CLAIM_PAUSE_MS, pollMs, () => inFlight.size === 0 && care.isKnownAlive);
  let running: Promise<unknown> | null = null;
  const unlisten: (() => Promise<void>)[] = [];

  async function spreadOnce(): Promise<boolean> {
    // By the clock and not by silence: a lost notification is made up for even while others keep arriving.
    if (uptimeMs() - lookedAtAllAt >= pollMs) {
      lookedAtAllAt = uptimeMs();
      spread.lookAtAll();
    }
    const { isBehind, deliveries } = await spread.pass();
    if (deliveries > 0) claiming.ring();
    return isBehind;
  }

  function wake(): void {
    spread.lookAtAll();
    spreading.ring();
    claiming.ring();
  }

  return {
    async start() {
      unlisten.push(
        await database.listen(EVENTS_CHANNEL, (payload) => {
          spread.hear(payload);
          spreading.ring();
        }),
        await database.listen(DUE_CHANNEL, () => claiming.ring()),
      );
      running = Promise.all([spreading.run(), claiming.run(), caring.run()]);
    },
    wake,
    async stop() {
      stopping.abort();
      for (const each of [spreading, claiming, caring]) each.ring();
      await running;
      await inFlight.drain(drainMs);
      for (const end of unlisten.splice(0)) await end();
      if (running === null) return;
      await retireWorker(database, owner, now()).catch((error: unknown) => {
        log.warn({ err: error }, 'webhooks under way could not be handed over; they are taken over later');
      });
    },
    async idle() {
      for (;;) {
        spread.lookAtAll();
        await spreading.settled();
        await claiming.settled();
        if (inFlight.size === 0) return;
      }
    },
    status: () => ({
      lastRunMs: earlier(earlier(spreading.lastRunMs, claiming.lastRunMs), caring.lastRunMs),
      lastPassMs: earlier(earlier(spreading.lastPassMs, claiming.lastPassMs), caring.lastPassMs),
      lastError: claiming.lastError ?? spreading.lastError ?? caring.lastError,
      inFlight: inFlight.size,
    }),
  };
}

const earlier = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a < b ? a : b);
