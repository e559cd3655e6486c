// Times on the wire: that they are what Date itself would write, whatever was written before.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatTimestamp } from './timestamp.ts';

test('a time is written as Date writes it, in any order of days and for any year', () => {
  fc.assert(
    fc.property(fc.array(fc.date({ noInvalidDate: true }), { minLength: 1, maxLength: 20 }), (times) => {
      expect(times.map(formatTimestamp)).toEqual(times.map((time) => time.toISOString()));
    }),
    { numRuns: 500 },
  );
});

test('the first and the last millisecond of a day are written on that day', () => {
  for (const text of ['2026-03-01T00:00:00.000Z', '2026-02-28T23:59:59.999Z', '1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00.000Z']) {
    expect(formatTimestamp(new Date(text))).toBe(text);
  }
});

test('an invalid time is refused and leaves the next one right', () => {
  expect(() => formatTimestamp(new Date(Number.NaN))).toThrow(RangeError);
  expect(formatTimestamp(new Date(0))).toBe('1970-01-01T00:00:00.000Z');
});
