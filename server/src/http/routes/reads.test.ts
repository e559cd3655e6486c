// The read routes through the real service on the embedded database: success, wrong input, missing scope, another workspace, paging.
// Records are written straight into the tables; what writes them is tested with the write routes.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, openTestApp, type TestApp } from '../../../test/support/app.ts';
import { addBooks, type Books } from '../../../test/support/book-fixtures.ts';
import { addEndpoint, addEvents, newId } from '../../../test/support/webhook-fixtures.ts';
import { encodeId, type IdKind, type Uuid } from '../../domain/ids.ts';
import { allScopes, type Scope } from '../../domain/scopes.ts';

const COUNT = 45;

let app: TestApp;
let books: Books;
/** A key of the workspace with the books. */
let key: string;
let ids: Record<'project' | 'milestone' | 'payment' | 'invoice' | 'event' | 'api_key' | 'webhook_endpoint' | 'delivery', string>;
let deletedEndpoint: string;

beforeAll(async () => {
  app = await openTestApp();
  books = await addBooks(app.database, COUNT);
  key = await app.addKey(books.workspaceId);
  await addEvents(app.database, books.workspaceId, [
    'project.created',
    'milestone.submitted',
    'milestone.approved',
    'payment.released',
    'invoice.issued',
  ]);
  const { id: endpointId } = await addEndpoint(app.database, books.workspaceId);
  deletedEndpoint = encodeId('webhook_endpoint', (await addEndpoint(app.database, books.workspaceId, { deletedAt: new Date() })).id);
  const deliveryId = newId();
  const now = new Date();
  await app.database.query(
    `insert into deliveries (workspace_id, id, endpoint_id, event_seq, status, attempts, next_attempt_at, created_at, completed_at)
     values ($1, $2, $3, 4, 'failed', 3, null, $4, $4)`,
    [books.workspaceId, deliveryId, endpointId, now],
  );
  for (const number of [1, 2, 3]) {
    await app.database.query(
      `insert into delivery_attempts (workspace_id, delivery_id, number, started_at, duration_ms, status_code, error, response_body)
       values ($1, $2, $3, $4, 5, 500, null, 'no')`,
      [books.workspaceId, deliveryId, number, now],
    );
  }
  const [event] = await app.database.query<{ id: Uuid }>('select id from events where workspace_id = $1 and seq = 4', [books.workspaceId]);
  const [apiKey] = await app.database.query<{ id: Uuid }>('select id from api_keys where workspace_id = $1', [books.workspaceId]);
  ids = {
    project: encodeId('project', books.projects[1]?.id as Uuid),
    milestone: encodeId('milestone', books.milestones[1]?.id as Uuid),
    payment: encodeId('payment', books.payments[1]?.id as Uuid),
    invoice: encodeId('invoice', books.invoices[1]?.id as Uuid),
    event: encodeId('event', event?.id as Uuid),
    api_key: encodeId('api_key', apiKey?.id as Uuid),
    webhook_endpoint: encodeId('webhook_endpoint', endpointId),
    delivery: encodeId('delivery', deliveryId),
  };
});
afterAll(() => app.stop());

const byId: [kind: keyof typeof ids, path: string, scope: Scope][] = [
  ['project', '/v1/projects/', 'projects:read'],
  ['milestone', '/v1/milestones/', 'milestones:read'],
  ['payment', '/v1/payments/', 'payments:read'],
  ['invoice', '/v1/invoices/', 'invoices:read'],
  ['event', '/v1/events/', 'events:read'],
  ['api_key', '/v1/api_keys/', 'api_keys:read'],
  ['webhook_endpoint', '/v1/webhook_endpoints/', 'webhooks:read'],
  ['delivery', '/v1/deliveries/', 'webhooks:read'],
];

