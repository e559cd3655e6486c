// Who a key belongs to, without asking the database at every request: a bounded cache by the hash of the secret.
// Never holds a secret and never caches that a key is unknown; whether a key still holds is judged at each use, not here.

import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ApiKey } from '../domain/api-key.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Database } from '../store/database.ts';

/** How long an entry is believed, from when its look-up began: under the second that a revocation may take, with or without a notification. */
export const MAX_ENTRY_AGE_MS = 900;
/** From this age on an entry that is used is looked up again meanwhile, so that a busy key seldom waits for its look-up. */
const REFRESH_AGE_MS = 450;
/** About 10 MB at most; beyond it the oldest entry goes. */
export const MAX_ENTRIES = 20_000;
/** Look-ups in one query. */
const MAX_BATCH = 500;
/** How often a cache without requests asks whether notifications still arrive: sooner than a lost connection can be back. */
export const WATCH_INTERVAL_MS = 50;

export interface KeyCache {
  /** The key with this secret: at once when it is cached, otherwise after a look-up; null when there is none. */
  find(secret: string): ApiKey | Promise<ApiKey | null>;
  /** Whose key this was when it was last looked up, however long ago; null when that is not known. Nobody is let in for it. */
  workspaceOf(secret: string): Uuid | null;
  /** Forgets one key, for example because it was revoked. */
  invalidate(workspaceId: string, keyId: string): void;
  /** Forgets all, for example because notifications may have been missed. */
  clear(): void;
  /** Ends the watch over notifications. Left out, it ends with the process, which it does not keep alive. */
  close(): void;
}

export interface KeyCacheOptions {
  /** The keys with these hashes, in any order; unknown hashes are left out. One query. */
  readonly lookUp: (hashes: Buffer[]) => Promise<ApiKey[]>;
  readonly database: Pick<Database, 'isListening'>;
  readonly now: () => number;
}

interface Entry {
  readonly key: ApiKey;
  readonly storedAt: number;
}

interface Waiting {
  readonly digest: string;
  readonly resolve: (key: ApiKey | null) => void;
  readonly reject: (error: unknown) => void;
}

/** A look-up under way, for whoever asks for the same key meanwhile: as good as an entry of the time at which it was asked for. */
interface LookUp {
  readonly askedAt: number;
  readonly generation: number;
  readonly found: Promise<ApiKey | null>;
}

/** A refresh that failed has cost nothing: whoever needs the key next asks again and is told. */
const ignore = (): void => {};

export function createKeyCache({ lookUp, database, now }: KeyCacheOptions): KeyCache {
  const entries = new Map<string, Entry>();
  /** Rises whenever something is forgotten: a look-up that began before may carry what was just forgotten, and is not cached. */
  let generation = 0;
  let waiting: Waiting[] = [];
  const underWay = new Map<string, LookUp>();

  function clear(): void {
    generation += 1;
    entries.clear();
  }

  function store(digest: string, key: ApiKey, askedAt: number): void {
    const known = entries.get(digest);
    entries.delete(digest); // Put at the end, so that the first entry is always the oldest.
    // A key that has not changed stays the same object: a busy one is looked up twice a second, and all that is kept must be collected one day.
    entries.set(digest, { key: known !== undefined && isDeepStrictEqual(known.key, key) ? known.key : key, storedAt: askedAt });
    if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value as string);
  }

  async function run(batch: readonly Waiting[]): Promise<void> {
    const startedIn = generation;
    const askedAt = now();
    const heard = database.isListening();
    const digests = [...new Set(batch.map(({ digest }) => digest))];
    try {
      const found = new Map<string, ApiKey>();
      for (const key of await lookUp(digests.map((digest) => Buffer.from(digest, 'base64')))) found.set(key.hash.toString('base64'), key);
      if (heard && database.isListening() && startedIn === generation) for (const [digest, key] of found) store(digest, key, askedAt);
      for (const { digest, resolve } of batch) resolve(found.get(digest) ?? null);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  // A revocation that was missed while nobody asked must not be believed away once notifications are back.
  const watch = setInterval(() => {
    if (!database.isListening()) clear();
  }, WATCH_INTERVAL_MS);
  watch.unref();

  /** Every look-up that came up in the same turn of the event loop shares one query. */
  function flush(): void {
    const all = waiting;
    waiting = [];
    for (let at = 0; at < all.length; at += MAX_BATCH) void run(all.slice(at, at + MAX_BATCH));
  }

  function ask(digest: string): Promise<ApiKey | null> {
    const same = underWay.get(digest);
    // A slow database would otherwise be asked for the same key once in every turn of the event loop.
    if (same !== undefined && same.generation === generation && Math.abs(now() - same.askedAt) < MAX_ENTRY_AGE_MS) return same.found;
    const found = new Promise<ApiKey | null>((resolve, reject) => {
      if (waiting.push({ digest, resolve, reject }) === 1) setImmediate(flush);
    });
    const lookUpOfIt: LookUp = { askedAt: now(), generation, found };
    underWay.set(digest, lookUpOfIt);
    const over = (): void => {
      if (underWay.get(digest) === lookUpOfIt) underWay.delete(digest);
    };
    found.then(over, over);
    return found;
  }

  return {
    find(secret) {
      const digest = hash('sha256', secret, 'base64');
      const entry = entries.get(digest);
      if (!database.isListening()) {
        clear(); // A revocation may pass unheard from here on.
      } else if (entry !== undefined) {
        const ageMs = now() - entry.storedAt;
        // Below 0 the clock was set back, and how old the entry is, nobody knows.
        const isBelieved = ageMs >= 0 && ageMs < MAX_ENTRY_AGE_MS;
        if (isBelieved && ageMs >= REFRESH_AGE_MS && !underWay.has(digest)) ask(digest).catch(ignore);
        if (isBelieved) return entry.key;
      }
      return ask(digest);
    },
    workspaceOf: (secret) => entries.get(hash('sha256', secret, 'base64'))?.key.workspaceId ?? null,
    invalidate(workspaceId, keyId) {
      generation += 1;
      for (const [digest, { key }] of entries) if (key.id === keyId && key.workspaceId === workspaceId) entries.delete(digest);
    },
    clear,
    close: () => clearInterval(watch),
  };
}
