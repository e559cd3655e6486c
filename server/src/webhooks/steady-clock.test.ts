// The clock of the worker: it follows the database's and never the jumps of the machine's.

import { expect, test } from 'vitest';
import { createSteadyClock } from './steady-clock.ts';

test('follows the machine until it has heard the time of the database, then that, and no jump of the machine from then on', () => {
  let wallMs = 1_000_000;
  let uptimeMs = 500;
  const clock = createSteadyClock({ wall: () => wallMs, uptimeMs: () => uptimeMs });
  uptimeMs += 20;
  expect(clock.now().getTime()).toBe(1_000_020);
  clock.learn(new Date(2_000_000));
  wallMs += 86_400_000;
  uptimeMs += 30;
  expect(clock.now().getTime()).toBe(2_000_030);
  wallMs -= 3 * 86_400_000;
  uptimeMs += 30;
  expect(clock.now().getTime()).toBe(2_000_060);
});
