// The limits of the interface, each on both sides of its bound: requests a minute, sizes, and the end of a revoked key.
// Time is moved, never waited for.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { bringMilestone, type CallResult, type Json, type TestApp } from './support/app.ts';
import { addressOf, exampleOf, openContractApp, operations, populate, snapshot } from './support/contract.ts';

const LIMIT = 1000;

describe('1000 requests a minute per key', () => {
  let app: TestApp;
  let ids: Record<string, string>;
  beforeAll(async () => {
    // The service takes its clock when it is composed: from here on time stands still unless a test moves it.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 5, 1, 12, 0, 15) });
    app = await openContractApp({ limitPerMinute: LIMIT });
    ids = await populate(app);
  });
  afterAll(async () => {
    vi.useRealTimers();
    await app.stop();
  });
  const nextMinute = (): void => void vi.setSystemTime(Math.floor(Date.now() / 60_000) * 60_000 + 60_000);
  const left = ({ headers }: CallResult): number => Number(/^"default";r=(\d+);t=\d+$/.exec(headers.ratelimit ?? '')?.[1]);

  test('of 1100 at once exactly 1000 are served, over all endpoints together, whatever becomes of them', async () => {
    const key = await app.addKey(app.workspaceId, ['projects:read', 'milestones:submit', 'payments:read']);
    const kinds: ((n: number) => Promise<CallResult>)[] = [
      () => app.call('GET', '/v1/projects', { key }),
      () => app.call('HEAD', `/v1/projects/${ids.prj}`, { key }),
      () => app.call('GET', '/v1/payments/pay_nonsense', { key }),
      () => app.call('GET', '/v1/invoices', { key }),
      () => app.call('GET', '/v1/projects?limit=0', { key }),
      () => app.call('POST', '/v1/projects', { key, body: {} }),
      () => app.call('PATCH', `/v1/milestones/${ids.mil}`, { key, raw: '{' }),
      () => app.call('PATCH', `/v1/milestones/${ids.mil}`, { key, body: { status: 'submitted' } }),
    ];
    const answers = await Promise.all(Array.from({ length: 1100 }, (_, n) => (kinds[n % kinds.length] as (typeof kinds)[0])(n)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.length - refused.length).toBe(LIMIT);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400, 403, 404, 422, 429]));
    for (const answer of refused) {
      expect(answer.headers).toMatchObject({
        'retry-after': '45',
        'ratelimit-policy': '"default";q=1000;w=60',
        ratelimit: '"default";r=0;t=45',
      });
    }
    expect(refused.find(({ body }) => body !== null)?.body).toMatchObject({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      status: 429,
      code: 'rate_limited',
    });
  });

  test('one after another: what is left falls by one each time, the 1001st is refused, and the next minute begins anew', async () => {
    nextMinute();
    const key = await app.addKey(app.workspaceId);
    for (let n = 1; n <= LIMIT; n++) {
      const answer = await app.call('GET', `/v1/projects/${ids.prj}`, { key });
      expect([n, answer.status, left(answer)]).toEqual([n, 200, LIMIT - n]);
    }
    expect((await app.call('GET', `/v1/projects/${ids.prj}`, { key })).status).toBe(429);
    vi.setSystemTime(Date.now() + 59_999);
    expect((await app.call('GET', `/v1/projects/${ids.prj}`, { key })).headers['retry-after']).toBe('1');
    nextMinute();
    expect(left(await app.call('GET', `/v1/projects/${ids.prj}`, { key }))).toBe(LIMIT - 1);
  });

  test('a key that is used up is refused by every operation before anything else, and changes nothing; other keys are not affected', async () => {
    nextMinute();
    const key = await app.addKey(app.workspaceId);
    await Promise.all(Array.from({ length: LIMIT }, () => app.call('GET', '/v1/nothing/here', { key: null })));
    await Promise.all(Array.from({ length: LIMIT }, () => app.call('GET', '/v1/projects?limit=1', { key })));
    const before = await snapshot(app);
    for (const operation of operations) {
      const { status, body } = await app.call(operation.method, addressOf(operation, ids), { key, body: exampleOf(operation) });
      expect([operation.name, status, body.code]).toEqual([operation.name, 429, 'rate_limited']);
    }
    expect(await snapshot(app)).toEqual(before);
    const other = await app.addKey(app.workspaceId);
    expect(left(await app.call('GET', '/v1/projects', { key: other }))).toBe(LIMIT - 1);
    for (const path of ['/healthz', '/openapi.json']) expect((await app.call('GET', path, { key })).status).toBe(200);
  });

  test('requests that name no valid key count for nobody, and a replay counts like any other', async () => {
    nextMinute();
    const key = await app.addKey(app.workspaceId);
    for (const wrong of [null, `${key}x`, 'tr_live_']) await app.call('GET', '/v1/projects', { key: wrong });
    const request = { key, body: { name: 'n', client_id: 'c' }, headers: { 'idempotency-key': 'limits' } };
    expect([left(await app.call('POST', '/v1/projects', request)), left(await app.call('POST', '/v1/projects', request))]).toEqual([
      998 + 1,
      998,
    ]);
  });
});

