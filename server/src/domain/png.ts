// A PNG as a page can carry it: taken apart chunk by chunk and put together anew from those that make the picture.
// Pure. Every checksum and all pixels are looked at; texts, profiles, animations and the like are left out of what is kept.

import { crc32, inflateSync } from 'node:zlib';
import type { Picture } from './logo.ts';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** Values of a pixel by the kind of colour: grey, RGB, palette, grey with alpha, RGB with alpha. */
const channelsOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const PALETTE = 3;

interface Chunk {
  readonly type: string;
  readonly content: Buffer;
}

interface Header {
  readonly width: number;
  readonly height: number;
  readonly colour: number;
  readonly channels: number;
}

/** Eight bits a channel and no interlacing: what every program writes, and what every reader of PNG understands. */
export function readPng(data: Buffer, maxPixels: number): Picture | null {
  const chunks = readChunks(data);
  const header = chunks?.[0] === undefined ? null : readHeader(chunks[0], maxPixels);
  if (chunks === null || header === null) return null;
  const kept = pictureOf(chunks.slice(1, -1), header);
  if (kept === null) return null;
  const pixels = Buffer.concat(kept.filter(({ type }) => type === 'IDAT').map(({ content }) => content));
  if (!unfolds(pixels, header)) return null;
  const tables = kept.filter(({ type }) => type !== 'IDAT');
  const whole = [chunks[0] as Chunk, ...tables, { type: 'IDAT', content: pixels }, chunks.at(-1) as Chunk];
  return { contentType: 'image/png', width: header.width, height: header.height, data: Buffer.concat([SIGNATURE, ...whole.map(written)]) };
}

/** All chunks to the end, which is the end of the file too; null where a length or a checksum is wrong. */
function readChunks(data: Buffer): Chunk[] | null {
  if (!data.subarray(0, 8).equals(SIGNATURE)) return null;
  const chunks: Chunk[] = [];
  for (let at = 8; at + 12 <= data.length; ) {
    const end = at + 12 + data.readUInt32BE(at);
    if (end > data.length || crc32(data.subarray(at + 4, end - 4)) !== data.readUInt32BE(end - 4)) return null;
    const chunk = { type: data.toString('latin1', at + 4, at + 8), content: data.subarray(at + 8, end - 4) };
    chunks.push(chunk);
    if (chunk.type === 'IEND') return end === data.length && chunk.content.length === 0 ? chunks : null;
    at = end;
  }
  return null;
}

function readHeader({ type, content }: Chunk, maxPixels: number): Header | null {
  if (type !== 'IHDR' || content.length !== 13) return null;
  const [width, height, colour] = [content.readUInt32BE(0), content.readUInt32BE(4), content[9] as number];
  const channels = channelsOf[colour];
  const isPlain = content[8] === 8 && content[10] === 0 && content[11] === 0 && content[12] === 0;
  const isPrintable = Math.min(width, height) >= 1 && Math.max(width, height) <= maxPixels;
  return isPlain && isPrintable && channels !== undefined ? { width, height, colour, channels } : null;
}

/**
 * The chunks between header and end that make the picture: a palette and its transparency where pixels are of a palette, then the pixels
 * in one run. One transparent colour of a picture without palette is refused, since pages would show it wrongly.
 */
function pictureOf(chunks: readonly Chunk[], { colour }: Header): Chunk[] | null {
  const kept: Chunk[] = [];
  let entries = 0;
  let last = '';
  for (const chunk of chunks) {
    const { type, content } = chunk;
    const hasPixels = kept.at(-1)?.type === 'IDAT';
    if (type === 'PLTE') {
      if (entries > 0 || hasPixels || colour === 0 || colour === 4) return null;
      if (content.length === 0 || content.length > 768 || content.length % 3 !== 0) return null;
      entries = content.length / 3;
      if (colour === PALETTE) kept.push(chunk);
    } else if (type === 'tRNS') {
      if (colour !== PALETTE || kept.at(-1)?.type !== 'PLTE' || content.length === 0 || content.length > entries) return null;
      kept.push(chunk);
    } else if (type === 'IDAT') {
      if (hasPixels && last !== 'IDAT') return null;
      kept.push(chunk);
    } else if (!isAncillary(type)) return null;
    last = type;
  }
  return colour === PALETTE && entries === 0 ? null : kept;
}

/** A small first letter: whoever does not know the chunk may leave it out. */
const isAncillary = (type: string): boolean => /^[a-z][A-Za-z]{3}$/.test(type);

function unfolds(pixels: Buffer, { width, height, channels }: Header): boolean {
  const row = 1 + width * channels;
  try {
    // Never unfolds to more than its header announces, which is bounded.
    const rows = inflateSync(pixels, { maxOutputLength: height * row });
    if (rows.length !== height * row) return false;
    for (let at = 0; at < rows.length; at += row) if ((rows[at] as number) > 4) return false;
    return true;
  } catch {
    return false;
  }
}

function written({ type, content }: Chunk): Buffer {
  const chunk = Buffer.alloc(12 + content.length);
  chunk.writeUInt32BE(content.length);
  chunk.write(type, 4, 'latin1');
  content.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  return chunk;
}
