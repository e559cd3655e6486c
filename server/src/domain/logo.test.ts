// Which bytes are a logo: whole PNG and JPEG images of bounded size, and nothing that only begins like one.
// Pure.

import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jpegOf, jpegSegment, PNG_SIGNATURE, pngChunk, pngOf } from '../../test/support/pictures.ts';
import { MAX_LOGO_BYTES, readLogo } from './logo.ts';

describe('a logo', () => {
  test.each([0, 2, 3, 4, 6] as const)('is a PNG of colour type %i', (colour) => {
    expect(readLogo(pngOf(30, 20, { colour }))).toMatchObject({ contentType: 'image/png', width: 30, height: 20 });
  });

  test('is a JPEG', () => {
    expect(readLogo(jpegOf(640, 480))).toMatchObject({ contentType: 'image/jpeg', width: 640, height: 480 });
  });

  test('keeps of a PNG the picture and what it is made of, and of a JPEG no notes', () => {
    const palette = pngChunk('PLTE', Buffer.alloc(6));
    const seeThrough = pngChunk('tRNS', Buffer.from([0, 255]));
    const text = pngChunk('tEXt', Buffer.from('Author\0Ada'));
    const animation = pngChunk('acTL', Buffer.alloc(8, 255));
    const plain = pngOf(2, 1, { colour: 3, before: Buffer.concat([palette, seeThrough]), pixels: Buffer.from([0, 0, 1]) });
    const noisy = pngOf(2, 1, {
      colour: 3,
      before: Buffer.concat([text, palette, text, seeThrough, animation]),
      pixels: Buffer.from([0, 0, 1]),
    });
    expect(readLogo(noisy)?.data).toEqual(plain);
    expect(readLogo(plain)?.data).toEqual(plain);
    const jpeg = jpegOf(8, 8);
    const place = jpegSegment(0xe1, Buffer.from('Exif\0\0 52.5 N 13.4 E'));
    const noted = Buffer.concat([jpeg.subarray(0, 2), place, jpegSegment(0xfe, Buffer.from('by Ada')), jpeg.subarray(2)]);
    expect(readLogo(noted)?.data).toEqual(jpeg);
  });

  const png = pngOf(30, 20);
  const jpeg = jpegOf(8, 8);
  const within = (segment: Buffer): Buffer => Buffer.concat([jpeg.subarray(0, 2), segment, jpeg.subarray(2)]);
  const scanned = (bytes: number[]): Buffer => Buffer.concat([jpeg.subarray(0, -2), Buffer.from(bytes), jpeg.subarray(-2)]);
  const transparent = (bytes: number): Buffer => pngChunk('tRNS', Buffer.alloc(bytes));
  const twice = pngChunk('PLTE', Buffer.alloc(6));
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
    ['a PNG with a chunk that nobody may leave out', pngOf(3, 3, { before: pngChunk('ABCD', Buffer.alloc(4)) })],
    ['a PNG with two headers', pngOf(3, 3, { before: png.subarray(8, 33) })],
    ['a PNG with two palettes', pngOf(3, 3, { colour: 3, before: Buffer.concat([twice, twice]) })],
    ['a PNG without its palette', pngOf(3, 3, { colour: 3, before: Buffer.alloc(0) })],
    ['a grey PNG with a palette', pngOf(3, 3, { colour: 0, before: twice })],
    ['a PNG with more transparency than palette', pngOf(3, 3, { colour: 3, before: Buffer.concat([twice, transparent(3)]) })],
    ['a PNG with transparency before its palette', pngOf(3, 3, { colour: 3, before: Buffer.concat([transparent(2), twice]) })],
    ['a PNG with one transparent colour', pngOf(3, 3, { colour: 2, before: transparent(6) })],
    ...[0xc3, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf].map((marker): [string, Buffer] => [
      `a JPEG with the marker ${marker.toString(16)} before its frame`,
      within(jpegSegment(marker, Buffer.alloc(9))),
    ]),
    ['a JPEG with two frames', within(jpeg.subarray(2, 15))],
    ['a JPEG with another frame behind a scan', scanned([...jpegSegment(0xc3, Buffer.alloc(9))])],
    ['a JPEG whose scan ends in the middle of a code', scanned([0xff])],
    ['a JPEG with bytes between its segments', within(Buffer.from([0]))],
    ['a JPEG with a segment longer than the file', within(Buffer.from([0xff, 0xe0, 0xff, 0xff]))],
    ['a JPEG without a scan', Buffer.concat([jpeg.subarray(0, 15), jpeg.subarray(-2)])],
    ['a JPEG with something behind it', Buffer.concat([jpeg, Buffer.from('<script>'), jpeg.subarray(-2)])],
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
