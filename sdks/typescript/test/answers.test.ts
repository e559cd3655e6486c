// What the client makes of answers that no server of this API should give, and of pages that lead nowhere.
// Over a `fetch` that answers from a list.

import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { NotFoundError, UnexpectedAnswerError } from '../src/index.ts';
import { json, problem, stubbed } from './stub.ts';

const caught = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

const headers = { 'request-id': 'req_1' };

describe('a success that is not what the operation answers', () => {
  test.each([
    ['{}', 'an object that does not say what it is'],
    ['null', 'null'],
    ['[]', 'an array'],
    ['', 'an empty body'],
    ['"text"', 'a string'],
    ['{"object":"list","data":{}}', 'an incomplete or other object, "list"'],
    ['{"object":"payment"}', 'an incomplete or other object, "payment"'],
    ['{"object":"tr_live secret"}', 'an object that does not say what it is'],
  ])('%j is an error that says what came, and is not asked for again', async (text, what) => {
    const { client, sent } = stubbed([new Response(text, { headers })]);
    for (const call of [client.projects.retrieve('prj_1'), client.projects.list()]) {
      const error = await caught(call);
      expect(error).toBeInstanceOf(UnexpectedAnswerError);
      expect(error).toMatchObject({ name: 'UnexpectedAnswerError', status: 200, requestId: 'req_1' });
      expect(String(error)).toContain(`and got ${what}.`);
    }
    expect(sent).toHaveLength(2);
  });

  test('something where nothing is answered is one as well', async () => {
    const { client } = stubbed([json({})]);
    await expect(client.webhookEndpoints.delete('whe_1')).rejects.toThrow('Expected nothing');
    const { client: right } = stubbed([new Response(null, { status: 204 })]);
    expect(await right.webhookEndpoints.delete('whe_1')).toBeUndefined();
  });

  test('fields that this version does not know are left in', async () => {
    const { client } = stubbed([json({ object: 'project', id: 'prj_1', colour: 'red' })]);
    expect(await client.projects.retrieve('prj_1')).toEqual({ object: 'project', id: 'prj_1', colour: 'red' });
  });
});

test('a new secret is in a result and its JSON, and not in what is printed of it', async () => {
  const { client } = stubbed([json({ object: 'api_key', id: 'key_1', secret: 'tr_live_new' })]);
  const key = await client.apiKeys.create({ name: 'n', scopes: ['projects:read'] });
  expect(key.secret).toBe('tr_live_new');
  expect(JSON.parse(JSON.stringify(key))).toEqual({ object: 'api_key', id: 'key_1', secret: 'tr_live_new' });
  for (const thing of [key, { key }, [key]]) {
    expect(inspect(thing, { depth: 10, showHidden: true })).not.toContain('tr_live_new');
    expect(inspect(thing)).toContain('[secret]');
  }
});

describe('a DELETE that answers 404', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test.each([
    ['a lost connection', new TypeError('lost')],
    ['a 500', problem(500, 'internal_error')],
    ['a 504 of something in between', new Response('late', { status: 504 })],
  ])('counts as done after %s: that attempt may have done it', async (_name, first) => {
    const { client, sent } = stubbed([first, problem(404, 'not_found')]);
    const call = caught(client.webhookEndpoints.delete('whe_1'));
    await vi.runAllTimersAsync();
    expect(await call).toBeUndefined();
    expect(sent).toHaveLength(2);
  });

  test('is an error at first, and after an attempt that was not carried out', async () => {
    for (const replies of [[problem(404, 'not_found')], [problem(429, 'rate_limited'), problem(404, 'not_found')]]) {
      const call = caught(stubbed(replies).client.webhookEndpoints.delete('whe_1'));
      await vi.runAllTimersAsync();
      expect(await call).toBeInstanceOf(NotFoundError);
    }
  });
});

describe('pages', () => {
  const page = (ids: readonly string[], has_more: boolean, next_cursor: string | null): Response =>
    json({ object: 'list', data: ids.map((id) => ({ id })), has_more, next_cursor }, { headers });

  /** All ids, and the error at the end. */
  async function idsOf(list: AsyncIterable<{ readonly id: string }>): Promise<[string[], unknown]> {
    const ids: string[] = [];
    try {
      for await (const { id } of list) if (ids.push(id) > 20) throw new Error('it goes on for ever');
    } catch (error) {
      return [ids, error];
    }
    return [ids, null];
  }

  test('a page without items is gone on from', async () => {
    const { client, sent } = stubbed([page(['a'], true, 'a'), page([], true, 'm'), page(['z'], false, null)]);
    expect(await idsOf(client.deliveries.list())).toEqual([['a', 'z'], null]);
    expect(sent.at(-1)?.url).toBe('http://service.test/v1/deliveries?starting_after=m');
  });

  test('the log read backwards goes on before the last number', async () => {
    const { client, sent } = stubbed([page(['c'], true, '7'), page([], true, '4'), page(['a'], false, null)]);
    expect(await idsOf(client.events.list({ order: 'desc', event_types: 'payment.released' }))).toEqual([['c', 'a'], null]);
    expect(sent.map(({ url }) => new URL(url).searchParams.get('before_seq'))).toEqual([null, '7', '4']);
  });

  test.each([
    ['no cursor', {}, [page(['a'], true, null)], ['a']],
    ['an empty cursor', {}, [page(['a'], true, '')], ['a']],
    ['the same cursor again', {}, [page(['a'], true, 'a')], ['a', 'a']],
    ['the same number again', { after_seq: 7 }, [page(['a'], true, '7')], ['a']],
    ['no first item on the way to newer ones', { ending_before: 'x' }, [page([], true, 'y')], []],
    ['the same first item again', { ending_before: 'x' }, [page(['x'], true, 'y')], ['x']],
  ])('more, but %s: an error once the items are there, neither an end nor a loop', async (_name, query, replies, expected) => {
    const { client } = stubbed(replies);
    const [ids, error] = await idsOf('after_seq' in query ? client.events.list(query) : client.payments.list(query));
    expect(ids).toEqual(expected);
    expect(error).toBeInstanceOf(UnexpectedAnswerError);
    expect(error).toMatchObject({ status: 200, requestId: 'req_1', message: 'The list says that there is more, but not where.' });
  });

  test('a list is a promise of its first page: catch and finally work, and it is sent for once', async () => {
    const { client, sent } = stubbed([problem(404, 'not_found')]);
    const list = client.payments.list();
    let ended = false;
    const error = await list.finally(() => (ended = true)).catch((thrown: unknown) => thrown);
    expect([error instanceof NotFoundError, ended]).toEqual([true, true]);
    expect(await list.catch(() => 'again')).toBe('again');
    expect(sent).toHaveLength(1);
  });

  test('toArray without a limit that is one says what it needs; Infinity is all', async () => {
    const { client } = stubbed([page(['a', 'b'], false, null)]);
    for (const wrong of [undefined, {}, { limit: undefined }, { limit: Number.NaN }, { limit: '5' }]) {
      await expect(client.payments.list().toArray(wrong as unknown as { limit: number })).rejects.toThrow('toArray needs { limit }');
    }
    expect(await client.payments.list().toArray({ limit: Number.POSITIVE_INFINITY })).toHaveLength(2);
  });
});
