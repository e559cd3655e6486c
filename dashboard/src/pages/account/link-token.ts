// The token of a link that was printed or mailed: it stands after `#`, which browsers send to nobody.
// Reads only; what the token is worth, the server says.

/** `linkToken('setup_token')` of `/sign-up#setup_token=…`; null where there is none. */
export function linkToken(name: string): string | null {
  return new URLSearchParams(location.hash.slice(1)).get(name);
}
