// Who is let in: by what a request would have to wait for, and the busiest workspace refused first.
// Queues and clock are the test's own.

import { expect, test } from 'vitest';
import { createLoadGate, createLoopLimit, type LoadSignals } from './load-gate.ts';

const [NOISY, QUIET] = ['01993c5a-8f00-7000-8000-000000000001', '01993c5a-8f00-7000-8000-000000000002'];

function gateWith(signals: Partial<LoadSignals> = {}) {
  const lines: unknown[] = [];
  const log = { info: () => {}, error: () => {}, warn: (...line: unknown[]) => void lines.push(line) };
  const time = { ms: 0 };
  const gate = createLoadGate({
    databaseWaitMs: () => 0,
    isLaneBusyFor: () => false,
    maxWaitMs: 100,
    uptimeMs: () => time.ms,
    log,
    ...signals,
  });
  return { gate, lines, time };
}

test('lets everybody in while nothing has to wait', () => {
  const { gate, lines } = gateWith();
  for (let i = 0; i < 1_000; i++) {
    expect(gate.refuses(NOISY, i % 2 === 0)).toBe(false);
    gate.began(NOISY);
  }
  expect(gate.refusesStranger()).toBe(false);
  expect(gate.refused).toEqual({ lane: 0, database: 0, event_loop: 0 });
  expect(lines).toEqual([]);
});

test('refuses reads and writes while a statement would wait too long for the database, and lets in again when it would not', () => {
  let waitMs = 101;
  const { gate, time } = gateWith({ databaseWaitMs: () => waitMs });
  // It may be a burst, which is over before anybody would be glad of a refusal.
  expect(gate.refuses(NOISY, false)).toBe(false);
  time.ms = 100;
  expect([gate.refuses(NOISY, false), gate.refuses(NOISY, true), gate.refusesStranger()]).toEqual([true, true, true]);
  waitMs = 100;
  expect([gate.refuses(NOISY, false), gate.refuses(NOISY, true), gate.refusesStranger()]).toEqual([false, false, false]);
  expect(gate.refused).toEqual({ lane: 0, database: 3, event_loop: 0 });
});

test('refuses only writes for the sake of the lane', () => {
  const { gate } = gateWith({ isLaneBusyFor: (workspaceId) => workspaceId === NOISY });
  expect([gate.refuses(NOISY, true), gate.refuses(NOISY, false), gate.refuses(QUIET, true)]).toEqual([true, false, false]);
  expect(gate.refused.lane).toBe(1);
});

test('refuses the busiest workspace first: one with less than its share under way is let in', () => {
  const { gate } = gateWith({ databaseWaitMs: () => 5_000 });
  for (let i = 0; i < 50; i++) gate.began(NOISY);
  const tally = gate.began(QUIET);
  expect([gate.refuses(NOISY, false), gate.refuses(QUIET, false)]).toEqual([true, false]);
  // Nothing is left of those that have ended.
  gate.ended(tally);
  expect(gate.refuses(NOISY, false)).toBe(true);
});

test('the log tells of refusals now and then, with how many there were', () => {
  const { gate, lines, time } = gateWith({ databaseWaitMs: () => 5_000 });
  for (let i = 0; i < 100; i++) gate.refuses(NOISY, false);
  time.ms = 10_000;
  gate.refuses(NOISY, false);
  expect(lines).toMatchObject([
    [{ refused: { database: 1 } }, expect.any(String)],
    [{ refused: { database: 100 } }, expect.any(String)],
  ]);
});

test('the event loop: only when the best of several rounds is too long are fewer let in, and more again when it is not', () => {
  const loop = createLoopLimit(100);
  const window = (latesMs: readonly number[], peak: number): number => {
    loop.peak = peak;
    for (const lateMs of latesMs) loop.ticked(lateMs, 0);
    return loop.limit();
  };
  expect(window([900, 900, 0, 900, 900], 1_000)).toBe(Number.POSITIVE_INFINITY);
  expect(window([400, 200, 300, 200, 400], 1_000)).toBe(500);
  expect(window([150, 150, 150, 150, 150], 500)).toBeCloseTo(333, 0);
  expect(window([101, 101, 101, 101, 101], 333)).toBeCloseTo(316, 0);
  expect(window([10, 10, 10, 10, 10], 316)).toBeCloseTo(348, 0);
  // Never so few that nothing could be learned.
  for (let i = 0; i < 20; i++) window([5_000, 5_000, 5_000, 5_000, 5_000], 10);
  expect(loop.limit()).toBe(32);
  // And no limit at all once nobody comes near it.
  for (let i = 0; i < 20; i++) window([0, 0, 0, 0, 0], 5);
  expect(loop.limit()).toBe(Number.POSITIVE_INFINITY);
});
