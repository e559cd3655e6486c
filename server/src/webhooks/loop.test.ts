// A loop outlives whatever its passes do. Waits for conditions, never for the clock.

import { expect, onTestFinished, test, vi } from 'vitest';
import type { Log } from '../store/log.ts';
import { createLoop, type Loop } from './loop.ts';

const said: string[] = [];
const log: Log = { info: () => {}, warn: () => {}, error: (...words: unknown[]) => void said.push(String(words.at(-1))) };

function start(pass: () => Promise<boolean>, pollMs = 3_600_000): Loop {
  const stopping = new AbortController();
  const loop = createLoop({
    name: 'test',
    pass,
    pauseMs: 0,
    pollMs,
    errorPauseMs: 1,
    uptimeMs: () => performance.now(),
    log,
    signal: stopping.signal,
  });
  const running = loop.run();
  onTestFinished(async () => {
    stopping.abort();
    loop.ring();
    await running;
  });
  return loop;
}

test('goes on after passes that throw, with what was thrown on show until one succeeds', async () => {
  let passes = 0;
  const shown: unknown[] = [];
  const loop: Loop = start(async () => {
    if (passes > 0) shown.push(loop.lastError);
    passes += 1;
    if (passes <= 3) throw new Error(`broke ${passes}`);
    return false;
  });
  await vi.waitFor(() => expect(loop.lastRunMs).not.toBeNull());
  expect([passes, loop.lastError, shown]).toEqual([4, null, ['broke 1', 'broke 2', 'broke 3']]);
  expect(said.filter((line) => line === 'webhook worker failed and goes on after a pause')).toHaveLength(3);
});

test('goes on without a rest while there is more to do, then rests until it is rung', async () => {
  let [left, passes] = [5, 0];
  const loop = start(async () => {
    passes += 1;
    left -= 1;
    return left > 0;
  });
  await loop.settled();
  const before = passes;
  await new Promise(setImmediate);
  expect(passes).toBe(before);
  loop.ring();
  await vi.waitFor(() => expect(passes).toBe(before + 1));
});

test('by itself it looks again after a while', async () => {
  let passes = 0;
  start(async () => {
    passes += 1;
    return false;
  }, 5);
  await vi.waitFor(() => expect(passes).toBeGreaterThan(3));
});
