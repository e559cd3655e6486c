// Days to moments: both days are whole, days that do not exist are no filter.

import { expect, test } from 'vitest';
import { momentsOf } from './period.ts';

test('the first and the last day are meant whole, in the zone of the viewer', () => {
  const { created_after, created_before } = momentsOf('2026-03-01', '2026-03-01');
  expect(new Date(Date.parse(created_after ?? '') + 1)).toEqual(new Date(2026, 2, 1));
  expect(new Date(created_before ?? '')).toEqual(new Date(2026, 2, 2));
});

test('the day after the last of a month is the first of the next', () => {
  expect(new Date(momentsOf(undefined, '2026-12-31').created_before ?? '')).toEqual(new Date(2027, 0, 1));
});

test.each(['', 'yesterday', '2026-02-30', '2026-13-01', '20260301'])('%j is no day, and filters nothing', (day) => {
  expect(momentsOf(day, day)).toEqual({});
});
