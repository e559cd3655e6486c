// Who is let in when more is asked than can be done: decided before anything is spent on a request, by how long it would have to wait.
// Looks at three queues (the lane's, the database's and the event loop's) and knows nothing of routes, keys or answers.

import { Patience } from '../commands/patience.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Log } from '../store/log.ts';

export interface LoadSignals {
  /** About how long one more statement would wait for a connection. */
  readonly databaseWaitMs: () => number;
  /** Whether one more write of this workspace would wait too long for its batch. */
  readonly isLaneBusyFor: (workspaceId: Uuid) => boolean;
  /** A request that would wait longer than this is refused. */
  readonly maxWaitMs: number;
  /** Milliseconds that only ever grow. */
  readonly uptimeMs: () => number;
  readonly log: Log;
}

/** What a request would have waited for. */
export const shedReasons = ['lane', 'database', 'event_loop'] as const;
export type ShedReason = (typeof shedReasons)[number];

/** A workspace with requests under way. */
export interface Tally {
  readonly workspaceId: Uuid;
  underWay: number;
}

export interface LoadGate {
  /** Whether this request must not be served now; counted when so. */
  refuses(workspaceId: Uuid, isWrite: boolean): boolean;
  /** The same before anybody knows whose request it is, since even the look-up of its key would have to wait. */
  refusesStranger(): boolean;
  /** A request has been let in and its work begins; `ended` takes what this returns. */
  began(workspaceId: Uuid): Tally;
  ended(tally: Tally): void;
  readonly refused: Readonly<Record<ShedReason, number>>;
  start(): void;
  stop(): void;
}

/** A tick that comes late shows how long the event loop took for one round. */
const TICK_MS = 20;
/** Rounds that are looked at together: only when the best of them was too long is the loop behind, and not just held up once. */
const WINDOW_TICKS = 5;
/** However long the rounds: so many requests are let in at once, or nothing could be learned of how it goes. */
const LEAST_UNDER_WAY = 32;
/** A round that takes twice the time lets in half; one that is just over lets in a little less, and the other way round as much more. */
const STRONGEST_CUT = 0.5;
const WEAKEST_CUT = 0.95;
const GROWTH = 1.1;
/** A line so many times too long is no burst that passes by itself. */
const BEYOND_PATIENCE = 10;
const LOG_EVERY_MS = 10_000;

export function createLoadGate({ databaseWaitMs, isLaneBusyFor, maxWaitMs, uptimeMs, log }: LoadSignals): LoadGate {
  const refused: Record<ShedReason, number> = { lane: 0, database: 0, event_loop: 0 };
  const tallies = new Map<Uuid, Tally>();
  let underWay = 0;
  const loop = createLoopLimit(maxWaitMs);
  const patience = new Patience(maxWaitMs);
  let timer: NodeJS.Timeout | null = null;
  let tickedAtMs = 0;
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  let told: Record<ShedReason, number> = { ...refused };

  /** What holds back a request of anybody, the first that is found; null when nothing does. */
  function queueInTheWay(): ShedReason | null {
    const waitMs = databaseWaitMs();
    if (waitMs > maxWaitMs && (patience.isAtItsEnd(uptimeMs()) || waitMs > BEYOND_PATIENCE * maxWaitMs)) return 'database';
    return underWay >= loop.limit() ? 'event_loop' : null;
  }

  function refuse(reason: ShedReason): true {
    refused[reason] += 1;
    const now = uptimeMs();
    if (now - loggedAtMs >= LOG_EVERY_MS) {
      loggedAtMs = now;
      const since = Object.fromEntries(shedReasons.map((name) => [name, refused[name] - told[name]]));
      told = { ...refused };
      log.warn({ refused: since, underWay }, 'overloaded: requests that would have to wait too long are refused with 503');
    }
    return true;
  }

  return {
    refuses(workspaceId, isWrite) {
      if (isWrite && isLaneBusyFor(workspaceId)) return refuse('lane');
      const reason = queueInTheWay();
      if (reason === null) return false;
      // The busiest are refused first: who has less under way than their share of it is let in.
      const own = tallies.get(workspaceId)?.underWay ?? 0;
      return own * Math.max(1, tallies.size) >= underWay ? refuse(reason) : false;
    },
    refusesStranger() {
      const reason = queueInTheWay();
      return reason === null ? false : refuse(reason);
    },
    began(workspaceId) {
      let tally = tallies.get(workspaceId);
      if (tally === undefined) {
        tally = { workspaceId, underWay: 0 };
        tallies.set(workspaceId, tally);
      }
      tally.underWay += 1;
      underWay += 1;
      if (underWay > loop.peak) loop.peak = underWay;
      return tally;
    },
    ended(tally) {
      tally.underWay -= 1;
      underWay -= 1;
      if (tally.underWay === 0) tallies.delete(tally.workspaceId);
    },
    refused,
    start() {
      tickedAtMs = uptimeMs();
      timer = setInterval(() => {
        const now = uptimeMs();
        loop.ticked(now - tickedAtMs - TICK_MS, underWay);
        tickedAtMs = now;
      }, TICK_MS).unref();
    },
    stop() {
      if (timer !== null) clearInterval(timer);
    },
  };
}

export interface LoopLimit {
  /** The most requests under way since the window began. */
  peak: number;
  /** How many may be under way. */
  limit(): number;
  /** A tick came so much later than it should have. */
  ticked(lateMs: number, underWay: number): void;
}

/** How many requests may be under way so that a round of the event loop takes no longer than the target. */
export function createLoopLimit(maxWaitMs: number): LoopLimit {
  let limit = Number.POSITIVE_INFINITY;
  let ticks = 0;
  let leastLateMs = Number.POSITIVE_INFINITY;

  function endWindow(): void {
    if (leastLateMs > maxWaitMs) {
      const cut = Math.min(WEAKEST_CUT, Math.max(STRONGEST_CUT, maxWaitMs / leastLateMs));
      limit = Math.max(LEAST_UNDER_WAY, Math.min(limit, self.peak) * cut);
    } else if (limit !== Number.POSITIVE_INFINITY) {
      limit *= GROWTH;
      // Nobody comes near it any more.
      if (limit > 2 * Math.max(LEAST_UNDER_WAY, self.peak)) limit = Number.POSITIVE_INFINITY;
    }
  }

  const self: LoopLimit = {
    peak: 0,
    limit: () => limit,
    ticked(lateMs, underWay) {
      leastLateMs = Math.min(leastLateMs, lateMs);
      ticks += 1;
      if (ticks < WINDOW_TICKS) return;
      endWindow();
      ticks = 0;
      leastLateMs = Number.POSITIVE_INFINITY;
      self.peak = underWay;
    },
  };
  return self;
}
