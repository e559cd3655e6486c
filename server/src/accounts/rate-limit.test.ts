// The limit of requests: exact on one process, never exceeded over several, and seldom waited for.

import { describe, expect, test } from 'vitest';
import type { LeaseRequest } from '../store/rate-leases.ts';
import { leaseSize } from '../store/rate-leases.ts';
import { createRateLimit, MINUTE_MS } from './rate-limit.ts';

/** The table of leases in memory, shared by as many limits as a test makes. */
function setUp(limit: number, processes = 1) {
  const used = new Map<string, { minute: number; used: number }>();
  const state = { now: 20 * MINUTE_MS + 500, leases: 0, error: null as Error | null, hold: null as Promise<void> | null };
  async function lease({ keyId, minute, limit: most }: LeaseRequest): Promise<number | null> {
    state.leases += 1;
    await state.hold;
    if (state.error !== null) throw state.error;
    const row = used.get(keyId);
    const before = row === undefined || row.minute < minute ? 0 : row.used;
    if (before >= most) return null;
    const after = before + leaseSize(before, most);
    used.set(keyId, { minute: Math.max(minute, row?.minute ?? 0), used: after });
    return after;
  }
  const limits = Array.from({ length: processes }, () => createRateLimit({ limitPerMinute: limit, lease, now: () => state.now }));
  return { limits, first: limits[0] as (typeof limits)[0], state };
}

describe('one process', () => {
  test.each([1, 2, 7, 8, 9, 100, 1000, 1001])('a limit of %i admits exactly that many, and counts down by one', async (limit) => {
    const { first } = setUp(limit);
    const left: number[] = [];
    for (let i = 0; i < limit + 3; i++) left.push(await first.take('w', 'k'));
    expect(left).toEqual([...Array.from({ length: limit }, (_, i) => limit - 1 - i), -1, -1, -1]);
  });

  test('a thousand requests at once are admitted, and not one more', async () => {
    const { first, state } = setUp(1000);
    const left = await Promise.all(Array.from({ length: 1200 }, () => first.take('w', 'k')));
    expect(left.filter((one) => one >= 0)).toHaveLength(1000);
    expect(state.leases).toBeLessThan(60);
  });

  test('with a token in hand the answer is at once, and the next lease is asked for before it is needed', async () => {
    const { first, state } = setUp(1000);
    await first.take('w', 'k');
    let waited = 0;
    for (let i = 1; i < 800; i++) {
      const left = first.take('w', 'k');
      if (left instanceof Promise) waited += 1;
      await left;
      if (i % 10 === 0) await new Promise(setImmediate);
    }
    expect(waited).toBe(0);
    expect(state.leases).toBeGreaterThan(5);
  });

  test('requests that wait for a lease share one query', async () => {
    const { first, state } = setUp(1000);
    await Promise.all(Array.from({ length: 50 }, () => first.take('w', 'k')));
    expect(state.leases).toBe(1);
  });

  test('a new minute begins with the whole limit, and keys of the old one are forgotten', async () => {
    const { first, state } = setUp(5);
    for (const key of ['a', 'b', 'c']) for (let i = 0; i < 6; i++) await first.take('w', key);
    expect(first.size).toBe(3);
    expect(await first.take('w', 'a')).toBe(-1);
    state.now += MINUTE_MS;
    expect(await first.take('w', 'a')).toBe(4);
    expect(first.size).toBe(1);
  });

  test('keys do not share a minute', async () => {
    const { first } = setUp(1);
    expect(await first.take('w', 'a')).toBe(0);
    expect(await first.take('w', 'b')).toBe(0);
    expect(await first.take('w', 'a')).toBe(-1);
  });

  test('once used up, the minute costs no more queries', async () => {
    const { first, state } = setUp(3);
    for (let i = 0; i < 4; i++) await first.take('w', 'k');
    for (let i = 0; i < 100; i++) expect(first.take('w', 'k')).toBe(-1);
    expect(state.leases).toBe(3);
  });

  test('the seconds to the reset are whole, at least 1 and at most 60', () => {
    const { first, state } = setUp(3);
    expect(first.secondsToReset()).toBe(60);
    state.now = 20 * MINUTE_MS;
    expect(first.secondsToReset()).toBe(60);
    state.now = 21 * MINUTE_MS - 1;
    expect(first.secondsToReset()).toBe(1);
  });

  test('a lease that fails rejects those who wait for it, and the next request asks again', async () => {
    const { first, state } = setUp(10);
    state.error = new Error('down');
    const outcomes = await Promise.allSettled([first.take('w', 'k'), first.take('w', 'k')]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected']);
    state.error = null;
    expect(await first.take('w', 'k')).toBe(9);
  });

  test('an early lease that fails harms nobody who still holds a token', async () => {
    const { first, state } = setUp(1000);
    await first.take('w', 'k');
    state.error = new Error('down');
    for (let i = 1; i < 125; i++) expect(await first.take('w', 'k')).toBe(999 - i);
    await expect(Promise.resolve(first.take('w', 'k'))).rejects.toThrow('down');
  });
});

describe('several processes', () => {
  test('together they never admit more than the limit, whoever asks when', async () => {
    const { limits } = setUp(1000, 3);
    let admitted = 0;
    for (let i = 0; i < 1500; i++) for (const limit of limits) if ((await limit.take('w', 'k')) >= 0) admitted += 1;
    expect(admitted).toBe(1000);
  });

  test('once another process has been noticed, what is said to remain is certain, whatever the other one takes', async () => {
    const { limits } = setUp(100, 2);
    const [one, other] = limits as [(typeof limits)[0], (typeof limits)[0]];
    await other.take('w', 'k');
    const left = await one.take('w', 'k');
    expect(left).toBe(leaseSize(12, 100) - 1);
    for (let i = 0; i < 200; i++) await other.take('w', 'k');
    for (let i = 0; i < left; i++) expect(await one.take('w', 'k')).toBeGreaterThanOrEqual(0);
    expect(await one.take('w', 'k')).toBe(-1);
  });
});
