// What every mounted route does with what a client sends: path, query, body and the headers that make a request conditional.
// The routes are made up; the service's own are tested beside themselves.

import { describe, expect, test } from 'vitest';
import { json, PROJECT, sampleRoutes, UUID } from './test-routes.ts';
import { startTestServer } from './test-server.ts';

describe('path and query', () => {
  test.each([
    PROJECT.replace('prj', 'pay'),
    PROJECT.toUpperCase(),
    'x',
    'a'.repeat(5000),
    '%00',
    `${PROJECT}%20`,
  ])('an id of the wrong form or kind is the same 404 as an absent one: %s', async (id) => {
    const { routes, seen } = sampleRoutes();
    const server = startTestServer(routes);
    const answer = await server.app.inject({ url: `/v1/things/${id}`, headers: server.authorize() });
    expect(answer.statusCode).toBe(404);
    expect(answer.json().detail).toBe('There is no such resource in this workspace.');
    expect(seen).toEqual([]);
  });

  test('a handler gets native ids, the caller and the parsed query', async () => {
    const { routes, seen } = sampleRoutes();
    const server = startTestServer(routes);
    const headers = server.authorize(['projects:read']);
    await server.app.inject({ url: `/v1/things/${PROJECT}`, headers });
    await server.app.inject({ url: '/v1/things?limit=5&metadata%5Ba%5D=x+%C3%BC', headers });
    expect(seen[0]).toMatchObject({
      ids: { id: UUID },
      query: {},
      body: undefined,
      idempotency: null,
      ifMatch: null,
      caller: { scopes: ['projects:read'] },
    });
    expect(seen[1]?.query).toEqual({ limit: '5', 'metadata[a]': 'x ü' });
  });

  test.each([
    ['/v1/things?limit=1&limit=2', 422, 'repeated_parameter', 'query/limit'],
    ['/v1/things?lim=1', 422, 'unknown_parameter', 'query/lim'],
    ['/v1/things?limit=a', 422, 'wrong_format', 'query/limit'],
    ['/v1/things?limit=%00', 422, 'control_character', 'query/limit'],
    [`/v1/things/${PROJECT}?limit=1`, 422, 'unknown_parameter', 'query/limit'],
    ['/v1/things?__proto__=1', 422, 'unknown_parameter', 'query/__proto__'],
  ])('%s is refused, naming the parameter', async (url, status, code, pointer) => {
    const server = startTestServer(sampleRoutes().routes);
    const answer = await server.app.inject({ url, headers: server.authorize() });
    expect(answer.statusCode).toBe(status);
    expect(answer.json().errors).toMatchObject([{ pointer, code }]);
  });

  test('a query that is not percent-encoded UTF-8 is a 400', async () => {
    const server = startTestServer(sampleRoutes().routes);
    const headers = server.authorize();
    for (const query of ['limit=%zz', 'limit=%C3', '%']) {
      expect((await server.app.inject({ url: `/v1/things?${query}`, headers })).json().code).toBe('malformed_request');
    }
  });
});