const lists: [path: () => string, kind: IdKind, scope: Scope, total: number][] = [
  [() => '/v1/projects', 'project', 'projects:read', COUNT],
  [() => `/v1/projects/${ids.project}/milestones`, 'milestone', 'milestones:read', 1],
  [() => `/v1/projects/${ids.project}/payments`, 'payment', 'payments:read', 1],
  [() => '/v1/payments', 'payment', 'payments:read', COUNT],
  [() => '/v1/invoices', 'invoice', 'invoices:read', COUNT],
  [() => '/v1/api_keys', 'api_key', 'api_keys:read', 1],
  [() => '/v1/webhook_endpoints', 'webhook_endpoint', 'webhooks:read', 1],
  [() => `/v1/webhook_endpoints/${ids.webhook_endpoint}/deliveries`, 'delivery', 'webhooks:read', 1],
];

describe('a resource by its id', () => {
  test.each(byId)('%s: is read with its scope alone, and refused without it', async (kind, path, scope) => {
    const only = await app.addKey(books.workspaceId, [scope]);
    const { status, body } = await app.call('GET', path + ids[kind], { key: only });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: ids[kind], object: kind });
    const others = await app.addKey(
      books.workspaceId,
      allScopes.filter((other) => other !== scope),
    );
    expect(await app.call('GET', path + ids[kind], { key: others })).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
  });

  test.each(byId)('%s: absent, of another kind, malformed and of another workspace all answer the same 404', async (kind, path) => {
    const foreign = kind === 'project' ? ids.payment : ids.project;
    const absent = encodeId(kind, newId());
    const answers = [
      await app.call('GET', path + absent, { key }),
      await app.call('GET', path + foreign, { key }),
      await app.call('GET', `${path}${ids[kind]}x`, { key }),
      await app.call('GET', path + ids[kind], { key: app.key }),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(404);
      expect({ ...body, request_id: '' }).toEqual({ ...answers[0]?.body, request_id: '' });
    }
  });

  test.each([
    ['project', '/v1/projects/', 1],
    ['milestone', '/v1/milestones/', 3],
    ['webhook_endpoint', '/v1/webhook_endpoints/', 1],
  ] as const)('%s: carries its version as ETag, and is not sent again to who has it', async (kind, path, version) => {
    const answer = await app.call('GET', path + ids[kind], { key });
    expect(answer.headers.etag).toBe(`"${version}"`);
    expect(answer.body.version).toBe(version);
    const again = await app.call('GET', path + ids[kind], { key, headers: { 'if-none-match': `"${version}"` } });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  test('HEAD answers as GET without a body', async () => {
    const answer = await app.call('HEAD', `/v1/projects/${ids.project}`, { key });
    expect([answer.status, answer.text]).toEqual([200, '']);
  });

  test('a deleted endpoint is gone: by id, in the list and with its deliveries', async () => {
    expect((await app.call('GET', `/v1/webhook_endpoints/${deletedEndpoint}`, { key })).status).toBe(404);
    expect((await app.call('GET', `/v1/webhook_endpoints/${deletedEndpoint}/deliveries`, { key })).status).toBe(404);
    const list = await app.ok('GET', '/v1/webhook_endpoints', { key });
    expect(list.data.map((endpoint: Json) => endpoint.id)).toEqual([ids.webhook_endpoint]);
  });

  test('an answer shows no secret and no hash', async () => {
    for (const path of [
      `/v1/api_keys/${ids.api_key}`,
      '/v1/api_keys',
      `/v1/webhook_endpoints/${ids.webhook_endpoint}`,
      '/v1/webhook_endpoints',
    ]) {
      expect((await app.call('GET', path, { key })).text).not.toMatch(/secret|hash|sealed/);
    }
  });
});

