// Which bytes are a logo: whole PNG and JPEG images of bounded size, and nothing that only begins like one.
// Pure.

import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jpegOf, PNG_SIGNATURE, pngChunk, pngOf } from '../../test/support/pictures.ts';
import { MAX_LOGO_BYTES, readLogo } from './logo.ts';

describe('a logo', () => {
  test.each([0, 2, 4, 6] as const)('is a PNG of colour type %i', (colour) => {
    expect(readLogo(pngOf(30, 20, { colour }))).toMatchObject({ contentType: 'image/png', width: 30, height: 20 });
  });

  test('is a JPEG', () => {
    expect(readLogo(jpegOf(640, 480))).toMatchObject({ contentType: 'image/jpeg', width: 640, height: 480 });
  });

  const png = pngOf(30, 20);
  const bomb = Buffer.alloc(1024 * 1024 * 32);
  test.each([
    ['nothing', Buffer.alloc(0)],
    ['a text', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')],
    ['a PNG that is cut short', png.subarray(0, -5)],
    ['a PNG with something behind it', Buffer.concat([png, Buffer.from('<script>')])],
    ['a PNG with a wrong checksum', Buffer.from(png.map((byte, i) => (i === 45 ? byte ^ 1 : byte)))],
    ['a PNG wider than pages print', pngOf(1025, 1)],
    ['a PNG without pixels', pngOf(1, 1, { pixels: Buffer.alloc(0) })],
    ['a PNG with fewer pixels than it says', pngOf(30, 20, { pixels: Buffer.alloc(100) })],
    ['a PNG that unfolds to more than it says', pngOf(30, 20, { pixels: bomb })],
    ['a PNG with a filter that does not exist', pngOf(1, 1, { colour: 0, pixels: Buffer.from([5, 0]) })],
    ['an interlaced PNG', pngOf(30, 20, { interlaced: true })],
    ['a PNG of 16 bits', pngOf(30, 20, { depth: 16 })],
    [
      'a PNG without a header',
      Buffer.concat([PNG_SIGNATURE, pngChunk('IDAT', deflateSync(Buffer.alloc(9))), pngChunk('IEND', Buffer.alloc(0))]),
    ],
    ['a JPEG that is cut short', jpegOf(8, 8).subarray(0, -2)],
    ['a JPEG without a frame', Buffer.from('ffd8ffd9', 'hex')],
    ['a JPEG that is too large', jpegOf(8, 2000)],
    ['a JPEG of no width', jpegOf(0, 8)],
    ['more bytes than a logo has', Buffer.concat([png, Buffer.alloc(MAX_LOGO_BYTES)])],
  ])('is not %s', (_what, data) => {
    expect(readLogo(data)).toBeNull();
  });

  test('is decided on without a throw, whatever the bytes', () => {
    const spoiled = fc.tuple(fc.constantFrom(png, jpegOf(8, 8)), fc.nat(200), fc.nat(255)).map(([image, at, byte]) => {
      const copy = Buffer.from(image);
      copy[at % copy.length] = byte;
      return copy;
    });
    fc.assert(
      fc.property(fc.oneof(spoiled, fc.uint8Array({ maxLength: 300 }).map(Buffer.from)), (data) => {
        readLogo(data);
      }),
      { numRuns: 500 },
    );
  });
});
