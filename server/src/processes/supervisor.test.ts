// The supervisor with processes that do as they are told: who is replaced, after which pause, and when it gives up.
// Real processes are in server/test/processes.test.ts.

import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createSupervisor, SupervisionEnded, type Supervisor, supervisorLimits } from './supervisor.ts';
import type { WorkerProcess } from './worker-process.ts';

class FakeProcess implements WorkerProcess {
  readonly pid: number;
  readonly #fit = Promise.withResolvers<string | null>();
  readonly #ended = Promise.withResolvers<{ code: number | null; signal: string | null }>();
  readonly #hangs = Promise.withResolvers<void>();
  readonly fit = this.#fit.promise;
  readonly ended = this.#ended.promise;
  readonly hangs = this.#hangs.promise;
  readonly told: string[] = [];
  isAlive = true;

  constructor(pid: number) {
    this.pid = pid;
  }

  ready = (): void => this.#fit.resolve(null);
  refuse = (message: string): void => this.#fit.resolve(message);
  hang = (): void => this.#hangs.resolve();
  die(code: number | null = null, signal: string | null = 'SIGKILL'): void {
    this.isAlive = false;
    this.#ended.resolve({ code, signal });
  }
  retire = (): void => void this.told.push('retire');
  kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.told.push(signal);
    if (signal === 'SIGKILL') this.die();
  }
  report = async (): Promise<null> => null;
}

interface World {
  readonly forked: FakeProcess[];
  readonly supervisor: Supervisor;
}

function world(count: number): World {
  const forked: FakeProcess[] = [];
  const supervisor = createSupervisor({
    count,
    fork: () => {
      const made = new FakeProcess(forked.length + 1);
      forked.push(made);
      return made;
    },
    log: pino({ level: 'silent' }),
    uptimeMs: () => Date.now(),
  });
  return { forked, supervisor };
}

const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

async function started(count: number): Promise<World> {
  const made = world(count);
  const starting = made.supervisor.start();
  for (const process of made.forked) process.ready();
  await starting;
  return made;
}

const serving = ({ supervisor }: World): number[] =>
  supervisor.members.filter(({ state }) => state === 'serving').map(({ worker }) => worker.pid);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a process that dies', () => {
  test('is replaced at once, and again and again after longer and longer pauses, up to the longest', async () => {
    const made = await started(2);
    const pauses: number[] = [];
    for (let n = 0; n < 9; n += 1) {
      const doomed = made.forked.at(-1) as FakeProcess;
      const before = made.forked.length;
      const diedAt = Date.now();
      doomed.die();
      while (made.forked.length === before) await vi.advanceTimersByTimeAsync(100);
      pauses.push(Date.now() - diedAt);
      made.forked.at(-1)?.ready();
      await settle();
    }
    expect(pauses.map((ms) => Math.round(ms / 500) * 500)).toEqual([0, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
    // The other one was left alone.
    expect(serving(made)).toContain(1);
    expect(made.supervisor.counts.crashes).toBe(9);
  });

  test('after it has worked for a while is replaced at once, whatever was before', async () => {
    const made = await started(1);
    for (let n = 0; n < 4; n += 1) {
      await vi.advanceTimersByTimeAsync(supervisorLimits.stableMs);
      made.forked.at(-1)?.die();
      await vi.advanceTimersByTimeAsync(1);
      made.forked.at(-1)?.ready();
      await settle();
      expect(serving(made)).toEqual([n + 2]);
    }
  });

  test('at its start over and over ends the whole with the reason, when no other one serves', async () => {
    const made = world(2);
    const starting = made.supervisor.start();
    const refused = expect(starting).rejects.toThrow(/die at their start, 5 times in a row, the last with exit code 7/);
    while (made.forked.length < 12 && made.forked.some(({ isAlive }) => isAlive)) {
      for (const process of made.forked.filter(({ isAlive }) => isAlive)) process.die(7, null);
      await vi.advanceTimersByTimeAsync(supervisorLimits.longestPauseMs);
    }
    await refused;
    await expect(starting).rejects.toBeInstanceOf(SupervisionEnded);
  });

  test('at its start over and over is tried again for ever while another one serves', async () => {
    const made = await started(2);
    let gaveUp = false;
    void made.supervisor.gaveUp.then(() => (gaveUp = true));
    for (let n = 0; n < 20; n += 1) {
      made.forked.at(-1)?.die(1, null);
      await vi.advanceTimersByTimeAsync(supervisorLimits.longestPauseMs);
    }
    expect([gaveUp, serving(made), made.forked.length]).toEqual([false, [1], 22]);
  });

  test('that says it can never work ends a start at once', async () => {
    const made = world(3);
    const starting = made.supervisor.start();
    made.forked[1]?.refuse('Port 80 is in use.');
    await expect(starting).rejects.toThrow('Port 80 is in use.');
    expect(made.forked).toHaveLength(3);
  });

  test('that is not ready in time is killed and counts as one that died', async () => {
    const made = world(1);
    const starting = made.supervisor.start();
    await vi.advanceTimersByTimeAsync(supervisorLimits.startMs + 1);
    expect([made.forked[0]?.told, made.forked.length]).toEqual([['SIGKILL'], 2]);
    made.forked[1]?.ready();
    await starting;
  });
});

