// Bursts are borne, a lasting line is not, and once it is known to last nobody waits for it to be noticed again.

import { expect, test } from 'vitest';
import { Patience } from './patience.ts';

test('a burst that is over within the grace is borne, however often there is one', () => {
  const patience = new Patience(100);
  for (let burst = 0; burst < 5; burst++) for (let ms = 0; ms < 100; ms += 10) expect(patience.isAtItsEnd(burst * 2_000 + ms)).toBe(false);
});

test('what lasts longer is not borne, and not anew after a moment of relief', () => {
  const patience = new Patience(100);
  patience.isAtItsEnd(0);
  expect([patience.isAtItsEnd(99), patience.isAtItsEnd(100)]).toEqual([false, true]);
  expect(patience.isAtItsEnd(1_000)).toBe(true);
  expect(patience.isAtItsEnd(3_000)).toBe(false);
});
