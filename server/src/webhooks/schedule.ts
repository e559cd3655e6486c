// When an attempt is made, and what its answer means for the delivery and the endpoint.
// Pure: time and randomness are handed in; sends and stores nothing.

import type { Verdict } from '../domain/endpoint-flow.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The pause before each attempt, the first included. After the last one the delivery has failed. */
export const attemptDelaysMs = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const;

/** A pause is up to this share shorter or longer, so that what failed together does not return together. */
export const JITTER = 0.2;

/** The longest pause that a receiver can ask for by `Retry-After`. */
export const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;

/** What came of one attempt: an answer, whatever its status, or none. */
export interface AttemptAnswer {
  /** Null when no answer arrived. */
  readonly statusCode: number | null;
  /** The `Retry-After` header as it was sent. */
  readonly retryAfter: string | null;
}

export type AttemptOutcome =
  | { readonly status: 'succeeded' }
  | { readonly status: 'pending'; readonly nextAttemptAt: Date }
  | { readonly status: 'failed'; readonly endpointGone: boolean };

const GONE = 410;
/** Answers by which a receiver says that it has too much of everything, not of one delivery. */
const OVERBURDENED = [429, 503];

const isAcknowledgement = (statusCode: number | null): boolean => statusCode !== null && statusCode >= 200 && statusCode < 300;

/** What an answer says about the endpoint. */
export const verdictOf = (statusCode: number | null): Verdict => (isAcknowledgement(statusCode) ? 'acknowledged' : 'failed');

/** The pause of all its webhooks that a receiver asks for; null where it asks for none. */
export function holdMsOf({ statusCode, retryAfter }: AttemptAnswer, now: Date): number | null {
  return statusCode !== null && OVERBURDENED.includes(statusCode) ? parseRetryAfterMs(retryAfter, now) : null;
}

/**
 * What follows from attempt `number` (1 for the first, again after a replay), whose answer came `now`. Any 2xx acknowledges; a redirect is a failure like any
 * other; 410 ends the delivery and says that the endpoint wants no more. `random` is evenly spread over 0 to 1.
 */
export function decideOutcome(number: number, answer: AttemptAnswer, now: Date, random: () => number): AttemptOutcome {
  const { statusCode } = answer;
  if (isAcknowledgement(statusCode)) return { status: 'succeeded' };
  if (statusCode === GONE) return { status: 'failed', endpointGone: true };
  const delayMs = attemptDelaysMs[number];
  if (delayMs === undefined) return { status: 'failed', endpointGone: false };
  const scheduledMs = Math.round(delayMs * (1 + JITTER * (2 * random() - 1)));
  // A receiver may ask for a longer pause, not for a shorter one: the schedule is what keeps us from pressing on it.
  const askedMs = Math.min(parseRetryAfterMs(answer.retryAfter, now) ?? 0, MAX_RETRY_AFTER_MS);
  return { status: 'pending', nextAttemptAt: new Date(now.getTime() + Math.max(scheduledMs, askedMs)) };
}

/** The pause that a `Retry-After` header asks for, written in seconds or as an HTTP date; null when it says nothing we understand. */
export function parseRetryAfterMs(header: string | null, now: Date): number | null {
  const text = header?.trim() ?? '';
  if (/^\d{1,10}$/.test(text)) return Number(text) * SECOND_MS;
  // The date formats of HTTP that name their zone begin with the weekday and end in GMT; nothing else is handed to the lenient parser.
  if (!/^[A-Z][a-z]{2,8}, .{8,24} GMT$/.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : Math.max(0, time - now.getTime());
}
