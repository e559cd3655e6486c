// What an authenticator reckons, for tests: six digits by RFC 6238, of a moment that the test chooses.
// Only for tests; the server has its own.

import { createHmac } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const PERIOD_MS = 30_000;

function bytesOf(base32: string): Buffer {
  let bits = '';
  for (const letter of base32.replace(/[\s=]/g, '').toUpperCase()) bits += ALPHABET.indexOf(letter).toString(2).padStart(5, '0');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** `periodsLater` 1: the code that comes next, which clocks that differ a little make good already. */
export function totpCode(secret: string, periodsLater = 0): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / PERIOD_MS) + periodsLater));
  const digest = createHmac('sha1', bytesOf(secret)).update(counter).digest();
  const offset = (digest.at(-1) as number) & 0x0f;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
