// That attempts to sign in do not pile up, on both databases.

import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { onEachDatabase } from '../../test/support/webhook-fixtures.ts';
import { countAttempt } from '../store/people.ts';
import { clearAttempts } from './attempt-retention.ts';

const MINUTE_MS = 60_000;

onEachDatabase('attempts to sign in', (database) => {
  test('go when their window is over, however many there are, and the others stay (I-30)', async () => {
    const now = new Date();
    const live = randomBytes(32);
    await countAttempt(database(), live, now, MINUTE_MS);
    await database().query(
      `insert into sign_in_attempts (bucket, attempts, until)
       select decode(md5(n::text), 'hex'), 1, now() - interval '1 second' from generate_series(1, 2500) as n`,
    );
    expect(await clearAttempts(database(), now)).toBe(2500);
    expect(await clearAttempts(database(), now)).toBe(0);
    expect(await countAttempt(database(), live, now, MINUTE_MS)).toMatchObject({ attempts: 2 });
    expect(await clearAttempts(database(), new Date(now.getTime() + 2 * MINUTE_MS), AbortSignal.abort())).toBe(0);
  });
});
