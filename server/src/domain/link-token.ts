// Tokens that travel in a link: of an invitation and of the setting up of a server. Only their hash is kept.
// Pure: randomness is handed in.

import { createHash } from 'node:crypto';

const BYTES = 18;

/** 144 random bits after a word that says what it is for, so that somebody who finds one knows. */
export function makeLinkToken(kind: 'setup' | 'inv', random: (bytes: Uint8Array) => void): string {
  const bytes = new Uint8Array(BYTES);
  random(bytes);
  return `${kind}_${Buffer.from(bytes).toString('base64url')}`;
}

/** The token is random enough that a plain hash cannot be turned back. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();
