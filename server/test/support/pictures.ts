// Small images for tests, made from nothing: a PNG of any kind of pixel, and a JPEG's outline.
// Not for looking at.

import { crc32, deflateSync } from 'node:zlib';

export interface PngOptions {
  /** 0 grey, 2 RGB, 3 of a palette, 4 grey with alpha, 6 RGB with alpha. */
  readonly colour?: 0 | 2 | 3 | 4 | 6;
  readonly depth?: number;
  readonly interlaced?: boolean;
  /** The unfolded pixels instead of those that fit. */
  readonly pixels?: Buffer;
  /** Chunks between the header and the pixels; with colour 3, a palette where this is left out. */
  readonly before?: Buffer;
}

export function pngChunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), content]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

export const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const channels = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

export function pngOf(width: number, height: number, options: PngOptions = {}): Buffer {
  const { colour = 6, depth = 8, interlaced = false, pixels } = options;
  const palette = colour === 3 ? pngChunk('PLTE', Buffer.alloc(768, 90)) : Buffer.alloc(0);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, colour, 0, 0, interlaced ? 1 : 0], 8);
  const row = 1 + width * channels[colour];
  const rows = pixels ?? Buffer.from(Uint8Array.from({ length: height * row }, (_, i) => (i % row === 0 ? 0 : i % 251)));
  const chunks = [
    pngChunk('IHDR', header),
    options.before ?? palette,
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([PNG_SIGNATURE, ...chunks]);
}

/** A segment of a JPEG: its marker, its length and what it holds. */
export function jpegSegment(marker: number, content: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(content.length + 2, 2);
  return Buffer.concat([head, content]);
}

/** The segments of a JPEG with one component and no picture in it to speak of. */
export function jpegOf(width: number, height: number): Buffer {
  const frame = Buffer.from([0xff, 0xc0, 0, 11, 8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0]);
  const scan = Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x55]);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), frame, scan, Buffer.from([0xff, 0xd9])]);
}
