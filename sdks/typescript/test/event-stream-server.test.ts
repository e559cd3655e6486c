// Following the event log of a real server, through a proxy that breaks the connections of streams.
// What a stream does with each fault is in event-stream.test.ts.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestEnvironment, type TestEnvironment } from '../../testing/environment.ts';
import { Tranche } from '../src/index.ts';

const EVENTS = 60;
const CUT_EVERY = 15;

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await openTestEnvironment({ RATE_LIMIT_PER_MINUTE: '100000' });
}, 180_000);
afterAll(() => environment?.close());

const clientOf = (baseUrl: string | undefined): Tranche =>
  new Tranche({ apiKey: environment.variables.TRANCHE_API_KEY, baseUrl, maxRetries: 5 });

const post = async (path: string, body?: unknown): Promise<unknown> =>
  (await fetch(`${environment.variables.TRANCHE_CONTROL_URL}${path}`, { method: 'POST', body: JSON.stringify(body) })).json();

test('every event comes once and in order, although its connections break at chance places while events are written', async () => {
  const { TRANCHE_BASE_URL, TRANCHE_PROXY_URL } = environment.variables;
  const direct = clientOf(TRANCHE_BASE_URL);
  // In the middle of the first message, of an event, and before anything.
  for (const after_bytes of [5, 700, 0]) await post('/faults', { fault: 'truncate', method: 'GET', after_bytes });
  await direct.projects.create({ name: 'First', client_id: 'stream' });
  const writing = (async () => {
    for (let n = 1; n < EVENTS; n++) await direct.projects.create({ name: `Event ${n}`, client_id: 'stream' });
  })();
  const seqs: number[] = [];
  let cuts = 0;
  for await (const { seq, type } of clientOf(TRANCHE_PROXY_URL).events.stream({ after_seq: 0, event_types: ['project.created'] })) {
    expect(type).toBe('project.created');
    seqs.push(seq);
    if (seqs.length === EVENTS) break;
    if (seqs.length % CUT_EVERY === 0) cuts += ((await post('/cut')) as { cut: number }).cut;
  }
  await writing;
  expect(cuts).toBeGreaterThan(0);
  const written = await direct.events.list({ limit: 100 }).toArray({ limit: 1_000 });
  expect(seqs).toEqual(written.filter(({ type }) => type === 'project.created').map(({ seq }) => seq));
});

test('leaving a stream frees its place at the server', async () => {
  const client = clientOf(environment.variables.TRANCHE_BASE_URL);
  await client.projects.create({ name: 'One', client_id: 'stream' });
  // A key may have 20 open: more than that, one after another, only go when each is closed.
  for (let n = 0; n < 30; n++) {
    for await (const event of client.events.stream({ after_seq: 0 }, { maxRetries: 0 })) {
      expect(event.seq).toBe(1);
      break;
    }
  }
});

test('a stream ends with the error of its key once that is revoked', async () => {
  const { TRANCHE_BASE_URL: baseUrl } = environment.variables;
  const admin = clientOf(baseUrl);
  await admin.projects.create({ name: 'One', client_id: 'stream' });
  const key = await admin.apiKeys.create({ name: 'Reader', scopes: ['events:read'] });
  const follow = async (): Promise<void> => {
    for await (const event of new Tranche({ apiKey: key.secret, baseUrl }).events.stream({ after_seq: 0 })) {
      if (event.seq === 1) await admin.apiKeys.revoke(key.id);
    }
  };
  await expect(follow()).rejects.toMatchObject({ status: 401 });
});
