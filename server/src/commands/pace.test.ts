// How many commands may wait: as many as are done within the time, and never less than one batch.

import { expect, test } from 'vitest';
import { Pace } from './pace.ts';

test('as many batches may wait as end within the time', () => {
  const pace = new Pace(100, 256);
  pace.ended(256, 30, true);
  expect(pace.room(0)).toBe(3 * 256);
});

test('one batch always may, however slow the lane is: smaller ones would only make it slower', () => {
  const pace = new Pace(100, 256);
  pace.ended(256, 900, true);
  expect(pace.room(0)).toBe(256);
  expect(pace.leastRoom).toBe(256);
});

test('a batch that is under way for long is noticed before it ends', () => {
  const pace = new Pace(100, 256);
  pace.ended(256, 10, true);
  expect([pace.room(0), pace.room(400)]).toEqual([10 * 256, 256]);
});

test('small batches say nothing of what a full one takes', () => {
  const pace = new Pace(100, 256);
  pace.ended(256, 20, true);
  for (let i = 0; i < 100; i++) pace.ended(1, 90, false);
  expect(pace.room(0)).toBe(5 * 256);
});

test('where commands are large a batch holds fewer of them, and fewer may wait', () => {
  const pace = new Pace(100, 256);
  for (let i = 0; i < 40; i++) pace.ended(20, 50, true);
  expect(pace.room(0)).toBeCloseTo(2 * 20, 0);
});

test('a batch that takes more than a full one was thought to shows that commands have become smaller', () => {
  const pace = new Pace(100, 256);
  for (let i = 0; i < 40; i++) pace.ended(20, 100, true);
  expect(pace.room(0)).toBeCloseTo(20, 0);
  for (let i = 0; i < 40; i++) pace.ended(50, 10, false);
  expect(pace.room(0)).toBeGreaterThan(5 * 49);
});
