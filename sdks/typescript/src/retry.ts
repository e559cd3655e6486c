// When a call is tried again, and after how long.
// Pure but for chance, and for the one function that waits.

import { ApiAbortedError } from './errors.ts';

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 8_000;
/** A server that asks for more than this is obeyed by giving up: the caller knows better what to do meanwhile. */
export const MAX_RETRY_AFTER_MS = 60_000;

/** Whether an answer with this status may be followed by a better one. */
export const isTransient = (status: number): boolean => status === 408 || status === 429 || (status >= 500 && status !== 501);

/** Before the attempt after the `attempt`th (from 1): doubling, and spread so that clients do not come back together. */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  return Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), MAX_WAIT_MS) * (0.5 + random() / 2);
}

/** What `Retry-After` asks for, in seconds or as a date; null where there is none. */
export function retryAfterMs(headers: Headers, nowMs: number = Date.now()): number | null {
  const value = headers.get('retry-after');
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const time = Date.parse(value);
  return Number.isNaN(time) ? null : Math.max(0, time - nowMs);
}

/** Waits, or fails at once when the caller cancels. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => {
      clearTimeout(timer);
      reject(aborted(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', cancel);
      resolve();
    }, ms);
    signal?.addEventListener('abort', cancel, { once: true });
  });
}

export function aborted(signal: AbortSignal | undefined): ApiAbortedError {
  return new ApiAbortedError('The call was cancelled.', { cause: signal?.reason });
}
