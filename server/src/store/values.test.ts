// Values that come from the database: what is kept of them keeps nothing else.
// Pure.

import { expect, test } from 'vitest';
import { textParsers } from './values.ts';

const parseBytes = textParsers.bytea as (text: string) => Buffer;

test('a hash has memory of its own, so that one that is kept keeps nothing else', () => {
  const hash = parseBytes(`\\x${'5a'.repeat(32)}`);
  expect(hash).toEqual(Buffer.alloc(32, 0x5a));
  expect(hash.buffer.byteLength).toBe(32);
});

test.each([0, 1, 63, 64, 65, 5_000, 100_000])('%i bytes are read as they were written', (size) => {
  const bytes = Buffer.from(Array.from({ length: size }, (_, i) => (i * 7) % 256));
  expect(parseBytes(`\\x${bytes.toString('hex')}`)).toEqual(bytes);
});