describe('sizes', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openContractApp();
  });
  afterAll(() => app.stop());

  test('a body of exactly 1 MiB is read, of one byte more is a 413', async () => {
    const json = JSON.stringify({ name: 'n', client_id: 'größe' });
    const padded = (bytes: number): string => json + ' '.repeat(bytes - Buffer.byteLength(json));
    expect((await app.call('POST', '/v1/projects', { raw: padded(1_048_576) })).status).toBe(201);
    const before = await snapshot(app);
    const over = await app.call('POST', '/v1/projects', { raw: padded(1_048_577) });
    expect([over.status, over.body.code]).toEqual([413, 'body_too_large']);
    expect(await snapshot(app)).toEqual(before);
  });

  test('100 milestones come with a project, 101 are refused and make no project', async () => {
    const body = (count: number): Json => ({ name: 'n', client_id: 'c', milestones: Array(count).fill({ title: 't', amount: 1 }) });
    const { id } = await app.ok('POST', '/v1/projects', { body: body(100) });
    expect((await app.ok('GET', `/v1/projects/${id}/milestones?limit=100`)).data).toHaveLength(100);
    const before = await snapshot(app);
    const { status, body: problem } = await app.call('POST', '/v1/projects', { body: body(101) });
    expect([status, problem.errors[0].pointer, problem.errors[0].code]).toEqual([422, '/milestones', 'too_many']);
    expect(await snapshot(app)).toEqual(before);
  });
});

describe('a revoked key', () => {
  let app: TestApp;
  beforeAll(async () => {
    // Time stands still, so that a cached key does not age while a test holds the database.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 5, 1) });
    app = await openContractApp();
  });
  afterAll(async () => {
    vi.useRealTimers();
    await app.stop();
  });

  test('reads and writes nothing any more from the moment its revocation is answered', async () => {
    const { id, secret: key } = await app.ok('POST', '/v1/api_keys', { body: { name: 'k' } });
    const project = await app.ok('POST', '/v1/projects', { key, body: { name: 'n', client_id: 'c' } });
    await app.ok('DELETE', `/v1/api_keys/${id}`);
    const before = await snapshot(app);
    const calls = await Promise.all([
      app.call('GET', `/v1/projects/${project.id}`, { key }),
      app.call('PATCH', `/v1/projects/${project.id}`, { key, body: { name: 'x' } }),
      app.call('POST', '/v1/projects', { key, body: { name: 'n', client_id: 'c' } }),
    ]);
    for (const { status, body } of calls) expect([status, body.code]).toEqual([401, 'api_key_revoked']);
    expect(await snapshot(app)).toEqual(before);
  });

  /** Long enough for a request that was sent to reach the lane: a call without a socket takes a few turns of the event loop. */
  async function arrived(): Promise<void> {
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  }

  test('commits nothing that was still waiting behind its revocation, and keeps what stood before it', async () => {
    const { id, secret: key } = await app.ok('POST', '/v1/api_keys', { body: { name: 'k' } });
    const { milestone } = await bringMilestone(app, 'submitted');
    await app.ok('GET', '/v1/projects', { key });
    const create = (name: string) => app.call('POST', '/v1/projects', { key, body: { name, client_id: 'c' } });
    // While this transaction holds the database, everything queues up in the lane, in the order in which it was sent.
    let letGo = (): void => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let begun = (): void => {};
    const holding = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const hold = app.database.transaction(async (transaction) => {
      await transaction.query('select 1');
      begun();
      await held;
    });
    await holding;
    const ahead = create('ahead');
    await arrived();
    const revocation = app.call('DELETE', `/v1/api_keys/${id}`);
    await arrived();
    const behind = [create('behind'), app.call('PATCH', `/v1/milestones/${milestone.id}`, { key, body: { status: 'approved' } })];
    await arrived();
    letGo();
    await hold;
    expect([(await ahead).status, (await revocation).status]).toEqual([201, 200]);
    for (const { status, body } of await Promise.all(behind)) expect([status, body.code]).toEqual([401, 'api_key_revoked']);
    const names = (await app.ok('GET', '/v1/projects')).data.map(({ name }: Json) => name);
    expect([names.includes('ahead'), names.includes('behind')]).toEqual([true, false]);
    expect((await app.ok('GET', `/v1/milestones/${milestone.id}`)).status).toBe('submitted');
    expect((await app.ok('GET', `/v1/payments?milestone_id=${milestone.id}`)).data).toEqual([]);
  });
});
