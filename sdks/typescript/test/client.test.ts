// What the client promises of its calls that needs no server to see: retries, keys, cancellation, secrecy, lists and errors.
// What a server has a part in is in the shared scenario.

import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import {
  ApiAbortedError,
  ApiConnectionError,
  ApiError,
  ApiTimeoutError,
  NotFoundError,
  OverloadedError,
  type Payment,
  RateLimitedError,
  Tranche,
  TrancheError,
} from '../src/index.ts';
import { backoffMs, retryAfterMs } from '../src/retry.ts';
import { json, problem, silence, stubbed } from './stub.ts';

const project = { object: 'project', id: 'prj_1' };

const page = (ids: readonly string[], next: string | null): Response =>
  json({ object: 'list', data: ids.map((id) => ({ id })), has_more: next !== null, next_cursor: next });

describe('in a page that the server serves', () => {
  test('no key and no name of a program is sent, and the workspace of the moment is named', async () => {
    let workspace: string | null = 'wsp_1';
    const { client, sent } = stubbed([json(project)], { apiKey: undefined, workspace: () => workspace });
    await client.projects.retrieve('prj_1');
    workspace = null;
    await client.projects.retrieve('prj_1');
    const [first, second] = sent.map(({ headers }) => headers);
    expect(first).toMatchObject({ 'tranche-workspace': 'wsp_1', accept: 'application/json' });
    for (const headers of [first, second]) expect(Object.keys(headers ?? {})).not.toEqual(expect.arrayContaining(['authorization']));
    expect(first).not.toHaveProperty('user-agent');
    expect(second).not.toHaveProperty('tranche-workspace');
  });

  test('a key that is given along with a workspace is sent', async () => {
    const { client, sent } = stubbed([json(project)], { apiKey: 'tr_live_key', workspace: 'wsp_1' });
    await client.projects.retrieve('prj_1');
    expect(sent[0]?.headers).toMatchObject({ authorization: 'Bearer tr_live_key', 'tranche-workspace': 'wsp_1' });
  });
});

