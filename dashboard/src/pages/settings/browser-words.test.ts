// What signed in, in words; what is not known is shown as it called itself.

import { expect, test } from 'vitest';
import { browserWords } from './browser-words.ts';

test('common browsers are named with their system', () => {
  const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
  expect(browserWords(chrome)).toBe('Chrome on Linux');
  expect(browserWords(`${chrome} Edg/140.0`)).toBe('Edge on Linux');
  expect(browserWords('Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Mobile Safari/604')).toBe(
    'Safari on iOS',
  );
});

test('anything else is shown as it is, cut where it is long', () => {
  expect(browserWords(null)).toBe('Unknown program');
  expect(browserWords('node')).toBe('node');
  expect(browserWords('<b>'.repeat(100))).toHaveLength(61);
});
