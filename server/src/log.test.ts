// What the log says of errors: enough to find the cause, and nothing that somebody sent or that the database holds.

import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { onEachDatabase } from '../test/support/webhook-fixtures.ts';
import { createLog } from './log.ts';

function record() {
  let text = '';
  const destination = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  return { log: createLog({ LOG_LEVEL: 'info' }, destination), text: () => text };
}

const SECRET = 'ada@example.com';

onEachDatabase('the log', (database) => {
  test.each([
    ['a key that exists twice', 'insert into identity_challenges select id, $1, $1, now(), now(), now() from identity_challenges', '23505'],
    ['a value of another type', 'select $1::text::uuid', '22P02'],
    ['a value that is missing', 'insert into identity_challenges (id, identifier) values (gen_random_uuid(), $1)', '23502'],
  ])('says that a statement failed by %s, and none of its values', async (_what, statement, sqlstate) => {
    await database().query(`insert into identity_challenges values (gen_random_uuid(), 'taken', $1, now(), now(), now())`, [SECRET]);
    const failure = await database()
      .query(statement, [SECRET])
      .catch((error: unknown) => error);
    const { log, text } = record();
    log.error({ err: new Error('a request failed', { cause: failure }) }, 'a request failed');
    log.error({ err: failure }, 'a request failed');
    // As a driver throws it.
    log.error({ err: (failure as Error).cause }, 'a request failed');
    expect(text()).not.toContain(SECRET);
    expect(text()).not.toMatch(/"(detail|where|hint|parameters|params|query)":/);
    const [wrapped, plain] = text()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).err);
    expect(plain).toMatchObject({ type: 'DatabaseError', code: sqlstate });
    expect(plain.stack).toMatch(/ at /);
    expect(wrapped).toMatchObject({ message: 'a request failed', cause: { code: sqlstate } });
  });
});

test('an error keeps its kind, words, code and causes, and loses whatever else hangs on it', () => {
  const { log, text } = record();
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', rejected: [SECRET] });
  log.warn({ err: new AggregateError([refused], 'nobody answers', { cause: refused }) }, 'not sent');
  log.warn({ err: { message: SECRET } }, 'not sent');
  log.warn({ err: SECRET }, 'not sent');
  const [entry, ...others] = text()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(entry.err).toMatchObject({ type: 'AggregateError', message: 'nobody answers', cause: { code: 'ECONNREFUSED' } });
  expect(entry.err.errors).toMatchObject([{ message: 'connect ECONNREFUSED' }]);
  expect(others.map(({ err }) => err)).toEqual(['a thrown object', 'a thrown string']);
  expect(text()).not.toContain(SECRET);
});
