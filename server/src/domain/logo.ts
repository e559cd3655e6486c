// A logo as it was sent: whether the bytes are a whole PNG or JPEG image of a size that a page can carry.
// Pure. Trusts no header: of a PNG every checksum and all its pixels are looked at, of a JPEG every segment, and nothing may follow.

import { hash } from 'node:crypto';
import { crc32, inflateSync } from 'node:zlib';

export const logoTypes = ['image/png', 'image/jpeg'] as const;
export type LogoType = (typeof logoTypes)[number];

export interface Logo {
  /** SHA-256 of the bytes. */
  readonly hash: Buffer;
  readonly contentType: LogoType;
  readonly width: number;
  readonly height: number;
  readonly data: Buffer;
}

export const MAX_LOGO_BYTES = 128 * 1024;
/** In either direction. Bounds what an image unfolds to, whatever its file says. */
export const MAX_LOGO_PIXELS = 1024;

type Frame = Pick<Logo, 'contentType' | 'width' | 'height'>;

/** The logo that these bytes are; null when they are none. */
export function readLogo(data: Buffer): Logo | null {
  if (data.length > MAX_LOGO_BYTES) return null;
  const frame = readPng(data) ?? readJpeg(data);
  if (frame === null || !isPrintable(frame.width) || !isPrintable(frame.height)) return null;
  return { ...frame, hash: hash('sha256', data, 'buffer'), data };
}

const isPrintable = (pixels: number): boolean => pixels >= 1 && pixels <= MAX_LOGO_PIXELS;

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** Values of a pixel by the kind of colour: grey, RGB, palette, grey with alpha, RGB with alpha. */
const channelsOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Eight bits a channel and no interlacing: what every program writes, and what every reader of PNG understands. */
function readPng(data: Buffer): Frame | null {
  if (!data.subarray(0, 8).equals(PNG_SIGNATURE)) return null;
  const pixels: Buffer[] = [];
  let header: Buffer | null = null;
  let hasPalette = false;
  for (let at = 8; at + 12 <= data.length; ) {
    const length = data.readUInt32BE(at);
    const end = at + 12 + length;
    if (end > data.length || crc32(data.subarray(at + 4, end - 4)) !== data.readUInt32BE(end - 4)) return null;
    const type = data.toString('latin1', at + 4, at + 8);
    const content = data.subarray(at + 8, end - 4);
    if (type === 'IHDR') {
      if (header !== null || at !== 8 || length !== 13) return null;
      header = content;
    } else if (type === 'PLTE') hasPalette = length > 0 && length <= 768 && length % 3 === 0;
    else if (type === 'IDAT') pixels.push(content);
    else if (type === 'IEND') return header !== null && end === data.length ? framePng(header, hasPalette, pixels) : null;
    at = end;
  }
  return null;
}

function framePng(header: Buffer, hasPalette: boolean, pixels: readonly Buffer[]): Frame | null {
  const [width, height, depth, colour] = [header.readUInt32BE(0), header.readUInt32BE(4), header[8], header[9] as number];
  const channels = channelsOf[colour];
  const isPlain = header[10] === 0 && header[11] === 0 && header[12] === 0;
  if (depth !== 8 || channels === undefined || !isPlain || (colour === 3 && !hasPalette)) return null;
  if (!isPrintable(width) || !isPrintable(height)) return null;
  const size = height * (1 + width * channels);
  try {
    // Never unfolds to more than its header announces, which is bounded above.
    const rows = inflateSync(Buffer.concat(pixels), { maxOutputLength: size });
    if (rows.length !== size) return null;
    for (let row = 0; row < height; row++) if ((rows[row * (1 + width * channels)] as number) > 4) return null;
    return { contentType: 'image/png', width, height };
  } catch {
    return null;
  }
}

/** Baseline, extended and progressive frames; the others are of no use to a reader of PDF. */
const jpegFrames = new Set([0xc0, 0xc1, 0xc2]);
const START_OF_SCAN = 0xda;

function readJpeg(data: Buffer): Frame | null {
  if (data.length < 4 || data.readUInt16BE(0) !== 0xffd8 || data.readUInt16BE(data.length - 2) !== 0xffd9) return null;
  let frame: Frame | null = null;
  for (let at = 2; at + 4 <= data.length; ) {
    const marker = data[at + 1] as number;
    const length = data.readUInt16BE(at + 2);
    const end = at + 2 + length;
    if (data[at] !== 0xff || marker < 0xc0 || length < 2 || end > data.length) return null;
    if (jpegFrames.has(marker)) {
      const components = data[at + 9];
      const isWhole = length >= 8 && data[at + 4] === 8 && length === 8 + 3 * (components ?? 0);
      if (frame !== null || !isWhole || (components !== 1 && components !== 3)) return null;
      frame = { contentType: 'image/jpeg', width: data.readUInt16BE(at + 7), height: data.readUInt16BE(at + 5) };
    }
    if (marker === START_OF_SCAN) return frame;
    at = end;
  }
  return null;
}
