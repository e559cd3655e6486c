// A QR code as one path of an SVG on a grid of modules, reckoned in the browser: the secret in it goes nowhere.
// Pure.

import { encodeQR } from 'qr';

export interface QrPath {
  /** Modules on each side, the quiet zone included. */
  readonly size: number;
  readonly path: string;
}

/** What the standard asks to be left free around the code. */
const QUIET_MODULES = 4;

export function qrPath(text: string): QrPath {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: QUIET_MODULES });
  let path = '';
  for (const [y, row] of rows.entries()) {
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue;
      const start = x;
      while (row[x + 1]) x++;
      path += `M${start} ${y}h${x - start + 1}v1h-${x - start + 1}z`;
    }
  }
  return { size: rows.length, path };
}
