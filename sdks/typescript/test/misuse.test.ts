// What a caller gets wrong: refused before anything is sent, once, in words that repeat no key.
// Over a `fetch` that answers from a list, and the real one where its own messages are at stake.

import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ApiAbortedError, ApiConnectionError, ApiTimeoutError, type CallOptions, Tranche, TrancheError } from '../src/index.ts';
import { json, problem, stubbed } from './stub.ts';

const key = 'tr_live_verysecret';
const project = { object: 'project', id: 'prj_1' };
const caught = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

function expectNoKey(error: unknown): void {
  const all = inspect(error, { depth: 20, showHidden: true }) + String(error) + JSON.stringify(error);
  expect(all).not.toContain('verysecret');
}

describe('values of headers', () => {
  test.each(['\n', ' ', '\u200b', 'é', '\0', '\r\nx: y'])('a key that ends with %j is refused with the client, and not repeated', (end) => {
    let error: unknown;
    try {
      new Tranche({ apiKey: key + end });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(TrancheError);
    expect(String(error)).toContain('The API key must be visible ASCII characters');
    expectNoKey(error);
  });

  test('a key that a function gives is refused alike, and asked for once', async () => {
    for (const given of [`${key}\n`, '', undefined, 5]) {
      const apiKey = vi.fn(async () => given as string);
      const { client, sent } = stubbed([json(project)], { apiKey });
      const error = await caught(client.projects.retrieve('prj_1'));
      expect(error).toBeInstanceOf(TrancheError);
      expect(error).not.toBeInstanceOf(ApiConnectionError);
      expectNoKey(error);
      expect([apiKey.mock.calls.length, sent.length]).toEqual([1, 0]);
    }
  });

  test.each<[string, CallOptions]>([
    ['idempotency-key', { idempotencyKey: 'verysecret €' }],
    ['idempotency-key', { idempotencyKey: 'very secret' }],
    ['idempotency-key', { idempotencyKey: '' }],
    ['x-team', { headers: { 'X-Team': 'verysecret\n' } }],
    ['x-team', { headers: { 'x-team': undefined as unknown as string } }],
    ['if-match', { ifMatch: '"é"' }],
  ])('%s of %j is refused before anything is sent', async (name, options) => {
    const { client, sent } = stubbed([json(project)]);
    const error = await caught(client.projects.create({ name: 'n', client_id: 'c' }, options));
    expect(error).toEqual(new TrancheError(`The value of ${name} cannot be sent as a header.`));
    expect(sent).toEqual([]);
  });

  test('a header of the client is looked at when it is made', () => {
    expect(() => new Tranche({ apiKey: key, headers: { 'x-team': 'a\nb' } })).toThrow('The value of x-team cannot be sent');
    expect(() => new Tranche({ apiKey: key, headers: { 'x team': 'a' } })).toThrow('the name of a header');
  });

  test('an error of what sends requests that quotes a header, in its words or around them, is not passed on', async () => {
    const quoting = [
      (value: string) => new TypeError(`Headers.append: "${value}" is invalid.`),
      (value: string) => new TypeError('fetch failed', { cause: new Error(`bad header ${value}`) }),
      (value: string) => Object.assign(new Error('failed'), { request: { headers: { authorization: value } } }),
      (value: string) => value,
    ];
    for (const failure of quoting) {
      const fetch = async (_url: string, { headers }: RequestInit): Promise<Response> => {
        throw failure((headers as Record<string, string>).authorization as string);
      };
      const client = new Tranche({ apiKey: key, baseUrl: 'http://service.test', maxRetries: 0, fetch });
      const error = await caught(client.projects.retrieve('prj_1'));
      expect(error).toBeInstanceOf(ApiConnectionError);
      expectNoKey(error);
    }
    const harmless = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    const { client } = stubbed([harmless], { maxRetries: 0 });
    expect(await caught(client.projects.retrieve('prj_1'))).toMatchObject({
      message: expect.stringContaining('ECONNREFUSED'),
      cause: harmless,
    });
  });

  test('an address with a password in it, a query or no host is refused', () => {
    for (const baseUrl of [
      'http://name:verysecret@service.test',
      'http://service.test?a=b',
      'http://service.test/#a',
      'http://',
      'service.test',
    ])
      expect(() => new Tranche({ apiKey: key, baseUrl })).toThrow(/^baseUrl must begin with http/);
    for (const baseUrl of ['http://[::1]:8080', 'https://service.test/prefix/', 'http://a']) new Tranche({ apiKey: key, baseUrl });
  });
});

test('a version or an ETag: both are a precondition', async () => {
  const { client, sent } = stubbed([json(project)]);
  for (const ifMatch of [3, '"3"', '*']) await client.projects.update('prj_1', { name: 'n' }, { ifMatch });
  await client.projects.retrieve('prj_1', { ifNoneMatch: 3 });
  expect(sent.map(({ headers }) => headers['if-match'] ?? headers['if-none-match'])).toEqual(['"3"', '"3"', '*', '"3"']);
  const { client: current } = stubbed([new Response(null, { status: 304 })]);
  await expect(current.projects.retrieve('prj_1', { ifNoneMatch: 3 })).rejects.toMatchObject({ name: 'ApiError', status: 304, code: null });
});

test('a filter under both its names is refused, when the list is asked for', async () => {
  const { client, sent } = stubbed([json({ object: 'list', data: [], has_more: false, next_cursor: null })]);
  const list = client.payments.list({ project: 'prj_1', project_id: 'prj_2' });
  await expect(list).rejects.toThrow('Give project_id or its short name, not both.');
  expect(await caught(list.toArray({ limit: 1 }))).toBeInstanceOf(TrancheError);
  expect(sent).toEqual([]);
  await client.payments.list({ project: undefined, project_id: 'prj_2' });
  expect(sent.map(({ url }) => url)).toEqual(['http://service.test/v1/payments?project_id=prj_2']);
});

describe('limits', () => {
  const nonsense: CallOptions[] = [
    ...[0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '100' as unknown as number].map((timeoutMs) => ({ timeoutMs })),
    ...[-1, 1.5, Number.NaN, '2' as unknown as number].map((maxRetries) => ({ maxRetries })),
  ];

  test.each(nonsense)('%j is refused, of a client and of a call', async ({ timeoutMs, maxRetries }) => {
    const given = timeoutMs === undefined ? { maxRetries } : { timeoutMs };
    expect(() => new Tranche({ apiKey: key, ...given })).toThrow(/^(timeoutMs|maxRetries) must be/);
    const { client, sent } = stubbed([problem(503, 'overloaded')]);
    expect(String(await caught(client.projects.retrieve('prj_1', given)))).toMatch(/(timeoutMs|maxRetries) must be/);
    const following = (async (): Promise<void> => {
      for await (const _event of client.events.stream({}, given)) break;
    })();
    expect(String(await caught(following))).toMatch(/(timeoutMs|maxRetries) must be/);
    expect(sent).toEqual([]);
  });

  test('what is given is as it was: undefined is the default, and Infinity tries for ever', () => {
    new Tranche({ apiKey: key, timeoutMs: undefined, maxRetries: undefined });
    new Tranche({ apiKey: key, timeoutMs: 2 ** 31 - 1, maxRetries: Number.POSITIVE_INFINITY });
  });
});

describe('a function for the key that does not come back', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const hanging = { apiKey: () => new Promise<string>(() => {}) };

  test('is under the timeout of its attempt', async () => {
    const { client, sent } = stubbed([json(project)], { ...hanging, timeoutMs: 100, maxRetries: 1 });
    const call = caught(client.projects.retrieve('prj_1'));
    await vi.runAllTimersAsync();
    expect(await call).toBeInstanceOf(ApiTimeoutError);
    expect(sent).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is left alone when the caller cancels, in a stream too', async () => {
    const { client } = stubbed([json(project)], hanging);
    const controller = new AbortController();
    const { signal } = controller;
    const following = (async (): Promise<void> => {
      for await (const _event of client.events.stream({}, { signal })) break;
    })();
    const calls = [client.projects.retrieve('prj_1', { signal }), following].map(caught);
    await vi.advanceTimersByTimeAsync(50);
    controller.abort();
    for (const error of await Promise.all(calls)) expect(error).toBeInstanceOf(ApiAbortedError);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('what it throws is thrown on as it is, and not tried again', async () => {
    const failure = new Error('the vault is closed');
    const apiKey = vi.fn(() => Promise.reject(failure));
    const { client } = stubbed([json(project)], { apiKey });
    expect(await caught(client.projects.retrieve('prj_1'))).toBe(failure);
    expect(apiKey).toHaveBeenCalledTimes(1);
  });
});
