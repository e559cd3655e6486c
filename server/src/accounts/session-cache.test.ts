// The cache of sessions: short, bounded, and silent about what it must not remember.

import { expect, test } from 'vitest';
import { createSessionCache, MAX_ENTRIES, MAX_ENTRY_AGE_MS, type SignedInPerson, tokenOf } from './session-cache.ts';

const token = (n: number): string => `token${String(n).padStart(20, '0')}`;

function setUp() {
  const state = { now: 0, lookUps: 0, known: true, hold: null as Promise<void> | null };
  const cache = createSessionCache({
    async lookUp(tokenHash) {
      state.lookUps += 1;
      const { known } = state;
      await state.hold;
      return known ? ({ sessionId: tokenHash.toString('hex') } as SignedInPerson) : null;
    },
    now: () => state.now,
  });
  return { cache, state };
}

test('a session is looked up once for all who ask at once, and again when the entry is old', async () => {
  const { cache, state } = setUp();
  const [one, other] = await Promise.all([cache.find(token(1)), cache.find(`${token(1)}.signature`)]);
  expect(one).toEqual(other);
  expect(cache.find(token(1))).not.toBeInstanceOf(Promise);
  expect(state.lookUps).toBe(1);
  state.now = MAX_ENTRY_AGE_MS;
  await cache.find(token(1));
  expect(state.lookUps).toBe(2);
});

test('that a session is unknown is never remembered', async () => {
  const { cache, state } = setUp();
  state.known = false;
  expect(await cache.find(token(1))).toBeNull();
  state.known = true;
  expect(await cache.find(token(1))).not.toBeNull();
});

test('what was being looked up when everything was forgotten is not kept', async () => {
  const { cache, state } = setUp();
  const gate = Promise.withResolvers<void>();
  state.hold = gate.promise;
  const stale = cache.find(token(1));
  cache.clear();
  gate.resolve();
  await stale;
  expect(cache.find(token(1))).toBeInstanceOf(Promise);
  expect(state.lookUps).toBe(2);
});

test('the oldest entry goes when there are too many', async () => {
  const { cache } = setUp();
  for (let n = 0; n <= MAX_ENTRIES; n++) await cache.find(token(n));
  expect(cache.find(token(0))).toBeInstanceOf(Promise);
  expect(cache.find(token(MAX_ENTRIES))).not.toBeInstanceOf(Promise);
});

test.each([
  [`${token(1)}.c2ln`, token(1)],
  ['short.signature', null],
  ['', null],
  [`${token(1)}%00.x`, null],
  ['x'.repeat(300), null],
])('the token of the cookie %j is %j', (cookie, wanted) => {
  expect(tokenOf(cookie)).toBe(wanted);
});
