// What statements that share a connection may rely on: bounds, one release, and a failure of their own.
// Touches no database.

import { expect, test, vi } from 'vitest';
import { SharedRides } from './shared-rides.ts';

interface Answer {
  readonly text: string;
  readonly lease: number;
  resolve(rows: never[]): void;
  reject(error: unknown): void;
}

function start({ leaseFails = false } = {}) {
  const answers: Answer[] = [];
  const released: [lease: number, spoilt: boolean][] = [];
  let leases = 0;
  const rides = new SharedRides<number>({
    lease: async () => {
      leases += 1;
      if (leaseFails) throw new Error('no connection');
      return leases;
    },
    run: (lease, text) => new Promise((resolve, reject) => void answers.push({ text, lease, resolve, reject })),
    release: (lease, spoilt) => void released.push([lease, spoilt]),
    spoils: (error) => error instanceof Error && error.message === 'spoilt',
  });
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return { rides, answers, released, turn, leases: () => leases };
}

test('statements of one turn share a connection, four at most, which is given back once, after the last answer', async () => {
  const { rides, answers, released, turn } = start();
  const asked = ['a', 'b', 'c', 'd', 'e'].map((text) => rides.query(text));
  await turn();
  expect(answers.map(({ text, lease }) => [text, lease])).toEqual([
    ['a', 1],
    ['b', 1],
    ['c', 1],
    ['d', 1],
    ['e', 2],
  ]);
  for (const { resolve } of answers.slice(0, 3)) resolve([]);
  await turn();
  expect(released).toEqual([]);
  for (const { resolve } of answers.slice(3)) resolve([]);
  await Promise.all(asked);
  await vi.waitFor(() =>
    expect(released).toEqual([
      [1, false],
      [2, false],
    ]),
  );
});

test('a statement of a later turn takes a connection of its own, and one that was answered at once leaves room for others of its turn', async () => {
  const { rides, answers, released, turn } = start();
  const first = rides.query('a');
  await Promise.resolve();
  answers[0]?.resolve([]);
  await first;
  const second = rides.query('b');
  await turn();
  const third = rides.query('c');
  await turn();
  expect(answers.map(({ lease }) => lease)).toEqual([1, 1, 2]);
  expect(released).toEqual([]);
  for (const { resolve } of answers) resolve([]);
  await Promise.all([second, third]);
  await vi.waitFor(() => expect(released.map(([lease]) => lease)).toEqual([1, 2]));
});

test('one that fails fails alone, and a failure that spoils the connection is told when it is given back', async () => {
  const { rides, answers, released, turn } = start();
  const asked = [rides.query('a'), rides.query('b')];
  await turn();
  answers[0]?.reject(new Error('spoilt'));
  answers[1]?.resolve([]);
  expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  await vi.waitFor(() => expect(released).toEqual([[1, true]]));
});

test('without a connection every rider is told, nothing is given back, and the next turn tries again', async () => {
  const { rides, released, turn, leases } = start({ leaseFails: true });
  expect((await Promise.allSettled([rides.query('a'), rides.query('b')])).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await turn();
  await expect(rides.query('c')).rejects.toThrow('no connection');
  await turn();
  expect(released).toEqual([]);
  expect(leases()).toBe(2);
});