describe('body', () => {
  test.each([
    ['not JSON', '{"name": }', 400, 'malformed_json'],
    ['empty', '', 400, 'malformed_json'],
    ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400, 'malformed_json'],
    ['poisoned', '{"name":"a","metadata":{"__proto__":{"x":1}}}', 400, 'malformed_json'],
    ['poisoned by a constructor', '{"constructor":{"prototype":{"x":1}}}', 400, 'malformed_json'],
    ['an array', '[]', 422, 'validation_failed'],
    ['null', 'null', 422, 'validation_failed'],
    ['over 1 MiB', JSON.stringify({ name: 'a'.repeat(1024 * 1024) }), 413, 'body_too_large'],
  ])('a body that is %s is refused and changes nothing', async (_name, payload, status, code) => {
    const { routes, seen } = sampleRoutes();
    const server = startTestServer(routes);
    const answer = await server.app.inject({
      method: 'POST',
      url: '/v1/things',
      headers: { ...server.authorize(), 'content-type': 'application/json' },
      payload,
    });
    expect([answer.statusCode, answer.json().code]).toEqual([status, code]);
    expect(seen).toEqual([]);
  });

  test('the detail of unparsable JSON says where parsing stopped', async () => {
    const server = startTestServer(sampleRoutes().routes);
    const answer = await server.app.inject({ method: 'POST', url: '/v1/things', ...json(server.authorize(), '{"name": "a",}') });
    expect(answer.json().detail).toMatch(/position 13/);
  });

  test.each([
    [{ 'content-type': 'text/plain' }, 415],
    [{ 'content-type': 'application/json; charset=latin1' }, 415],
    [{ 'content-type': 'application/json;charset=UTF-8' }, 201],
    [{ 'content-type': 'Application/JSON' }, 201],
    [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }, 415],
    [{ 'content-type': 'application/json, application/json' }, 415],
    [{ 'content-type': ';;;' }, 415],
    [{}, 415],
  ])('a body declared as %j is answered %i', async (headers, status) => {
    const server = startTestServer(sampleRoutes().routes);
    const payload = Buffer.from('{"name":"a"}');
    const answer = await server.app.inject({ method: 'POST', url: '/v1/things', headers: { ...server.authorize(), ...headers }, payload });
    expect(answer.statusCode).toBe(status);
  });

  test('every mistake is listed with its pointer, a code and what would be right', async () => {
    const server = startTestServer(sampleRoutes().routes);
    const body = { name: 'too long', amount: 1.5, milestones: [{ title: 1, amount: 0 }, { amount: 1 }], 'a/b~c': 1, metadata: { a: 1 } };
    const answer = await server.app.inject({ method: 'POST', url: '/v1/things', ...json(server.authorize(), body) });
    expect(answer.statusCode).toBe(422);
    const errors: { pointer: string; code: string; message: string }[] = answer.json().errors;
    expect(errors.map(({ pointer, code }) => `${pointer} ${code}`).sort()).toEqual([
      '/amount wrong_type',
      '/a~1b~0c unknown_field',
      '/metadata/a wrong_type',
      '/milestones/0/amount too_small',
      '/milestones/0/title wrong_type',
      '/milestones/1/title missing',
      '/name too_long',
    ]);
    expect(errors.find(({ pointer }) => pointer === '/amount')?.message).toBe('Must be an integer.');
    expect(errors.find(({ pointer }) => pointer === '/name')?.message).toBe('Must have at most 5 characters.');
  });

  test.each([
    ['NUL in a text', { name: 'a\u0000' }, '/name', 'control_character'],
    ['an escape character at depth', { milestones: [{ title: 'a\u001b[0m' }] }, '/milestones/0/title', 'control_character'],
    ['NUL in a key', { metadata: { 'a\u0000': 'b' } }, '/metadata/a\ufffd', 'control_character'],
    ['half a surrogate pair', { name: '\ud800' }, '/name', 'lone_surrogate'],
    ['half a surrogate pair in a key', { metadata: { '\udc00': 'b' } }, '/metadata/\ufffd', 'lone_surrogate'],
  ])('%s is refused before any schema sees it', async (_name, body, pointer, code) => {
    const server = startTestServer(sampleRoutes().routes);
    const answer = await server.app.inject({ method: 'POST', url: '/v1/things', ...json(server.authorize(), body) });
    expect(answer.statusCode).toBe(422);
    expect(answer.json().errors).toMatchObject([{ pointer, code }]);
  });

  test('nesting is bounded, however deep', async () => {
    const server = startTestServer(sampleRoutes().routes);
    const deep = `{"name":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    const answer = await server.app.inject({ method: 'POST', url: '/v1/things', ...json(server.authorize(), deep) });
    expect(answer.json().errors).toMatchObject([{ code: 'too_deep' }]);
  });

  test('a route without fields takes nothing or an empty object, and names what it does not know', async () => {
    const server = startTestServer(sampleRoutes().routes);
    const send = (headers: Record<string, string>, payload?: string) =>
      server.app.inject({
        method: 'POST',
        url: `/v1/things/${PROJECT}/release`,
        headers: { ...server.authorize(), ...headers },
        ...(payload === undefined ? {} : { payload }),
      });
    expect((await send({})).statusCode).toBe(200);
    expect((await send({ 'content-type': 'application/json' })).statusCode).toBe(200);
    expect((await send({ 'content-type': 'application/json' }, '{}')).statusCode).toBe(200);
    expect((await send({ 'content-type': 'application/json' }, '{"a":1}')).json().errors).toMatchObject([
      { pointer: '/a', code: 'unknown_field' },
    ]);
    expect((await send({ 'content-type': 'application/json' }, '[1]')).json().errors).toMatchObject([{ pointer: '', code: 'wrong_type' }]);
  });

  test('a body on GET or DELETE is ignored, whatever it is', async () => {
    const server = startTestServer(sampleRoutes().routes);
    const headers = { ...server.authorize(), 'content-type': 'nonsense;;', 'content-encoding': 'gzip' };
    expect((await server.app.inject({ method: 'DELETE', url: `/v1/things/${PROJECT}`, headers, payload: '{{' })).statusCode).toBe(204);
    expect((await server.app.inject({ method: 'GET', url: `/v1/things/${PROJECT}`, headers, payload: '{{' })).statusCode).toBe(200);
  });
});

describe('conditions', () => {
  test('the bare and the quoted form of an Idempotency-Key are one key, and other forms are refused', async () => {
    const { routes, seen } = sampleRoutes();
    const server = startTestServer(routes);
    const send = (key: string) =>
      server.app.inject({ method: 'POST', url: '/v1/things', ...json({ ...server.authorize(), 'idempotency-key': key }, { name: 'a' }) });
    for (const key of ['abc-1', '"abc-1"', '"a\\"b"']) expect((await send(key)).statusCode).toBe(201);
    expect(seen.map((request) => request.idempotency?.key)).toEqual(['abc-1', 'abc-1', 'a"b']);
    for (const key of ['', '""', '"abc', 'a b', 'ü', 'a'.repeat(256)]) {
      const answer = await send(key);
      expect(answer.statusCode, key).toBe(422);
      expect(answer.json().errors).toMatchObject([{ pointer: 'header/Idempotency-Key' }]);
    }
  });

  test('the fingerprint is of method, path and body, whatever the order of the keys', async () => {
    const { routes, seen } = sampleRoutes();
    const server = startTestServer(routes);
    const headers = { ...server.authorize(), 'idempotency-key': 'k' };
    for (const body of ['{"name":"a","amount":1}', '{ "amount": 1.0, "name": "\\u0061" }', '{"name":"a","amount":2}']) {
      await server.app.inject({ method: 'POST', url: '/v1/things', ...json(headers, body) });
    }
    await server.app.inject({ method: 'PATCH', url: `/v1/things/${PROJECT}`, ...json(headers, '{"name":"a","amount":1}') });
    const prints = seen.map((request) => request.idempotency?.fingerprint.toString('hex'));
    expect(prints[0]).toHaveLength(64);
    expect(prints[1]).toBe(prints[0]);
    expect(new Set(prints).size).toBe(3);
  });

  test('If-Match is read as a version; weak, foreign and unreadable tags never match', async () => {
    const { routes, seen } = sampleRoutes();
    const server = startTestServer(routes);
    const send = (match: string) =>
      server.app.inject({ method: 'PATCH', url: `/v1/things/${PROJECT}`, ...json({ ...server.authorize(), 'if-match': match }, {}) });
    expect((await send('"7"')).statusCode).toBe(200);
    expect((await send('*')).statusCode).toBe(200);
    expect(seen.map((request) => request.ifMatch)).toEqual([7, null]);
    for (const match of ['W/"7"', '7', '"x"', '"1", "2"', '"-1"', '']) expect((await send(match)).statusCode, match).toBe(412);
  });

  test('If-None-Match with the current ETag is a 304 without a body', async () => {
    const server = startTestServer(
      sampleRoutes(async () => ({ body: { id: 'x', amount: 1, note: null }, headers: { etag: '"3"' } })).routes,
    );
    const get = (match: string) =>
      server.app.inject({ url: `/v1/things/${PROJECT}`, headers: { ...server.authorize(), 'if-none-match': match } });
    for (const match of ['"3"', 'W/"3"', '"1", "3"', '*']) {
      const answer = await get(match);
      expect([answer.statusCode, answer.body, answer.headers.etag], match).toEqual([304, '', '"3"']);
    }
    expect((await get('"2"')).statusCode).toBe(200);
  });
});
