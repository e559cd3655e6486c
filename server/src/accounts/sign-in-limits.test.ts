// Attempts to sign in: what counts together, how many are taken, and how long the next one waits.

import { expect, test } from 'vitest';
import { ATTEMPTS_PER_ACCOUNT, ATTEMPTS_PER_ADDRESS, createSignInLimits, SIGN_IN_WINDOW_MS } from './sign-in-limits.ts';

function setUp() {
  const rows = new Map<string, { attempts: number; until: Date }>();
  const stored: string[] = [];
  const limits = createSignInLimits({
    async countAttempt(bucket, now, windowMs) {
      const name = bucket.toString('hex');
      stored.push(name);
      const row = rows.get(name) ?? { attempts: 0, until: new Date(now.getTime() + windowMs) };
      row.attempts += 1;
      rows.set(name, row);
      return { ...row };
    },
    forgetAttempts: async (bucket) => void rows.delete(bucket.toString('hex')),
    now: () => 0,
    secret: 'secret',
  });
  const times = async (count: number, ...attempt: Parameters<typeof limits.count>) => {
    let last = null;
    for (let i = 0; i < count; i++) last = await limits.count(...attempt);
    return last;
  };
  return { limits, times, stored, rows };
}

test('one more than the limit of an account is refused, with the whole window to wait (I-30)', async () => {
  const { times, limits } = setUp();
  const tried = { account: 'a@b.test' };
  expect(await times(ATTEMPTS_PER_ACCOUNT, null, tried)).toBeNull();
  expect(await limits.count(null, tried)).toMatchObject({ code: 'too_many_attempts', retryAfterSeconds: SIGN_IN_WINDOW_MS / 1000 });
  expect(await limits.count(null, { account: 'c@d.test' })).toBeNull();
  await limits.forget(tried);
  expect(await limits.count(null, tried)).toBeNull();
});

test('guesses of a second factor count by the person, and a right password forgets none of them (I-31)', async () => {
  const { times, limits } = setUp();
  const tried = { secondFactorOf: 'person' };
  expect(await times(ATTEMPTS_PER_ACCOUNT, null, tried)).toBeNull();
  await limits.forget({ account: 'person' });
  expect((await limits.count('192.0.2.1', tried))?.code).toBe('too_many_attempts');
  expect(await limits.count(null, { account: 'person' })).toBeNull();
});

test('an address that is over its limit adds no row for the accounts that it tries (I-30)', async () => {
  const { times, rows } = setUp();
  await times(ATTEMPTS_PER_ADDRESS, '192.0.2.1');
  for (let i = 0; i < 5; i++) await times(1, '192.0.2.1', { account: `${i}@b.test` });
  expect(rows.size).toBe(1);
});

test.each([
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
  ['2001:db8::1', '2001:0db8:0000:0000:1:2:3:4'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80::2'],
])('addresses of one network count together: %s and %s (I-30)', async (one, other) => {
  const { times, limits } = setUp();
  expect(await times(ATTEMPTS_PER_ADDRESS, one)).toBeNull();
  expect((await limits.count(other))?.code).toBe('too_many_attempts');
});

test('other networks do not count, and nothing that is stored names an address or an account', async () => {
  const { times, limits, stored } = setUp();
  await times(ATTEMPTS_PER_ADDRESS + 1, '2001:db8:1:2::1', { account: 'a@b.test' });
  for (const address of ['2001:db8:1:3::1', '192.0.2.1']) expect(await limits.count(address)).toBeNull();
  expect(await limits.count(null)).toBeNull();
  for (const name of stored) expect(name).toMatch(/^[0-9a-f]{64}$/);
});
