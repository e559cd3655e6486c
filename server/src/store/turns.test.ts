// The order in which callers get the one connection of the embedded database, and the bound on how many may wait.

import { expect, test } from 'vitest';
import { DatabaseUnavailable } from './database.ts';
import { Turns } from './turns.ts';

test('one at a time has the turn, in the order of asking', async () => {
  const turns = new Turns();
  const seen: number[] = [];
  let holders = 0;
  const work = async (index: number): Promise<void> => {
    await turns.take();
    expect(++holders).toBe(1);
    await Promise.resolve();
    seen.push(index);
    holders--;
    turns.give();
  };
  await Promise.all(Array.from({ length: 50 }, (_, index) => work(index)));
  await Promise.all(Array.from({ length: 50 }, (_, index) => work(50 + index)));
  expect(seen).toEqual(Array.from({ length: 100 }, (_, index) => index));
});

test('beyond the bound nobody waits: the caller is told at once', async () => {
  const turns = new Turns();
  await turns.take();
  const waiting = Array.from({ length: 10_000 }, () => turns.take());
  await expect(turns.take()).rejects.toThrow(DatabaseUnavailable);
  for (const _ of waiting) turns.give();
  await Promise.all(waiting);
  turns.give();
  await turns.take();
});
