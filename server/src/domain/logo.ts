// A logo as it was sent: whether the bytes are a whole PNG or JPEG image of a size that a page can carry, and what of them is kept.
// Pure. Whatever is taken here can be drawn: what a page does not need is left out, and what is unusual is refused.

import { hash } from 'node:crypto';
import { readJpeg } from './jpeg.ts';
import { readPng } from './png.ts';

export const logoTypes = ['image/png', 'image/jpeg'] as const;
export type LogoType = (typeof logoTypes)[number];

/** An image with nothing in it but the picture. */
export interface Picture {
  readonly contentType: LogoType;
  readonly width: number;
  readonly height: number;
  readonly data: Buffer;
}

export interface Logo extends Picture {
  /** SHA-256 of the bytes. */
  readonly hash: Buffer;
}

export const MAX_LOGO_BYTES = 128 * 1024;
/** In either direction. Bounds what an image unfolds to, whatever its file says. */
export const MAX_LOGO_PIXELS = 1024;

/** The logo that these bytes are; null when they are none. */
export function readLogo(data: Buffer): Logo | null {
  if (data.length > MAX_LOGO_BYTES) return null;
  const picture = readPng(data, MAX_LOGO_PIXELS) ?? readJpeg(data, MAX_LOGO_PIXELS);
  return picture === null ? null : { ...picture, hash: hash('sha256', picture.data, 'buffer') };
}
