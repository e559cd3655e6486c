// Decimal digits: the same as String's, for every whole number.
// Pure.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimal } from './decimal.ts';

test('writes a whole number as String does', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (number) => {
      expect(decimal(number)).toBe(String(number));
    }),
  );
});

test('keeps the zeros within', () => {
  const texts = ['0', '7', '999', '1000', '1000007', '2000000000', '9007199254740991'];
  expect(texts.map((text) => decimal(Number(text)))).toEqual(texts);
});
