// What comes of the question who calls: a caller, or the reason why not, and the state of the minute in which requests are counted.
// Shared by keys and sessions; asks nobody.

import type { IncomingMessage } from 'node:http';
import type { RateLimit } from '../../accounts/rate-limit.ts';
import type { Refusal } from '../../domain/errors.ts';
import type { ProblemContext } from '../problems.ts';
import type { Access, Caller } from '../route.ts';

export type Limits = Pick<RateLimit, 'take' | 'secondsToReset' | 'limitPerMinute'>;

/** A request that may go on, or the reason why not; with the state of the minute wherever the key or the session is known. */
export interface Admission {
  readonly caller: Caller | null;
  readonly refusal: Refusal | null;
  readonly context: ProblemContext | undefined;
  /** The value of the RateLimit header; null where no key counts. */
  readonly rateLimit: string | null;
}

export type SessionAdmission = (request: IncomingMessage, access: Access) => Admission | Promise<Admission>;

export const stranger = (refusal: Refusal): Admission => ({ caller: null, refusal, context: undefined, rateLimit: null });

/** Whoever is known, once their request is counted: refused when none was left of this minute. */
export function counted(caller: Caller, refusal: Refusal | null, remaining: number, limits: Limits): Admission {
  const resetSeconds = limits.secondsToReset();
  const rateLimit = `"default";r=${Math.max(0, remaining)};t=${resetSeconds}`;
  if (remaining >= 0) return { caller, refusal, context: undefined, rateLimit };
  const what = caller.session === null ? 'key' : 'session';
  const detail = `This ${what} has used its ${limits.limitPerMinute} requests of this minute; the next one begins in ${resetSeconds} s.`;
  return { caller, refusal: { code: 'rate_limited', detail }, context: { retryAfterSeconds: resetSeconds }, rateLimit };
}
