// The retry schedule and the meaning of every kind of answer, as tables.
// Touches no clock and no randomness of its own.

import { describe, expect, test } from 'vitest';
import { attemptDelaysMs, decideOutcome, MAX_RETRY_AFTER_MS, parseRetryAfterMs } from './schedule.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const middle = () => 0.5;
const HOUR_MS = 3_600_000;
const answer = (statusCode: number | null, retryAfter: string | null = null) => ({ statusCode, retryAfter });

function pauseMs(number: number, given: ReturnType<typeof answer>, random: () => number = middle): number {
  const outcome = decideOutcome(number, given, now, random);
  if (outcome.status !== 'pending') throw new Error(`expected a retry, got ${outcome.status}`);
  return outcome.nextAttemptAt.getTime() - now.getTime();
}

describe('decideOutcome', () => {
  test.each([200, 201, 202, 204, 299])('%i acknowledges', (statusCode) => {
    expect(decideOutcome(1, answer(statusCode), now, middle)).toEqual({ status: 'succeeded' });
    expect(decideOutcome(10, answer(statusCode), now, middle)).toEqual({ status: 'succeeded' });
  });

  test.each([
    null,
    101,
    199,
    300,
    301,
    302,
    304,
    307,
    308,
    400,
    401,
    404,
    409,
    429,
    500,
    502,
    503,
    599,
  ])('%s fails and is retried', (statusCode) => {
    expect(pauseMs(1, answer(statusCode))).toBe(5000);
  });

  test('410 ends the delivery at once and says that the endpoint is gone', () => {
    expect(decideOutcome(1, answer(410), now, middle)).toEqual({ status: 'failed', endpointGone: true });
    expect(decideOutcome(10, answer(410), now, middle)).toEqual({ status: 'failed', endpointGone: true });
  });

  test.each([
    [1, 5_000],
    [2, 5 * 60_000],
    [3, 30 * 60_000],
    [4, 2 * HOUR_MS],
    [5, 5 * HOUR_MS],
    [6, 10 * HOUR_MS],
    [7, 14 * HOUR_MS],
    [8, 20 * HOUR_MS],
    [9, 24 * HOUR_MS],
  ])('after failed attempt %i comes a pause of %i ms, give or take 20 %%', (number, expectedMs) => {
    expect(pauseMs(number, answer(500))).toBe(expectedMs);
    expect(pauseMs(number, answer(500), () => 0)).toBe(Math.round(expectedMs * 0.8));
    expect(pauseMs(number, answer(500), () => 1 - Number.EPSILON)).toBe(Math.round(expectedMs * 1.2));
  });

  test('the first attempt is made at once and the tenth is the last', () => {
    expect(attemptDelaysMs[0]).toBe(0);
    expect(attemptDelaysMs).toHaveLength(10);
    expect(decideOutcome(10, answer(500), now, middle)).toEqual({ status: 'failed', endpointGone: false });
    expect(decideOutcome(10, answer(503, '60'), now, middle)).toEqual({ status: 'failed', endpointGone: false });
  });

  test.each([
    ['a longer pause is granted', 1, '120', 120_000],
    ['a shorter one is not', 2, '1', 5 * 60_000],
    ['a date is understood', 1, 'Sun, 01 Mar 2026 12:10:00 GMT', 600_000],
    ['a date gone by changes nothing', 1, 'Sun, 01 Mar 2026 11:00:00 GMT', 5_000],
    ['more than a day is cut to a day', 1, '9999999999', MAX_RETRY_AFTER_MS],
    ['nonsense changes nothing', 1, 'soon', 5_000],
  ])('Retry-After: %s', (_case, number, retryAfter, expectedMs) => {
    expect(pauseMs(number, answer(503, retryAfter))).toBe(expectedMs);
  });
});

test.each([
  [null, null],
  ['', null],
  ['0', 0],
  [' 7 ', 7000],
  ['-1', null],
  ['1.5', null],
  ['1e3', null],
  ['99999999999', null],
  ['2026-03-01T13:00:00Z', null],
  ['Sun, 01 Mar 2026 12:00:01 GMT', 1000],
  ['Sunday, 01-Mar-26 12:00:01 GMT', 1000],
  ['Sun, 99 Mar 2026 12:00:01 GMT', null],
  ['Sun Mar  1 12:00:01 2026', null],
])('Retry-After %j asks for %j ms', (header, expectedMs) => {
  expect(parseRetryAfterMs(header, now)).toBe(expectedMs);
});
