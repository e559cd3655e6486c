// The names of our cookies, and reading one out of a Cookie header.
// Says nothing of what they are worth.

/** Over plain http, and behind a proxy that PUBLIC_URL does not tell of. */
export const SESSION_COOKIE = 'tranche_session';

/** Browsers keep a cookie of this name to https, to this very host and to the whole of it. */
export const SECURE_SESSION_COOKIE = `__Host-${SESSION_COOKIE}`;

/** The value of the first cookie of this name; null where there is none. */
export function cookieIn(header: string, name: string): string | null {
  for (const part of header.split(';')) {
    const at = part.indexOf('=');
    if (at !== -1 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return null;
}
