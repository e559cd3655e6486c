// How many invitations are mailed: by recipient and by inviter, over a counter of this test's own.

import { expect, test } from 'vitest';
import { createMailLimits, MAIL_WINDOW_MS, MAILS_PER_INVITER, MAILS_PER_RECIPIENT } from './mail-limits.ts';

function counting() {
  const kept = new Map<string, { attempts: number; until: Date }>();
  let at = Date.UTC(2026, 2, 2);
  const limits = createMailLimits({
    async countAttempt(bucket, now, windowMs) {
      const name = bucket.toString('hex');
      const before = kept.get(name);
      const fresh = before === undefined || before.until <= now;
      const next = fresh ? { attempts: 1, until: new Date(now.getTime() + windowMs) } : { ...before, attempts: before.attempts + 1 };
      kept.set(name, next);
      return next;
    },
    now: () => at,
    secret: 'secret',
  });
  return { limits, kept, pass: (ms: number) => void (at += ms) };
}

test('one address gets so many mails an hour from everybody together, however it is written', async () => {
  const { limits, kept, pass } = counting();
  for (let i = 0; i < MAILS_PER_RECIPIENT; i++) expect(await limits.count({ to: 'Grace@example.com', inviter: `p${i}` })).toBeNull();
  pass(MAIL_WINDOW_MS / 2);
  const refused = await limits.count({ to: 'grace@EXAMPLE.com', inviter: 'somebody' });
  expect(refused).toMatchObject({ code: 'too_many_mails', retryAfterSeconds: MAIL_WINDOW_MS / 2000 });
  expect(await limits.count({ to: 'other@example.com', inviter: 'somebody' })).toBeNull();
  pass(MAIL_WINDOW_MS / 2);
  expect(await limits.count({ to: 'grace@example.com', inviter: 'somebody' })).toBeNull();
  expect([...kept.keys()].join()).not.toContain('grace');
});

test('one person sends so many mails an hour, to whomever, and beyond that takes nothing from what others may send', async () => {
  const { limits } = counting();
  for (let i = 0; i < MAILS_PER_INVITER; i++) expect(await limits.count({ to: `p${i}@example.com`, inviter: 'ada' })).toBeNull();
  expect(await limits.count({ to: 'new@example.com', inviter: 'ada' })).toMatchObject({ code: 'too_many_mails' });
  for (let i = 0; i < MAILS_PER_RECIPIENT; i++) expect(await limits.count({ to: 'new@example.com', inviter: 'ada' })).not.toBeNull();
  expect(await limits.count({ to: 'new@example.com', inviter: 'bob' })).toBeNull();
});