describe('retries', () => {
  // A whole second, since a date in Retry-After has no fractions.
  const wholeSecond = Date.UTC(2026, 5, 1);
  beforeEach(() => void vi.useFakeTimers({ now: wholeSecond }));
  afterEach(() => void vi.useRealTimers());

  test('an idempotency key is made once for a call and is the same at every attempt, and new for the next call', async () => {
    const { client, sent } = stubbed([new TypeError('lost'), problem(500, 'internal_error'), json(project)]);
    const call = client.projects.create({ name: 'n', client_id: 'c' });
    await vi.runAllTimersAsync();
    expect((await call).id).toBe('prj_1');
    await client.projects.create({ name: 'n', client_id: 'c' });
    const keys = sent.map(({ headers }) => headers['idempotency-key']);
    expect(keys.slice(0, 3)).toEqual([keys[0], keys[0], keys[0]]);
    expect(keys[3]).not.toBe(keys[0]);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([
    [400, 1],
    [401, 1],
    [404, 1],
    [408, 3],
    [409, 1],
    [422, 1],
    [429, 3],
    [500, 3],
    [501, 1],
    [502, 3],
    [503, 3],
    [504, 3],
  ])('a call that is answered with %i is sent %i times', async (status, times) => {
    const { client, sent } = stubbed([problem(status, 'some_code')]);
    const call = client.projects.retrieve('prj_1').catch((error: unknown) => error);
    await vi.runAllTimersAsync();
    expect(await call).toMatchObject({ name: 'ApiError', status, code: 'some_code' });
    expect(sent).toHaveLength(times);
  });

  test('Retry-After is waited for, in seconds and as a date, when it is longer than the wait of the client', async () => {
    for (const value of ['7', new Date(wholeSecond + 7_000).toUTCString()]) {
      vi.setSystemTime(wholeSecond);
      const { client, sent } = stubbed([problem(503, 'overloaded', { 'retry-after': value }), json(project)]);
      const call = client.projects.retrieve('prj_1');
      await vi.advanceTimersByTimeAsync(5_900);
      expect(sent).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(1_200);
      expect(sent).toHaveLength(2);
      await call;
    }
  });

  test('maxRetries of a call goes before that of the client', async () => {
    const { client, sent } = stubbed([problem(503, 'overloaded')], { maxRetries: 5 });
    const call = client.projects.retrieve('prj_1', { maxRetries: 1 }).catch((error: unknown) => error);
    await vi.runAllTimersAsync();
    expect(await call).toBeInstanceOf(OverloadedError);
    expect(sent).toHaveLength(2);
  });

  test('cancelling ends the wait between two attempts, and no further one is made', async () => {
    const { client, sent } = stubbed([problem(503, 'overloaded', { 'retry-after': '50' })]);
    const controller = new AbortController();
    const call = client.projects.retrieve('prj_1', { signal: controller.signal }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_000);
    controller.abort(new Error('the user left'));
    expect(await call).toMatchObject({ name: 'ApiAbortedError', cause: new Error('the user left') });
    expect(await call).toBeInstanceOf(ApiAbortedError);
    await vi.runAllTimersAsync();
    expect(sent).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('no answer within the timeout is a timeout at each attempt, and a connection error by class', async () => {
    const { client, sent } = stubbed([silence]);
    const call = client.projects.retrieve('prj_1', { timeoutMs: 100 }).catch((error: unknown) => error);
    await vi.runAllTimersAsync();
    expect(await call).toBeInstanceOf(ApiTimeoutError);
    expect(await call).toBeInstanceOf(ApiConnectionError);
    expect(sent).toHaveLength(3);
  });

  test('a success whose body is cut short is tried again, never returned', async () => {
    const { client, sent } = stubbed([new Response('{"object":"pro'), json(project)]);
    const call = client.projects.retrieve('prj_1');
    await vi.runAllTimersAsync();
    expect(await call).toEqual(project);
    expect(sent).toHaveLength(2);
  });

  test('a call that has ended leaves no timer and no listener behind', async () => {
    const { client } = stubbed([json(project)]);
    const { signal } = new AbortController();
    const removed = vi.spyOn(signal, 'removeEventListener');
    const added = vi.spyOn(signal, 'addEventListener');
    await client.projects.retrieve('prj_1', { signal });
    expect(vi.getTimerCount()).toBe(0);
    expect(removed.mock.calls.length).toBe(added.mock.calls.length);
  });

  test('a signal that is aborted beforehand sends nothing', async () => {
    const { client, sent } = stubbed([json(project)]);
    await expect(client.projects.retrieve('prj_1', { signal: AbortSignal.abort() })).rejects.toBeInstanceOf(ApiAbortedError);
    expect(sent).toEqual([]);
  });
});

test('the waits double from half a second to eight, and chance takes up to half of them', () => {
  expect([1, 2, 3, 4, 5, 6, 50].map((attempt) => backoffMs(attempt, () => 1))).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000]);
  expect(backoffMs(1, () => 0)).toBe(250);
  expect(retryAfterMs(new Headers({ 'retry-after': 'soon' }))).toBeNull();
  expect(retryAfterMs(new Headers({ 'retry-after': 'Fri, 20 Nov 2026 10:00:00 GMT' }), Date.UTC(2026, 10, 20, 9, 59))).toBe(60_000);
});

describe('what is sent', () => {
  test('the key, a user agent with the version, and JSON; nothing of the caller is changed', async () => {
    const { client, sent } = stubbed([json(project)], { baseUrl: 'http://service.test/prefix//', headers: { 'X-Team': 'a' } });
    const body = { name: 'n', client_id: 'c', metadata: { a: 'ü' } };
    await client.projects.create(body, { idempotencyKey: 'mine', headers: { 'X-Team': 'b' } });
    expect(sent[0]).toMatchObject({
      url: 'http://service.test/prefix/v1/projects',
      method: 'POST',
      body,
      headers: { authorization: 'Bearer tr_live_secret', 'idempotency-key': 'mine', 'x-team': 'b', 'content-type': 'application/json' },
    });
    expect(sent[0]?.headers['user-agent']).toMatch(/^tranche-typescript\/\d+\.\d+\.\d+ node\/\d+/);
  });

  test('filters of a read that is no list are sent as those of a list', async () => {
    const { client, sent } = stubbed([json({ object: 'payment_totals', currencies: [] })]);
    await client.payments.retrieveTotals({ project: 'prj_1', status: 'pending', created_after: new Date(0) });
    expect(sent[0]?.url).toBe(
      'http://service.test/v1/payments/totals?project_id=prj_1&status=pending&created_after=1970-01-01T00%3A00%3A00.000Z',
    );
    await expect(client.payments.retrieveTotals({ project: 'prj_1', project_id: 'prj_2' })).rejects.toThrow(TrancheError);
  });

  test('filters: times, metadata, undefined ones left out, and short names for ids', async () => {
    const { client, sent } = stubbed([page([], null)]);
    await client.payments.list({ project: 'prj_1', status: undefined, created_after: new Date(0) });
    await client.projects.list({ metadata: { 'a&b': 'c d' }, limit: 5 });
    expect(sent.map(({ url }) => decodeURIComponent(url))).toEqual([
      'http://service.test/v1/payments?project_id=prj_1&created_after=1970-01-01T00:00:00.000Z',
      'http://service.test/v1/projects?metadata[a&b]=c d&limit=5',
    ]);
  });

  test('an id cannot leave its segment of the path; the call fails when it is awaited, not when it is made', async () => {
    const { client, sent } = stubbed([json(project)]);
    for (const id of ['', '.', '..', '\ud800', undefined as unknown as string]) {
      for (const call of [client.projects.retrieve(id), client.projects.listMilestones(id), client.webhookEndpoints.delete(id)]) {
        const error = await call.catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(TrancheError);
        expect(String(error)).toContain('An id must be');
      }
    }
    expect(sent).toEqual([]);
  });

  test('a function as key is asked at each attempt; null sends none', async () => {
    vi.useFakeTimers();
    let count = 0;
    const asked = stubbed([problem(503, 'overloaded'), json(project)], { apiKey: () => `key_${++count}` });
    const call = asked.client.projects.retrieve('prj_1');
    await vi.runAllTimersAsync();
    await call;
    vi.useRealTimers();
    expect(asked.sent.map(({ headers }) => headers.authorization)).toEqual(['Bearer key_1', 'Bearer key_2']);
    const none = stubbed([json(project)], { apiKey: null });
    await none.client.projects.retrieve('prj_1');
    expect(none.sent[0]?.headers).not.toHaveProperty('authorization');
  });

  test('without a key there is no client', () => {
    vi.stubEnv('TRANCHE_API_KEY', '');
    expect(() => new Tranche()).toThrow('No API key');
    vi.stubEnv('TRANCHE_API_KEY', 'tr_live_x');
    expect(() => new Tranche()).not.toThrow();
    vi.unstubAllEnvs();
  });
});

test('the key is in nothing that is printed: not in the client, its parts, a call, an error or its causes', async () => {
  const { client } = stubbed([problem(404, 'not_found'), new TypeError('lost')], { maxRetries: 0 });
  const call = client.projects.retrieve('prj_1');
  const notFound = await call.catch((error: unknown) => error);
  const lost = await client.projects.retrieve('prj_1').catch((error: unknown) => error);
  for (const thing of [client, client.projects, client.webhooks, client.payments.list(), call, notFound, lost]) {
    for (const text of [inspect(thing, { depth: 20, showHidden: true }), String(thing), JSON.stringify(thing) ?? '']) {
      expect(text).not.toContain('tr_live_secret');
    }
  }
});

describe('results and errors', () => {
  test('an error has the class of its code, and says the request', async () => {
    const { client } = stubbed([problem(404, 'not_found')]);
    const error = await client.projects.retrieve('prj_1').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ name: 'NotFoundError', code: 'not_found', status: 404, requestId: 'req_1', message: 'About not_found.' });
  });

  test('a code that is the name of something built in is just an unknown code', async () => {
    const { client } = stubbed([problem(400, 'constructor')]);
    await expect(client.projects.retrieve('prj_1')).rejects.toMatchObject({ name: 'ApiError', code: 'constructor' });
  });

  test('a redirect is not followed: it would carry the request elsewhere or change it', async () => {
    const { client, sent } = stubbed([new Response('', { status: 308, headers: { location: 'http://elsewhere.test' } })]);
    await expect(client.projects.create({ name: 'n', client_id: 'c' })).rejects.toMatchObject({ status: 308 });
    expect(sent.map(({ redirect }) => redirect)).toEqual(['manual']);
  });

  test('the response is there beside the result', async () => {
    const headers = { 'request-id': 'req_2', ratelimit: '"default";r=998;t=41', 'ratelimit-policy': '"default";q=1000;w=60', etag: '"3"' };
    const { client } = stubbed([json(project, { status: 201, headers })]);
    const { data, response } = await client.projects.create({ name: 'n', client_id: 'c' }).withResponse();
    expect(data).toEqual(project);
    const { status, requestId, etag, rateLimit, replayed, attempts } = response;
    expect({ status, requestId, etag, rateLimit, replayed, attempts }).toEqual({
      status: 201,
      requestId: 'req_2',
      etag: '"3"',
      rateLimit: { limit: 1000, remaining: 998, resetSeconds: 41 },
      replayed: false,
      attempts: 1,
    });
  });

  test('a call is a promise: catch, finally and Promise.all work', async () => {
    const { client } = stubbed([problem(429, 'rate_limited')], { maxRetries: 0 });
    let ended = false;
    const caught = await client.projects
      .retrieve('prj_1')
      .finally(() => (ended = true))
      .catch((error: unknown) => error);
    expect([caught instanceof RateLimitedError, ended]).toEqual([true, true]);
    await expect(Promise.all([client.projects.retrieve('prj_1')])).rejects.toThrow('About rate_limited.');
  });
});

