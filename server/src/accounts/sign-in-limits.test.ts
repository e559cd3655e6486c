// Attempts to sign in: what counts together, how many are taken, and how long the next one waits.

import { expect, test } from 'vitest';
import { ATTEMPTS_PER_ACCOUNT, ATTEMPTS_PER_ADDRESS, createSignInLimits, SIGN_IN_WINDOW_MS } from './sign-in-limits.ts';

function setUp() {
  const rows = new Map<string, { attempts: number; until: Date }>();
  const stored: string[] = [];
  const limits = createSignInLimits({
    async countAttempts(buckets, now, windowMs) {
      return buckets.map((bucket) => {
        const name = bucket.toString('hex');
        stored.push(name);
        const row = rows.get(name) ?? { attempts: 0, until: new Date(now.getTime() + windowMs) };
        row.attempts += 1;
        rows.set(name, row);
        return { bucket, ...row };
      });
    },
    forgetAttempts: async (bucket) => void rows.delete(bucket.toString('hex')),
    now: () => 0,
    secret: 'secret',
  });
  const times = async (count: number, attempt: Parameters<typeof limits.count>[0]) => {
    let last = null;
    for (let i = 0; i < count; i++) last = await limits.count(attempt);
    return last;
  };
  return { limits, times, stored };
}

test('one more than the limit of an account is refused, with the whole window to wait (I-30)', async () => {
  const { times, limits } = setUp();
  expect(await times(ATTEMPTS_PER_ACCOUNT, { account: 'a@b.test' })).toBeNull();
  expect(await limits.count({ account: 'a@b.test' })).toMatchObject({
    code: 'too_many_attempts',
    retryAfterSeconds: SIGN_IN_WINDOW_MS / 1000,
  });
  expect(await limits.count({ account: 'c@d.test' })).toBeNull();
  await limits.forget('a@b.test');
  expect(await limits.count({ account: 'a@b.test' })).toBeNull();
});

test.each([
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
  ['2001:db8::1', '2001:0db8:0000:0000:1:2:3:4'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80::2'],
])('addresses of one network count together: %s and %s (I-30)', async (one, other) => {
  const { times, limits } = setUp();
  expect(await times(ATTEMPTS_PER_ADDRESS, { address: one })).toBeNull();
  expect((await limits.count({ address: other }))?.code).toBe('too_many_attempts');
});

test('other networks do not count, and nothing that is stored names an address or an account', async () => {
  const { times, limits, stored } = setUp();
  await times(ATTEMPTS_PER_ADDRESS + 1, { address: '2001:db8:1:2::1', account: 'a@b.test' });
  for (const address of ['2001:db8:1:3::1', '192.0.2.1']) expect(await limits.count({ address })).toBeNull();
  expect(await limits.count({ address: null })).toBeNull();
  for (const name of stored) expect(name).toMatch(/^[0-9a-f]{64}$/);
});
