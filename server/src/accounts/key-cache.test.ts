// The cache of keys: fast where it may be trusted, silent about what it must not remember, and bounded.

import { describe, expect, test, vi } from 'vitest';
import { type ApiKey, hashKeySecret } from '../domain/api-key.ts';
import { createKeyCache, MAX_ENTRIES, MAX_ENTRY_AGE_MS, WATCH_INTERVAL_MS } from './key-cache.ts';

function makeKey(secret: string, id = secret): ApiKey {
  return {
    id,
    workspaceId: 'w',
    name: secret,
    hash: hashKeySecret(secret),
    hint: '',
    scopes: [],
    expiresAt: null,
    revokedAt: null,
    createdAt: new Date(0),
  };
}

/** A cache over keys in memory, whose look-ups are counted and can be held back. */
function setUp(...secrets: string[]) {
  const keys = new Map(secrets.map((secret) => [secret, makeKey(secret)]));
  const state = { now: 0, listening: true, lookUps: [] as number[], hold: null as Promise<void> | null, error: null as Error | null };
  const cache = createKeyCache({
    async lookUp(hashes) {
      state.lookUps.push(hashes.length);
      const found = [...keys.values()].filter((key) => hashes.some((hash) => hash.equals(key.hash)));
      await state.hold;
      if (state.error !== null) throw state.error;
      return found;
    },
    database: { isListening: () => state.listening },
    now: () => state.now,
  });
  return { cache, keys, state };
}

describe('a hit', () => {
  test('is answered at once, without a promise and without a query', async () => {
    const { cache, state } = setUp('a');
    const first = cache.find('a');
    expect(first).toBeInstanceOf(Promise);
    expect((await first)?.name).toBe('a');
    expect(cache.find('a')).toMatchObject({ name: 'a' });
    expect(state.lookUps).toEqual([1]);
  });

  test('ends with the age of the entry', async () => {
    const { cache, state } = setUp('a');
    await cache.find('a');
    state.now = MAX_ENTRY_AGE_MS - 1;
    expect(cache.find('a')).not.toBeInstanceOf(Promise);
    state.now = MAX_ENTRY_AGE_MS;
    await cache.find('a');
    expect(state.lookUps).toEqual([1, 1]);
  });

  test('ends when the clock is set back: an entry of the future would be believed until then', async () => {
    const { cache, state } = setUp('a');
    state.now = 3_600_000;
    await cache.find('a');
    state.now = 0;
    expect(cache.find('a')).toBeInstanceOf(Promise);
    expect(cache.find('a')).toBeInstanceOf(Promise);
    await cache.find('a');
    expect(cache.find('a')).not.toBeInstanceOf(Promise);
  });
});

describe('a key that is looked up again', () => {
  test('stays the same object as long as nothing of it has changed', async () => {
    const { cache, keys, state } = setUp('a');
    const first = await cache.find('a');
    const again = async (secret: string): Promise<ApiKey> => {
      state.now += MAX_ENTRY_AGE_MS;
      await cache.find(secret);
      return cache.find(secret) as ApiKey;
    };
    keys.set('a', makeKey('a'));
    expect(await again('a')).toBe(first);
    keys.set('a', { ...makeKey('a'), revokedAt: new Date(5) });
    const revoked = await again('a');
    expect(revoked.revokedAt).toEqual(new Date(5));
    keys.set('a', { ...makeKey('a'), scopes: ['payments:read'] });
    expect(await again('a')).toMatchObject({ revokedAt: null, scopes: ['payments:read'] });
  });
});

describe('a look-up under way', () => {
  test('is shared by whoever asks for the same key meanwhile, in whatever turn of the event loop', async () => {
    const { cache, state } = setUp('a');
    const held = Promise.withResolvers<void>();
    state.hold = held.promise;
    const finds = [cache.find('a')];
    for (let turn = 0; turn < 5; turn++) {
      await new Promise(setImmediate);
      finds.push(cache.find('a'));
    }
    held.resolve();
    for (const found of await Promise.all(finds)) expect(found?.name).toBe('a');
    expect(state.lookUps).toEqual([1]);
  });

  test('is not shared by whoever asks after the key was revoked', async () => {
    const { cache, keys, state } = setUp('a');
    const held = Promise.withResolvers<void>();
    state.hold = held.promise;
    const before = cache.find('a');
    await new Promise(setImmediate);
    keys.delete('a');
    cache.invalidate('w', 'a');
    const after = cache.find('a');
    held.resolve();
    expect((await before)?.name).toBe('a');
    expect(await after).toBeNull();
  });

  test('refreshes an entry that is half its age, while the entry still answers', async () => {
    const { cache, state } = setUp('a');
    await cache.find('a');
    state.now = MAX_ENTRY_AGE_MS / 2;
    expect(cache.find('a')).not.toBeInstanceOf(Promise);
    expect(cache.find('a')).not.toBeInstanceOf(Promise);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    state.now = MAX_ENTRY_AGE_MS + 1;
    expect(cache.find('a')).not.toBeInstanceOf(Promise);
    expect(state.lookUps).toEqual([1, 1]);
  });
});

