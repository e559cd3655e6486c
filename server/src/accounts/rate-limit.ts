// How many requests a key has left in this minute, on this process: counted in memory from leases that the database grants.
// Over all processes never more than the limit is granted, because every token was leased from one row first. Knows no HTTP.

import type { Uuid } from '../domain/ids.ts';
import { type LeaseRequest, leaseSize } from '../store/rate-leases.ts';

export const MINUTE_MS = 60_000;

export interface RateLimitOptions {
  readonly limitPerMinute: number;
  /** Takes the next lease in one statement; resolves with how much of the minute is used after it, or null when nothing was left. */
  readonly lease: (request: LeaseRequest) => Promise<number | null>;
  readonly now: () => number;
}

export interface RateLimit {
  readonly limitPerMinute: number;
  /**
   * Counts one request: how many are left after it, or -1 when it is one too many. At once while a token is in hand; rejects when a
   * lease could not be asked for.
   */
  take(workspaceId: Uuid, keyId: Uuid): number | Promise<number>;
  /** Whole seconds until the minute is over, at least 1. */
  secondsToReset(): number;
  /** What this process spent in the minutes that are over, each told once; with `current` in this one too, for the last time. */
  takeUses(current?: 'current'): MinuteUse[];
  /** Keys in memory. */
  readonly size: number;
}

/** What this process spent of a key's minute. */
export interface MinuteUse {
  readonly workspaceId: Uuid;
  readonly keyId: Uuid;
  /** Minutes since 1970. */
  readonly minute: number;
  readonly requests: number;
}

/** Minutes that are over and wait to be asked for; where nobody asks, no more than these stay in memory. */
const MAX_MINUTES_OVER = 3;

/** What this process holds of one key's minute. */
interface Bucket {
  readonly workspaceId: Uuid;
  readonly keyId: Uuid;
  readonly minute: number;
  /** Leased and not yet spent. */
  tokens: number;
  lastLease: number;
  /** What the row says is used, and how much of that was leased here: the difference went to other processes. */
  used: number;
  leasedHere: number;
  exhausted: boolean;
  pending: Promise<void> | null;
}

export function createRateLimit({ limitPerMinute: limit, lease, now }: RateLimitOptions): RateLimit {
  const steps = leaseSteps(limit);
  let minute = 0;
  let buckets = new Map<Uuid, Bucket>();
  let over: Map<Uuid, Bucket>[] = [];

  /** A new minute: nothing of the last one counts any more. A lease still under way keeps its own bucket alive. */
  function turn(current: number): void {
    if (buckets.size > 0) over.push(buckets);
    if (over.length > MAX_MINUTES_OVER) over.shift();
    minute = current;
    buckets = new Map();
  }

  function bucketOf(workspaceId: Uuid, keyId: Uuid): Bucket {
    const current = Math.floor(now() / MINUTE_MS);
    if (current !== minute) turn(current);
    const known = buckets.get(keyId);
    if (known !== undefined) return known;
    const bucket: Bucket = {
      workspaceId,
      keyId,
      minute,
      tokens: 0,
      lastLease: 0,
      used: 0,
      leasedHere: 0,
      exhausted: false,
      pending: null,
    };
    buckets.set(keyId, bucket);
    return bucket;
  }

  /** Asks for the next lease, unless that is under way already. */
  function ask(bucket: Bucket): Promise<void> {
    bucket.pending ??= lease({ workspaceId: bucket.workspaceId, keyId: bucket.keyId, minute: bucket.minute, limit }).then(
      (used) => {
        bucket.pending = null;
        if (used === null) {
          bucket.exhausted = true;
          return;
        }
        const granted = steps.get(used) ?? leaseSize(used, limit);
        bucket.tokens += granted;
        bucket.leasedHere += granted;
        bucket.lastLease = granted;
        bucket.used = used;
        bucket.exhausted = used >= limit;
      },
      (error: unknown) => {
        bucket.pending = null;
        throw error;
      },
    );
    return bucket.pending;
  }

  function spend(bucket: Bucket): number {
    bucket.tokens -= 1;
    // The next lease is asked for while a quarter of the last one is still in hand, so that traffic seldom waits for it.
    if (!bucket.exhausted && bucket.pending === null && bucket.tokens <= bucket.lastLease >> 2) ask(bucket).catch(ignore);
    // As long as nobody else has leased, what is not leased yet is ours as well; otherwise only what is in hand is certain.
    return bucket.used === bucket.leasedHere ? bucket.tokens + limit - bucket.used : bucket.tokens;
  }

  async function wait(bucket: Bucket): Promise<number> {
    // At most one round a lease: of several that wait, each round serves at least one, or the minute is used up.
    while (bucket.tokens === 0) {
      if (bucket.exhausted) return -1;
      await ask(bucket);
    }
    return spend(bucket);
  }

  return {
    limitPerMinute: limit,
    take(workspaceId, keyId) {
      const bucket = bucketOf(workspaceId, keyId);
      if (bucket.tokens > 0) return spend(bucket);
      return bucket.exhausted ? -1 : wait(bucket);
    },
    secondsToReset: () => Math.max(1, Math.ceil((MINUTE_MS - (now() % MINUTE_MS)) / 1000)),
    takeUses(current) {
      const at = Math.floor(now() / MINUTE_MS);
      if (current !== undefined || at !== minute) turn(at);
      const taken = over.flatMap((ended) => [...ended.values()]);
      over = [];
      return taken.map(({ workspaceId, keyId, minute: ended, leasedHere, tokens }) => ({
        workspaceId,
        keyId,
        minute: ended,
        requests: leasedHere - tokens,
      }));
    },
    get size() {
      return buckets.size;
    },
  };
}

/** An early lease that failed has cost nothing: whoever needs a token next asks again and is told. */
const ignore = (): void => {};

/**
 * By "used after", how large the lease was that led there. Leases of one minute always follow the same steps from 0 to the limit, so
 * the statement need not say what it granted. Where the row is off these steps (the limit was changed within the minute), the lease
 * is taken to be as small as it can have been.
 */
function leaseSteps(limit: number): ReadonlyMap<number, number> {
  const steps = new Map<number, number>();
  for (let used = 0; used < limit; ) {
    const size = leaseSize(used, limit);
    used += size;
    steps.set(used, size);
  }
  return steps;
}