describe('a list', () => {
  test.each(lists)("list %# has the given form and holds the workspace's records only", async (path, kind, scope, total) => {
    const only = await app.addKey(books.workspaceId, [scope]);
    const { status, body } = await app.call('GET', `${path()}?limit=100`, { key: only });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['object', 'data', 'has_more', 'next_cursor']);
    // Keys are added by other tests.
    if (kind !== 'api_key') expect(body).toMatchObject({ object: 'list', has_more: false, next_cursor: null });
    if (kind !== 'api_key') expect(body.data).toHaveLength(total);
    expect(body.data.every((record: Json) => record.object === kind)).toBe(true);
    const created = body.data.map((record: Json) => record.id);
    expect(created).toEqual([...created].sort().reverse());
    const others = await app.addKey(
      books.workspaceId,
      allScopes.filter((other) => other !== scope),
    );
    expect((await app.call('GET', path(), { key: others })).status).toBe(403);
  });

  test.each(lists)('list %# refuses what it does not know, naming it', async (path) => {
    const { status, body } = await app.call('GET', `${path()}?page=2&limit=1000`, { key });
    expect(status).toBe(422);
    expect(body).toMatchObject({ code: 'validation_failed' });
    expect(body.errors.map((error: Json) => error.pointer).sort()).toEqual(['query/limit', 'query/page']);
  });

  test('is walked with next_cursor until it is null, each record once', async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    for (let pages = 0; pages < COUNT; pages++) {
      const page: Json = await app.ok('GET', `/v1/payments?limit=7${cursor === null ? '' : `&starting_after=${cursor}`}`, { key });
      seen.push(...page.data.map((payment: Json) => payment.id));
      expect(page.has_more).toBe(page.next_cursor !== null);
      cursor = page.next_cursor;
      if (cursor === null) break;
    }
    expect(seen).toEqual(
      books.payments
        .map((payment) => encodeId('payment', payment.id))
        .sort()
        .reverse(),
    );
  });

  test('goes back with ending_before, and next_cursor leads on from there', async () => {
    const first = await app.ok('GET', '/v1/projects?limit=5', { key });
    const second = await app.ok('GET', `/v1/projects?limit=5&starting_after=${first.next_cursor}`, { key });
    const back = await app.ok('GET', `/v1/projects?limit=5&ending_before=${second.data[0].id}`, { key });
    expect(back.data).toEqual(first.data);
    expect(back.has_more).toBe(false);
    expect(back.next_cursor).toBe(first.next_cursor);
  });

  test('filters narrow it, several together', async () => {
    const count = async (path: string): Promise<number> =>
      (await app.ok('GET', `${path}${path.includes('?') ? '&' : '?'}limit=100`, { key })).data.length;
    const expected = (records: readonly object[], wanted: (record: Json) => boolean): number => records.filter(wanted).length;
    expect(await count('/v1/projects?status=archived')).toBe(expected(books.projects, (p) => p.status === 'archived'));
    expect(await count('/v1/projects?client_id=client_1&metadata[half]=odd')).toBe(
      expected(books.projects, (p) => p.clientId === 'client_1' && p.metadata.half === 'odd'),
    );
    expect(await count('/v1/projects?metadata[half]=odd&metadata[n]=7')).toBe(1);
    expect(await count('/v1/projects?metadata%5B__proto__%5D=x')).toBe(0);
    expect(await count('/v1/payments?status=pending')).toBe(expected(books.payments, (p) => p.status === 'pending'));
    expect(await count(`/v1/payments?project_id=${ids.project}&status=released`)).toBe(1);
    expect(await count(`/v1/payments?milestone_id=${ids.milestone}&client_id=client_0`)).toBe(0);
    expect(await count('/v1/invoices?payment_status=unpaid')).toBe(expected(books.invoices, (i) => i.paymentStatus === 'unpaid'));
    expect(await count(`/v1/invoices?milestone_id=${ids.milestone}&project_id=${ids.project}&status=issued`)).toBe(1);
    expect(await count(`/v1/projects/${ids.project}/milestones?status=pending`)).toBe(0);
    expect(await count('/v1/projects?created_after=2026-01-01T00:00:43Z')).toBe(2);
    expect(await count('/v1/projects?created_before=2026-01-01T01:00:02%2B01:00')).toBe(1);
  });

  test.each([
    ['/v1/projects?status=done', 'query/status'],
    ['/v1/projects?starting_after=nonsense', 'query/starting_after'],
    ['/v1/projects?limit=1&limit=2', 'query/limit'],
    ['/v1/projects?client_id=%00', 'query/client_id'],
    ['/v1/projects?metadata=x', 'query/metadata'],
    ['/v1/projects?constructor=x', 'query/constructor'],
    ['/v1/payments?__proto__=x', 'query/__proto__'],
    ['/v1/projects?created_after=yesterday', 'query/created_after'],
    ['/v1/payments?project_id=1', 'query/project_id'],
    ['/v1/events?after_seq=-1', 'query/after_seq'],
    ['/v1/events?starting_after=1', 'query/starting_after'],
  ])('%s is refused by the name of the parameter', async (path, pointer) => {
    const { status, body } = await app.call('GET', path, { key });
    expect([status, body.errors?.[0]?.pointer]).toEqual([422, pointer]);
  });

  test('of what does not exist is 404, of what exists and is empty is an empty list', async () => {
    const empty = await app.ok('POST', '/v1/projects', { key, body: { name: 'Empty', client_id: 'c' } });
    for (const part of ['milestones', 'payments']) {
      expect((await app.ok('GET', `/v1/projects/${empty.id}/${part}`, { key })).data).toEqual([]);
      expect((await app.call('GET', `/v1/projects/${encodeId('project', newId())}/${part}`, { key })).status).toBe(404);
      expect((await app.call('GET', `/v1/projects/${ids.project}/${part}`, { key: app.key })).status).toBe(404);
    }
    expect((await app.call('GET', `/v1/webhook_endpoints/${ids.webhook_endpoint}/deliveries`, { key: app.key })).status).toBe(404);
    expect((await app.call('GET', `/v1/deliveries/${ids.delivery}/attempts`, { key: app.key })).status).toBe(404);
  });
});