describe('a miss', () => {
  test('is never remembered, so that a key works from the moment it exists', async () => {
    const { cache, keys } = setUp();
    expect(await cache.find('new')).toBeNull();
    keys.set('new', makeKey('new'));
    expect(await cache.find('new')).toMatchObject({ name: 'new' });
  });

  test('shares one query with all look-ups of the same turn, each secret asked for once', async () => {
    const { cache, state } = setUp('a', 'b');
    const found = await Promise.all(['a', 'b', 'a', 'unknown'].map((secret) => cache.find(secret)));
    expect(found.map((key) => key?.name)).toEqual(['a', 'b', 'a', undefined]);
    expect(state.lookUps).toEqual([3]);
  });

  test('passes a failed query on to everyone who waited, and asks again next time', async () => {
    const { cache, state } = setUp('a');
    state.error = new Error('down');
    const outcomes = await Promise.allSettled([cache.find('a'), cache.find('a')]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected']);
    state.error = null;
    expect(await cache.find('a')).toMatchObject({ name: 'a' });
  });
});

describe('forgetting', () => {
  test('an invalidated key is looked up again, others are not', async () => {
    const { cache, state } = setUp('a', 'b');
    await Promise.all([cache.find('a'), cache.find('b')]);
    cache.invalidate('w', 'a');
    expect(cache.find('b')).not.toBeInstanceOf(Promise);
    expect(cache.find('a')).toBeInstanceOf(Promise);
    cache.invalidate('another workspace', 'b');
    expect(cache.find('b')).not.toBeInstanceOf(Promise);
    cache.clear();
    expect(cache.find('b')).toBeInstanceOf(Promise);
    expect(state.lookUps).toEqual([2]);
  });

  test('a look-up that was under way during an invalidation is answered and not kept', async () => {
    const { cache, keys, state } = setUp('a');
    const gate = Promise.withResolvers<void>();
    state.hold = gate.promise;
    const stale = cache.find('a');
    await new Promise(setImmediate);
    keys.set('a', { ...makeKey('a'), revokedAt: new Date(0) });
    cache.invalidate('w', 'a');
    gate.resolve();
    expect((await stale)?.revokedAt).toBeNull();
    const fresh = cache.find('a');
    expect(fresh).toBeInstanceOf(Promise);
    expect((await fresh)?.revokedAt).toEqual(new Date(0));
  });

  test('while notifications do not arrive nothing is trusted, and nothing from before is trusted after', async () => {
    const { cache, state } = setUp('a');
    await cache.find('a');
    state.listening = false;
    await cache.find('a');
    await cache.find('a');
    state.listening = true;
    expect(cache.find('a')).toBeInstanceOf(Promise);
    expect(state.lookUps).toEqual([1, 1, 1]);
  });

  test('a gap in the notifications is noticed even when nobody asks for a key meanwhile', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const { cache, state } = setUp('a');
      await cache.find('a');
      state.listening = false;
      vi.advanceTimersByTime(WATCH_INTERVAL_MS);
      state.listening = true;
      expect(cache.find('a')).toBeInstanceOf(Promise);
      cache.close();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test('what was looked up without notifications is not kept for when they are back', async () => {
    const { cache, state } = setUp('a');
    state.listening = false;
    const gate = Promise.withResolvers<void>();
    state.hold = gate.promise;
    const found = cache.find('a');
    await new Promise(setImmediate);
    state.listening = true;
    gate.resolve();
    await found;
    expect(cache.find('a')).toBeInstanceOf(Promise);
  });
});

test('the cache is bounded: the oldest entry goes first', async () => {
  const secrets = Array.from({ length: MAX_ENTRIES + 1 }, (_, i) => `s${i}`);
  const byHash = new Map(secrets.map((secret) => [hashKeySecret(secret).toString('hex'), makeKey(secret)]));
  const cache = createKeyCache({
    lookUp: async (hashes) => hashes.map((hash) => byHash.get(hash.toString('hex')) as ApiKey),
    database: { isListening: () => true },
    now: () => 0,
  });
  await Promise.all(secrets.map((secret) => cache.find(secret)));
  expect(cache.find('s0')).toBeInstanceOf(Promise);
  expect(cache.find('s1')).not.toBeInstanceOf(Promise);
});
