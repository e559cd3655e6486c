// Counts what may be tried only so often within a window of time, over all processes. Only keyed hashes of what is counted are stored.
// Knows no limits and words no refusal: sign-in-limits.ts and mail-limits.ts do.

import { createHmac } from 'node:crypto';
import type { AttemptCount } from '../store/people.ts';

export interface AttemptsOptions {
  readonly countAttempt: (bucket: Buffer, now: Date, windowMs: number) => Promise<AttemptCount>;
  readonly now: () => number;
  /** Keeps the stored hashes from being turned back into addresses. */
  readonly secret: string;
}

export function createAttempts({ countAttempt, now, secret }: AttemptsOptions, windowMs: number) {
  const bucketOf = (text: string): Buffer => createHmac('sha256', secret).update(text).digest();

  return {
    bucketOf,
    /** Counts one more; the seconds until the next is taken where it is one too many. */
    async count(text: string, limit: number): Promise<number | null> {
      const at = now();
      const { attempts, until } = await countAttempt(bucketOf(text), new Date(at), windowMs);
      return attempts <= limit ? null : Math.max(1, Math.ceil((until.getTime() - at) / 1000));
    },
  };
}
