// What keeps the queue whole besides sending: signs of life, leases whose holder is gone, counters that went wrong.
// Sends nothing. A worker that was cut off from the database itself judges nobody until it has been back for as long as it gives others.

import type { Uuid } from '../domain/ids.ts';
import type { Database } from '../store/database.ts';
import { recordResults } from '../store/delivery-results.ts';
import type { Log } from '../store/log.ts';
import {
  beat,
  databaseTime,
  findLostLeases,
  type LostLease,
  MAX_LOST_LEASES,
  recountInFlight,
  releaseLostLeases,
} from '../store/lost-leases.ts';
import { unsentResult } from './unsent.ts';

/** Every so many passes the counters are compared with what is there. */
const RECOUNT_EVERY = 5;

export interface CareOptions {
  readonly database: Database;
  readonly owner: Uuid;
  readonly leaseMs: number;
  /** Without a sign of life for so long a worker is dead. Null where there is one process only, which gives none. */
  readonly deadAfterMs: number | null;
  readonly now: () => Date;
  /** Milliseconds that only ever grow. */
  readonly uptimeMs: () => number;
  readonly random: () => number;
  readonly log: Log;
  /** Whether this worker has a delivery in hand itself. */
  readonly holds: (deliveryId: Uuid) => boolean;
  /** Called when deliveries are due again. */
  readonly onReleased: () => void;
  /** Called when others have been told that this worker lives, and did not know. */
  readonly onAlive: () => void;
  /** Told the database's time with every pass. */
  readonly onDatabaseTime: (time: Date) => void;
}

export interface Care {
  pass(): Promise<void>;
  /** Whether others know that this worker lives. What it claims otherwise is taken from it at once, and sent twice. */
  readonly isKnownAlive: boolean;
}

export function createCare(options: CareOptions): Care {
  const { database, owner, leaseMs, deadAfterMs, now, uptimeMs, random, log, holds, onReleased, onAlive, onDatabaseTime } = options;
  let inTouchSinceMs: number | null = null;
  let lastBeatMs = 0;
  let aliveUntilMs = deadAfterMs === null ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  let passes = 0;

  /** Whether this worker has been in touch with the database for long enough to judge others. */
  async function giveSignOfLife(): Promise<boolean> {
    if (deadAfterMs === null) {
      // The machine's clock may be set, and the counter stands still while the machine sleeps.
      onDatabaseTime(await databaseTime(database));
      return true;
    }
    const sentAtMs = uptimeMs();
    onDatabaseTime(await beat(database, owner));
    const wasKnown = uptimeMs() < aliveUntilMs;
    aliveUntilMs = sentAtMs + deadAfterMs;
    if (!wasKnown) onAlive();
    const isGap = sentAtMs - lastBeatMs >= deadAfterMs;
    lastBeatMs = uptimeMs();
    if (inTouchSinceMs === null || isGap) inTouchSinceMs = lastBeatMs;
    return lastBeatMs - inTouchSinceMs >= deadAfterMs;
  }

  async function freeLostLeases(): Promise<void> {
    const time = now();
    const lost = (await findLostLeases(database, { now: time, leaseMs, deadAfterMs })).filter(({ deliveryId }) => !holds(deliveryId));
    if (lost.length === 0) return;
    const isHopeless = ({ lostBefore }: LostLease): boolean => lostBefore >= MAX_LOST_LEASES;
    const said = `nothing came of ${MAX_LOST_LEASES + 1} tries: each time the process that was to send it ended, or lost the database`;
    const hopeless = lost
      .filter(isHopeless)
      .map(({ workspaceId, endpointId, deliveryId, leaseToken, tries }) =>
        unsentResult({ workspaceId, endpointId, deliveryId, leaseToken, tries }, said, time, random),
      );
    await recordResults(database, hopeless, random);
    const released = await releaseLostLeases(
      database,
      lost.filter((lease) => !isHopeless(lease)),
      time,
    );
    log.warn({ released, failed: hopeless.length }, 'webhooks of a worker that is gone are taken over');
    onReleased();
  }

  return {
    async pass() {
      passes += 1;
      let mayJudge = false;
      try {
        mayJudge = await giveSignOfLife();
      } catch (error) {
        inTouchSinceMs = null;
        throw error;
      }
      if (!mayJudge) return;
      await freeLostLeases();
      if (passes % RECOUNT_EVERY !== 0) return;
      const corrected = await recountInFlight(database);
      if (corrected > 0) log.warn({ corrected }, 'counts of webhooks under way were set right');
    },
    get isKnownAlive() {
      return uptimeMs() < aliveUntilMs;
    },
  };
}