describe('a rolling restart', () => {
  test('has the new one ready before the old one is told to go, and the old one gone before the next is touched', async () => {
    const made = await started(2);
    const [one, two] = made.forked as [FakeProcess, FakeProcess];
    const rolled = made.supervisor.roll();
    await settle();
    expect([made.forked.length, one.told]).toEqual([3, []]);
    made.forked[2]?.ready();
    await settle();
    expect([one.told, two.told, made.forked.length]).toEqual([['retire'], [], 3]);
    one.die(0, null);
    await settle();
    made.forked[3]?.ready();
    await settle();
    two.die(0, null);
    await rolled;
    expect([serving(made), made.supervisor.counts]).toEqual([[3, 4], { crashes: 0, retirements: 2 }]);
    // Numbers of the dead are free again, so the labels have a bound.
    expect(made.supervisor.members.map(({ number }) => number).sort()).toEqual([1, 3]);
  });

  test('is given up, with the old ones untouched, when the new one does not come up', async () => {
    const made = await started(2);
    const rolled = made.supervisor.roll();
    await settle();
    made.forked[2]?.die(1, null);
    await rolled;
    await vi.advanceTimersByTimeAsync(60_000);
    expect([serving(made), made.forked.length, made.forked[0]?.told]).toEqual([[1, 2], 3, []]);
  });

  test('survives the death of the old one while the new one starts: one takes its place, not two', async () => {
    const made = await started(1);
    const rolled = made.supervisor.roll();
    await settle();
    made.forked[0]?.die();
    await vi.advanceTimersByTimeAsync(60);
    made.forked[1]?.ready();
    await rolled;
    await vi.advanceTimersByTimeAsync(20_000);
    expect([serving(made), made.forked.length]).toEqual([[2], 2]);
    // And the new one is watched over like any other.
    made.forked[1]?.die();
    await vi.advanceTimersByTimeAsync(supervisorLimits.longestPauseMs);
    expect(made.forked).toHaveLength(3);
  });

  test('asked for in the middle of another is done once more after it', async () => {
    const made = await started(1);
    const rolls = [made.supervisor.roll(), made.supervisor.roll(), made.supervisor.roll()];
    for (let n = 1; n <= 2; n += 1) {
      await settle();
      made.forked[n]?.ready();
      await settle();
      made.forked[n - 1]?.die(0, null);
      await settle();
    }
    await Promise.all(rolls);
    expect([serving(made), made.forked.length]).toEqual([[3], 3]);
  });

  test('kills an old one that does not end, and one that hangs is replaced like that', async () => {
    const made = await started(1);
    made.forked[0]?.hang();
    await settle();
    made.forked[1]?.ready();
    await vi.advanceTimersByTimeAsync(supervisorLimits.retireMs + 1);
    expect([made.forked[0]?.told, serving(made)]).toEqual([['retire', 'SIGKILL'], [2]]);
  });

  test('tries again with one that hangs until another one has come up, after longer and longer pauses', async () => {
    const made = await started(2);
    made.forked[0]?.hang();
    for (const successor of [2, 3, 4]) {
      const before = Date.now();
      while (made.forked.length === successor) await vi.advanceTimersByTimeAsync(100);
      expect(Date.now() - before).toBeLessThanOrEqual(supervisorLimits.longestPauseMs);
      if (successor < 4) made.forked[successor]?.die(1, null);
      else made.forked[successor]?.ready();
      await settle();
    }
    expect([made.forked[0]?.told, serving(made).sort()]).toEqual([['retire'], [2, 5]]);
    made.forked[0]?.die(0, null);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(made.forked).toHaveLength(5);
  });

  test('of one that hangs is left to the roll that is under way, and asked for again when that was given up', async () => {
    const made = await started(1);
    void made.supervisor.roll();
    await settle();
    made.forked[0]?.hang();
    await settle();
    expect(made.forked).toHaveLength(2);
    made.forked[1]?.die(1, null);
    await vi.advanceTimersByTimeAsync(supervisorLimits.longestPauseMs);
    expect(made.forked).toHaveLength(3);
    void made.supervisor.stop();
    made.forked[2]?.die(1, null);
    await vi.advanceTimersByTimeAsync(2 * supervisorLimits.longestPauseMs);
    expect(made.forked).toHaveLength(3);
  });
});

describe('a stop', () => {
  test('asks every process, the one that starts too, replaces none, and says whether all ended in order', async () => {
    const made = await started(2);
    void made.supervisor.roll();
    await settle();
    const stopped = made.supervisor.stop();
    await settle();
    expect(made.forked.map(({ told }) => told)).toEqual([['SIGTERM'], ['SIGTERM'], ['SIGTERM']]);
    for (const process of made.forked.slice(0, 2)) process.die(0, null);
    await vi.advanceTimersByTimeAsync(supervisorLimits.stopMs + 1);
    expect(made.forked[2]?.told).toEqual(['SIGTERM', 'SIGKILL']);
    expect([await stopped, made.forked.length]).toEqual([false, 3]);
  });

  test('is in order although it came in the middle of a roll: a process that was still starting had accepted nothing', async () => {
    const made = await started(2);
    void made.supervisor.roll();
    await settle();
    const stopped = made.supervisor.stop();
    for (const process of made.forked.slice(0, 2)) process.die(0, null);
    made.forked[2]?.die(null, 'SIGTERM');
    expect(await stopped).toBe(true);
    // One that served and did not end by itself is another matter.
    const other = await started(1);
    const cut = other.supervisor.stop();
    other.forked[0]?.die(null, 'SIGTERM');
    expect(await cut).toBe(false);
  });

  test('during a start ends the start', async () => {
    const made = world(2);
    const starting = made.supervisor.start();
    const stopped = made.supervisor.stop();
    for (const process of made.forked) process.die(null, 'SIGTERM');
    await starting;
    expect(await stopped).toBe(true);
    expect(made.forked).toHaveLength(2);
  });
});
