// Whose a session is, without asking the database at every request: a small cache by the hash of the token, believed for less than a second.
// Never holds a token and never remembers that one is unknown. Whether the person may do something is judged elsewhere.

import { hashSessionToken } from '../store/identity-rows.ts';
import type { SessionOfPerson } from '../store/sessions.ts';

export type SignedInPerson = SessionOfPerson;

/** How long an entry is believed, from when its look-up began: under the second that a revocation or a change of role may take. */
export const MAX_ENTRY_AGE_MS = 900;
/** Beyond it the oldest entry goes. */
export const MAX_ENTRIES = 5_000;
/** Longer than any token of ours with its signature. */
const MAX_TOKEN_LENGTH = 256;

export interface SessionCache {
  /** Whose session this cookie is: at once when it is cached, otherwise after a look-up; null when there is none. */
  find(cookie: string): SignedInPerson | null | Promise<SignedInPerson | null>;
  /** Forgets everything: after a change of this process, so that its next request sees it. */
  clear(): void;
}

export interface SessionCacheOptions {
  readonly lookUp: (tokenHash: Buffer) => Promise<SignedInPerson | null>;
  readonly now: () => number;
}

/** The token in the value of a cookie: `<token>.<signature>`, percent-encoded. The token alone is what cannot be guessed. */
export function tokenOf(cookie: string): string | null {
  if (cookie.length > MAX_TOKEN_LENGTH) return null;
  const end = cookie.indexOf('.');
  const token = end === -1 ? cookie : cookie.slice(0, end);
  return /^[A-Za-z0-9_-]{20,128}$/.test(token) ? token : null;
}

export function createSessionCache({ lookUp, now }: SessionCacheOptions): SessionCache {
  const entries = new Map<string, { readonly person: SignedInPerson; readonly storedAt: number }>();
  const pending = new Map<string, Promise<SignedInPerson | null>>();
  /** Rises whenever everything is forgotten: a look-up that began before may carry what was just changed, and is not kept. */
  let generation = 0;

  async function ask(digest: string, tokenHash: Buffer): Promise<SignedInPerson | null> {
    const startedIn = generation;
    const askedAt = now();
    try {
      const person = await lookUp(tokenHash);
      if (person !== null && startedIn === generation) {
        entries.delete(digest);
        entries.set(digest, { person, storedAt: askedAt });
        if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value as string);
      }
      return person;
    } finally {
      if (startedIn === generation) pending.delete(digest);
    }
  }

  return {
    find(cookie) {
      const token = tokenOf(cookie);
      if (token === null) return null;
      const tokenHash = hashSessionToken(token);
      const digest = tokenHash.toString('base64');
      const entry = entries.get(digest);
      if (entry !== undefined && now() - entry.storedAt < MAX_ENTRY_AGE_MS) return entry.person;
      const running = pending.get(digest);
      if (running !== undefined) return running;
      const asked = ask(digest, tokenHash);
      pending.set(digest, asked);
      return asked;
    },
    clear() {
      generation += 1;
      entries.clear();
      pending.clear();
    },
  };
}
