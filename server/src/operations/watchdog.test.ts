// A worker that stops working is noticed: said in the log again and again, and given as a reason; a hang ends the process, an error does not.
// With a clock of the test's own.

import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { WorkerStatus } from '../webhooks/worker.ts';
import { createWatchdog, MAX_WORKER_HANG_MS, MAX_WORKER_SILENCE_MS } from './watchdog.ts';

const SECOND_MS = 1_000;

function watch(first: Pick<WorkerStatus, 'lastRunMs' | 'lastError'>) {
  const state = { time: 5_000, status: { ...first, lastPassMs: null, inFlight: 0 } as WorkerStatus };
  const said: string[] = [];
  let hangs = 0;
  const dog = createWatchdog({
    status: () => state.status,
    uptimeMs: () => state.time,
    log: pino({ level: 'error' }, { write: (line: string) => void said.push((JSON.parse(line) as { msg: string }).msg) }),
    onHang: () => void (hangs += 1),
    lookEveryMs: 3_600_000,
  });
  dog.start();
  onTestFinished(() => dog.stop());
  const pass = (ms: number, everyMs = 5 * SECOND_MS): void => {
    for (let left = ms; left > 0; left -= everyMs) {
      state.time += everyMs;
      dog.look();
    }
  };
  return { dog, state, said, pass, hangs: () => hangs };
}

describe('the watchdog of the worker', () => {
  test('says nothing while the worker looks for work, and of a worker that has just begun', () => {
    const { dog, state, said, pass } = watch({ lastRunMs: null, lastError: null });
    pass(MAX_WORKER_SILENCE_MS);
    expect([dog.silence(), dog.unready()]).toEqual([null, 'webhooks are not being sent (the worker has not begun)']);
    for (let round = 0; round < 100; round += 1) {
      state.status = { ...state.status, lastRunMs: state.time };
      pass(30 * SECOND_MS);
    }
    expect([dog.silence(), dog.unready(), said]).toEqual([null, null, []]);
  });

  test('says once a minute that a silent worker sends nothing, and ends a hung process once', () => {
    const { dog, said, pass, hangs } = watch({ lastRunMs: null, lastError: null });
    pass(MAX_WORKER_SILENCE_MS + 5 * SECOND_MS);
    expect(dog.silence()).toBe('webhooks are not being sent (the worker does not answer)');
    pass(120 * SECOND_MS);
    expect(said).toHaveLength(3);
    expect(hangs()).toBe(0);
    pass(MAX_WORKER_HANG_MS);
    expect(hangs()).toBe(1);
  });

  test('gives the error of a worker that fails, and leaves the process alone: it goes on by itself when the cause is gone', () => {
    const { dog, state, pass, hangs } = watch({ lastRunMs: null, lastError: 'the database is out of reach' });
    for (let minute = 0; minute < 60; minute += 1) {
      state.status = { ...state.status, lastPassMs: state.time };
      pass(60 * SECOND_MS);
    }
    expect(dog.silence()).toBe('webhooks are not being sent (the database is out of reach)');
    expect(hangs()).toBe(0);
    state.status = { ...state.status, lastRunMs: state.time, lastError: null };
    expect(dog.silence()).toBeNull();
  });

  test('a worker that failed and then stands still is one that hangs', () => {
    const { state, pass, hangs } = watch({ lastRunMs: null, lastError: 'the database is out of reach' });
    state.status = { ...state.status, lastPassMs: state.time };
    pass(MAX_WORKER_HANG_MS + 5 * SECOND_MS);
    expect(hangs()).toBe(1);
  });
});
