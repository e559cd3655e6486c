// Valid requests of every operation, broken at random: never a 5xx, never an undeclared answer, nothing changed by a refusal, and nothing
// accepted that the document's own schema forbids. The seed is printed when a run fails (fast-check does), and replays it.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, openTestApp, type TestApp } from './support/app.ts';
import { answerFaults, operations, populate, resolve, rowsDigest } from './support/contract.ts';
import { attemptOn } from './support/hostile-requests.ts';
import { schemaFaults } from './support/json-schema.ts';

/** Requests per operation and test; more of them by `FUZZ_RUNS=2000 npx vitest run server/test/hostile-fuzz.test.ts`. */
const numRuns = Number(process.env.FUZZ_RUNS ?? 40);

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(async () => {
  expect(await app.faults()).toEqual([]);
  expect((await app.call('GET', '/readyz', { key: null })).body.code ?? 'ready').toMatch(/ready|overloaded/);
  await app.stop();
});

/** What was sent, in the form in which the answer shows it again: any text or number that was taken for another would differ. */
function echoOf(sent: Json, shown: Json): Json {
  const fields = Object.entries<Json>(sent)
    .filter(([name, value]) => (typeof value === 'string' || typeof value === 'number') && Object.hasOwn(shown, name))
    .map(([name, value]) => [name, ANSWERED_AS[name]?.(value) ?? value]);
  return Object.fromEntries(fields);
}
const inUtc = (time: string) => new Date(time).toISOString();
const ANSWERED_AS: Record<string, (sent: string) => string> = {
  currency: (code) => code.toUpperCase(),
  email: (address) => address.toLowerCase(),
  expires_at: inUtc,
  since: inUtc,
  until: inUtc,
};

describe('broken at random', () => {
  test.each(
    operations,
  )('$method $path: never a 5xx, an undeclared answer, a change by a refusal or an acceptance against its schema', async (operation) => {
    const ids = await populate(app);
    let before = await rowsDigest(app);
    await fc.assert(
      fc.asyncProperty(attemptOn(operation, ids), async ({ path, raw, headers: sentHeaders }) => {
        const answer = await app.call(operation.method, path, { headers: sentHeaders, ...(raw === undefined ? {} : { raw }) });
        expect(answer.status, answer.text).toBeLessThan(500);
        expect(answerFaults(operation.method, path, answer)).toEqual([]);
        const after = await rowsDigest(app);
        if (answer.status >= 400) {
          expect(after).toBe(before);
          expect(answer.body.request_id).toMatch(/^req_/);
        }
        before = after;
        const written = raw?.toString().replace(/^\ufeff/, '') ?? '';
        if (answer.status < 300 && operation.body !== null && written !== '' && JSON.parse(written) !== null) {
          const sent = JSON.parse(written);
          expect(schemaFaults(operation.body.schema, sent, resolve)).toEqual([]);
          expect(answer.body).toMatchObject(echoOf(sent, answer.body));
          const { secret: _secret, link: _link, mailed: _mailed, ...told } = answer.body;
          if (told.id === undefined) return; // Told once and kept nowhere.
          const one = told.object === 'workspace' ? '/v1/workspace' : `/v1/${told.object.replace(/ry$/, 'rie')}s/${told.id}`;
          const stored = await app.ok('GET', one);
          if (answer.headers['idempotent-replayed'] === undefined) expect(stored).toEqual(told);
        }
      }),
      { numRuns },
    );
  });
});