describe('lists with a cursor of their own', () => {
  test('events go forward by sequence; next_cursor is the value of after_seq', async () => {
    const first = await app.ok('GET', '/v1/events?limit=2', { key });
    expect(first.data.map((event: Json) => event.seq)).toEqual([1, 2]);
    expect([first.has_more, first.next_cursor]).toEqual([true, '2']);
    const rest = await app.ok('GET', `/v1/events?after_seq=${first.next_cursor}&limit=100`, { key });
    const { length } = rest.data; // Other tests create projects.
    expect(rest.data.map((event: Json) => event.seq)).toEqual(Array.from({ length }, (_, i) => i + 3));
    expect([rest.has_more, rest.next_cursor]).toEqual([false, null]);
    expect(rest.data[1]).toMatchObject({ id: ids.event, type: 'payment.released', data: { n: 4 } });
  });

  test('events are read backwards from the end, of a kind and of a project too; next_cursor is the value of before_seq', async () => {
    const all = (await app.ok('GET', '/v1/events?limit=100', { key })).data.toReversed();
    const first = await app.ok('GET', '/v1/events?order=desc&limit=2', { key });
    expect([first.data, first.next_cursor]).toEqual([all.slice(0, 2), String(all[1].seq)]);
    const rest = await app.ok('GET', `/v1/events?order=desc&limit=100&before_seq=${first.next_cursor}`, { key });
    expect([rest.data, rest.has_more]).toEqual([all.slice(2), false]);
    const kinds = await app.ok('GET', '/v1/events?order=desc&limit=100&event_types=payment.released,invoice.issued', { key });
    expect(kinds.data).toEqual(all.filter(({ type }: Json) => type === 'payment.released' || type === 'invoice.issued'));
    const project = await app.ok('POST', '/v1/projects', { key, body: { name: 'Found by its id', client_id: 'c' } });
    const own = await app.ok('GET', `/v1/events?project_id=${project.id}`, { key });
    expect(own.data.map(({ type }: Json) => type)).toEqual(['project.created']);
    expect((await app.ok('GET', `/v1/events?project_id=${project.id}`, { key: app.key })).data).toEqual([]);
  });

  test('attempts are listed latest first; next_cursor is a number', async () => {
    const first = await app.ok('GET', `/v1/deliveries/${ids.delivery}/attempts?limit=2`, { key });
    expect(first.data.map((attempt: Json) => attempt.number)).toEqual([3, 2]);
    expect([first.has_more, first.next_cursor]).toEqual([true, '2']);
    const rest = await app.ok('GET', `/v1/deliveries/${ids.delivery}/attempts?starting_after=2`, { key });
    expect(rest.data).toEqual([expect.objectContaining({ object: 'delivery_attempt', number: 1, status_code: 500 })]);
    expect(rest.next_cursor).toBeNull();
  });
});
