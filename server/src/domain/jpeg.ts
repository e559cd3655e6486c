// A JPEG as a page can carry it: one frame of a usual kind, its tables and scans to the very end, and nothing else.
// Pure. Walks every segment; the pixels themselves are the business of whoever shows the page.

import type { Picture } from './logo.ts';

const END = 0xd9;
const START_OF_SCAN = 0xda;
/** Baseline, extended and progressive frames; the others are of no use to a reader of PDF. */
const frames = new Set([0xc0, 0xc1, 0xc2]);
/** Tables for codes and for quantities, and the interval of restarts. */
const tables = new Set([0xc4, 0xdb, 0xdd]);
/** JFIF, and Adobe's word on how colours are written. */
const keptNotes = new Set([0xe0, 0xee]);
/** What else programs write down, such as the place where a photo was taken: left out of what is kept. */
const isNote = (marker: number): boolean => (marker >= 0xe0 && marker <= 0xef) || marker === 0xfe;

export function readJpeg(data: Buffer, maxPixels: number): Picture | null {
  if (data.length < 4 || data.readUInt16BE(0) !== 0xffd8) return null;
  const kept: Buffer[] = [data.subarray(0, 2)];
  let frame: { readonly width: number; readonly height: number } | null = null;
  let hasScan = false;
  for (let at = 2; at + 2 <= data.length; ) {
    const marker = data[at + 1] as number;
    if (data[at] !== 0xff) return null;
    if (marker === END) {
      if (frame === null || !hasScan || at + 2 !== data.length) return null;
      return { contentType: 'image/jpeg', ...frame, data: Buffer.concat([...kept, data.subarray(at)]) };
    }
    const end = at + 4 <= data.length ? at + 2 + data.readUInt16BE(at + 2) : Number.POSITIVE_INFINITY;
    if (end < at + 4 || end > data.length) return null;
    const segment = data.subarray(at, end);
    at = end;
    if (frames.has(marker)) {
      if (frame !== null) return null;
      frame = readFrame(segment, maxPixels);
      if (frame === null) return null;
    } else if (marker === START_OF_SCAN) {
      if (frame === null) return null;
      hasScan = true;
      const scanEnd = endOfScan(data, at);
      kept.push(segment, data.subarray(at, scanEnd));
      at = scanEnd;
      continue;
    } else if (isNote(marker)) {
      if (!keptNotes.has(marker)) continue;
    } else if (!tables.has(marker)) return null;
    kept.push(segment);
  }
  return null;
}

function readFrame(segment: Buffer, maxPixels: number): { width: number; height: number } | null {
  if (segment.length < 10 || segment[4] !== 8) return null;
  const [height, width, components] = [segment.readUInt16BE(5), segment.readUInt16BE(7), segment[9] as number];
  if ((components !== 1 && components !== 3) || segment.length !== 10 + 3 * components) return null;
  return Math.min(width, height) >= 1 && Math.max(width, height) <= maxPixels ? { width, height } : null;
}

/** Where the next marker stands: within a scan 0xff is followed by a zero, or it begins a restart. */
function endOfScan(data: Buffer, from: number): number {
  for (let at = data.indexOf(0xff, from); at !== -1; at = data.indexOf(0xff, at + 2)) {
    const next = data[at + 1];
    if (next !== 0 && (next === undefined || next < 0xd0 || next > 0xd7)) return at;
  }
  return data.length;
}