describe('lists', () => {
  test('a list is one page when awaited, and all items when iterated; nothing is sent before', async () => {
    const { client, sent } = stubbed([page(['a', 'b'], 'b'), page(['c'], null)]);
    const list = client.payments.list({ limit: 2 });
    expect(sent).toHaveLength(0);
    const first = await list;
    expect(first.data.map(({ id }) => id)).toEqual(['a', 'b']);
    const ids: string[] = [];
    for await (const payment of list) {
      expectTypeOf(payment).toEqualTypeOf<Payment>();
      ids.push(payment.id);
    }
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(sent.map(({ url }) => url.split('?')[1])).toEqual(['limit=2', 'limit=2&starting_after=b']);
  });

  test('toArray stops at its limit, and reads no page for it', async () => {
    const { client, sent } = stubbed([page(['a', 'b'], 'b'), page(['c', 'd'], 'd')]);
    expect((await client.payments.list().toArray({ limit: 2 })).map(({ id }) => id)).toEqual(['a', 'b']);
    expect(await client.payments.list().toArray({ limit: 0 })).toEqual([]);
    expect(sent).toHaveLength(1);
  });

  test('towards newer items, pages are asked for before their first item and come in reverse', async () => {
    const { client, sent } = stubbed([page(['c', 'd'], 'd'), page(['a', 'b'], null)]);
    const ids = (await client.payments.list({ ending_before: 'e' }).toArray({ limit: 10 })).map(({ id }) => id);
    expect(ids).toEqual(['d', 'c', 'b', 'a']);
    expect(sent.map(({ url }) => url.split('?')[1])).toEqual(['ending_before=e', 'ending_before=c']);
  });
});
