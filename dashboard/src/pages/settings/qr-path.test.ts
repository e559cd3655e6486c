// The QR code holds what it was made of: it is painted and read back by a decoder.

import { decodeQR } from 'qr/decode.js';
import { expect, test } from 'vitest';
import { qrPath } from './qr-path.ts';

const SCALE = 4;

/** Paints the path the way a browser would, in black on white. */
function paint({ size, path }: ReturnType<typeof qrPath>): { width: number; height: number; data: Uint8Array } {
  const width = size * SCALE;
  const data = new Uint8Array(width * width * 4).fill(255);
  for (const [, x, y, length] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g))
    for (let row = Number(y) * SCALE; row < (Number(y) + 1) * SCALE; row++)
      for (let column = Number(x) * SCALE; column < (Number(x) + Number(length)) * SCALE; column++)
        data.set([0, 0, 0], (row * width + column) * 4);
  return { width, height: width, data };
}

test('what is painted is read back, short and long', () => {
  for (const text of ['a', `otpauth://totp/Tranche:ada@example.com?secret=${'JBSWY3DP'.repeat(6)}&issuer=Tranche&digits=6&period=30`])
    expect(decodeQR(paint(qrPath(text)))).toBe(text);
});
