// Short texts as bytes: read back as they were put, each in its own place.
// Pure.

import { expect, test } from 'vitest';
import { ShortTexts } from './short-texts.ts';

test('a text is read back until another takes its place, and cut off at 48 characters', () => {
  const texts = new ShortTexts(3);
  texts.put(0, 'req_a_1');
  texts.put(1, 'x'.repeat(60));
  texts.put(2, '');
  expect([0, 1, 2].map((place) => texts.at(place))).toEqual(['req_a_1', 'x'.repeat(48), '']);
  texts.put(0, 'b');
  texts.put(1, 'req_b');
  expect([0, 1, 2].map((place) => texts.at(place))).toEqual(['b', 'req_b', '']);
});
