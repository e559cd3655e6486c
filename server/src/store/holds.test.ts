// How long one more would wait for a connection, told from what waits and how long connections are held.
// The clock is the test's own.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Holds } from './holds.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function hold(holds: Holds, times: number, ms: number): void {
  for (let i = 0; i < times; i++) {
    const taken = holds.begin();
    vi.advanceTimersByTime(ms);
    holds.end(taken);
  }
}

test('is what waits times how long a connection is held, shared by all of them', () => {
  const holds = new Holds(10);
  hold(holds, 200, 5);
  expect(holds.expectedWaitMs(100)).toBeCloseTo(50, 0);
  expect(holds.expectedWaitMs(1_000)).toBeCloseTo(500, 0);
});

test('is nothing while no more wait than are served next', () => {
  const holds = new Holds(10);
  hold(holds, 200, 5_000);
  expect(holds.expectedWaitMs(9)).toBe(0);
  expect(holds.expectedWaitMs(10)).toBeGreaterThan(1_000);
});

test('sees a database that has just become slow before the first statement has ended', () => {
  const holds = new Holds(10);
  hold(holds, 200, 1);
  for (let i = 0; i < 10; i++) holds.begin();
  vi.advanceTimersByTime(300);
  expect(holds.expectedWaitMs(20)).toBeCloseTo(600, 0);
});

test('is not misled by a few that are held for long', () => {
  const holds = new Holds(10);
  hold(holds, 200, 1);
  for (let i = 0; i < 4; i++) holds.begin();
  vi.advanceTimersByTime(5_000);
  for (let i = 0; i < 6; i++) holds.begin();
  vi.advanceTimersByTime(1);
  expect(holds.expectedWaitMs(20)).toBeLessThan(10);
});

test('is not misled by one hold that took very long either', () => {
  const holds = new Holds(10);
  hold(holds, 200, 1);
  hold(holds, 1, 20_000);
  expect(holds.expectedWaitMs(100)).toBeLessThan(30);
});
