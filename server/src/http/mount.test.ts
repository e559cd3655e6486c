// What every mounted route does before and after its handler: admission, checks in their order, conditions, serialization.
// The routes here are made up; the service's own are tested beside themselves.

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { encodeId } from '../domain/ids.ts';
import { CommitUnknown, DatabaseUnavailable } from '../store/database.ts';
import { type Answer, defineRoute, type Route, type RouteRequest } from './route.ts';
import { NOW_MS, startTestServer } from './test-server.ts';

const UUID = '01993c5a-8f00-7000-8000-0000000000aa';
const PROJECT = encodeId('project', UUID);

const thing = z.object({ id: z.string(), amount: z.int(), note: z.string().nullable() });
const thingBody = z.strictObject({
  name: z.string().min(1).max(5),
  amount: z.int().max(100).optional(),
  milestones: z.array(z.strictObject({ title: z.string(), amount: z.int().min(1) })).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
});

type Seen = RouteRequest<unknown, unknown>;

/** A GET, a POST, a PATCH and a body-less POST over one path, and what their handlers saw. */
function sampleRoutes(answer: (request: Seen) => ReturnType<Route['handle']> = async () => ({ body: { id: 'x', amount: 1, note: null } })) {
  const seen: Seen[] = [];
  const handle = (request: Seen) => {
    seen.push(request);
    return answer(request);
  };
  const common = { tag: 'Things', summary: 'A thing.', errors: [] };
  const routes = [
    defineRoute({
      ...common, method: 'GET', path: '/v1/things/:id', operationId: 'getThing', scope: 'projects:read', ids: { id: 'project' }, versioned: true,
      success: { status: 200, description: 'The thing.', schema: thing }, handle,
    }),
    defineRoute({
      ...common, method: 'GET', path: '/v1/things', operationId: 'listThings', scope: 'projects:read',
      query: z.strictObject({ limit: z.string().regex(/^\d+$/, 'Must be a number.').optional(), 'metadata[a]': z.string().optional() }),
      success: { status: 200, description: 'Things.', schema: thing }, handle,
    }),
    defineRoute({
      ...common, method: 'POST', path: '/v1/things', operationId: 'createThing', scope: 'projects:write', idempotent: true, body: thingBody,
      success: { status: 201, description: 'The thing.', schema: thing }, handle,
    }),
    defineRoute({
      ...common, method: 'PATCH', path: '/v1/things/:id', operationId: 'updateThing', scope: null, ids: { id: 'project' }, versioned: true,
      idempotent: true, body: thingBody.partial(), success: { status: 200, description: 'The thing.', schema: thing }, handle,
    }),
    defineRoute({
      ...common, method: 'POST', path: '/v1/things/:id/release', operationId: 'releaseThing', scope: null, ids: { id: 'project' }, idempotent: true,
      success: { status: 200, description: 'The thing.', schema: thing }, handle,
    }),
    defineRoute({
      ...common, method: 'DELETE', path: '/v1/things/:id', operationId: 'deleteThing', scope: null, ids: { id: 'project' },
      success: { status: 204, description: 'Gone.' }, handle: (request) => (handle(request), Promise.resolve({ body: null })),
    }),
  ];
  return { routes, seen };
}

const json = (headers: Record<string, string>, value: unknown) => ({
  headers: { 'content-type': 'application/json', ...headers },
  payload: typeof value === 'string' ? value : JSON.stringify(value),
});

describe('admission', () => {
  test.each([
    ['no header', undefined, 'missing_api_key'],
    ['another scheme', 'Basic abc', 'missing_api_key'],
    ['no secret', 'Bearer ', 'missing_api_key'],
    ['two secrets', 'Bearer a b', 'missing_api_key'],
    ['two headers joined', 'Bearer a, Bearer b', 'missing_api_key'],
    ['a secret that is far too long', `Bearer ${'a'.repeat(600)}`, 'missing_api_key'],
    ['an unknown secret', 'Bearer tr_live_unknown', 'invalid_api_key'],
  ])('%s is a 401 with a Bearer challenge', async (_name, authorization, code) => {
    const { app } = startTestServer(sampleRoutes().routes);
    const answer = await app.inject({ url: `/v1/things/${PROJECT}`, headers: authorization === undefined ? {} : { authorization } });
    expect(answer.statusCode).toBe(401);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm="tranche"/);
    expect(answer.json()).toMatchObject({ code, status: 401, type: `/docs/errors/${code}`, request_id: answer.headers['request-id'] });
    expect(answer.headers.ratelimit).toBeUndefined();
  });

  test('a revoked and an expired key are told apart, and the scheme may be in any case', async () => {
    const server = startTestServer(sampleRoutes().routes);
    const revoked = server.authorize(undefined, { revokedAt: new Date(NOW_MS - 1) });
    const expired = server.authorize(undefined, { expiresAt: new Date(NOW_MS) });
    const good = server.authorize();
    const get = (headers: { authorization: string }) => server.app.inject({ url: `/v1/things/${PROJECT}`, headers });
    expect((await get(revoked)).json().code).toBe('api_key_revoked');
    expect((await get(expired)).json().code).toBe('api_key_expired');
    expect((await get({ authorization: good.authorization.replace('Bearer', 'bEARER') })).statusCode).toBe(200);
  });

  test('a missing scope is a 403 that names it, and still counts', async () => {
    const server = startTestServer(sampleRoutes().routes);
    const headers = server.authorize(['payments:read']);
    const answer = await server.app.inject({ url: `/v1/things/${PROJECT}`, headers });
    expect(answer.statusCode).toBe(403);
    expect(answer.json().detail).toContain('projects:read');
    expect(answer.headers['www-authenticate']).toContain('scope="projects:read"');
    expect(answer.headers.ratelimit).toBe('"default";r=999;t=45');
  });

  test('every authenticated answer carries the limit, failed or not, and HEAD counts as GET', async () => {
    const server = startTestServer(sampleRoutes().routes, { limitPerMinute: 4 });
    const headers = server.authorize();
    const urls = ['/v1/things/nonsense', `/v1/things/${PROJECT}?x=1`, `/v1/things/${PROJECT}`];
    const left: unknown[] = [];
    for (const url of urls) left.push((await server.app.inject({ url, headers })).headers.ratelimit);
    const head = await server.app.inject({ method: 'HEAD', url: `/v1/things/${PROJECT}`, headers });
    expect(head.statusCode).toBe(200);
    expect(head.body).toBe('');
    expect(Number(head.headers['content-length'])).toBeGreaterThan(10);
    expect([...left, head.headers.ratelimit]).toEqual([3, 2, 1, 0].map((r) => `"default";r=${r};t=45`));
    const over = await server.app.inject({ url: `/v1/things/${PROJECT}`, headers });
    expect(over.statusCode).toBe(429);
    expect(over.headers['retry-after']).toBe('45');
    expect(over.headers['ratelimit-policy']).toBe('"default";q=4;w=60');
    expect(over.json()).toMatchObject({ code: 'rate_limited', type: 'https://iana.org/assignments/http-problem-types#quota-exceeded' });
  });

  test('a lease that cannot be had is a 503 with Retry-After', async () => {
    const limits = { take: () => Promise.reject(new DatabaseUnavailable('down')), secondsToReset: () => 1, limitPerMinute: 9 };
    const server = startTestServer(sampleRoutes().routes, { limits });
    const answer = await server.app.inject({ url: `/v1/things/${PROJECT}`, headers: server.authorize() });
    expect([answer.statusCode, answer.headers['retry-after'], answer.json().code]).toEqual([503, '1', 'overloaded']);
  });
});

describe('path and query', () => {
  test.each([PROJECT.replace('prj', 'pay'), PROJECT.toUpperCase(), 'x', 'a'.repeat(5000), '%00', `${PROJECT}%20`])(
    'an id of the wrong form or kind is the same 404 as an absent one: %s',
    async (id) => {
      const { routes, seen } = sampleRoutes();
      const server = startTestServer(routes);
      const answer = await server.app.inject({ url: `/v1/things/${id}`, headers: server.authorize() });
      expect(answer.statusCode).toBe(404);
      expect(answer.json().detail).toBe('There is no such resource in this workspace.');
      expect(seen).toEqual([]);
    },
  );

  test('a handler gets native ids, the caller and the parsed query', async () => {
    const { routes, seen } = sampleRoutes();
    const server = startTestServer(routes);
    const headers = server.authorize(['projects:read']);
    await server.app.inject({ url: `/v1/things/${PROJECT}`, headers });
    await server.app.inject({ url: '/v1/things?limit=5&metadata%5Ba%5D=x+%C3%BC', headers });
    expect(seen[0]).toMatchObject({ ids: { id: UUID }, query: {}, body: undefined, idempotency: null, ifMatch: null, caller: { scopes: ['projects:read'] } });
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
      method: 'POST', url: '/v1/things', headers: { ...server.authorize(), 'content-type': 'application/json' }, payload,
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
      '/amount wrong_type', '/a~1b~0c unknown_field', '/metadata/a wrong_type', '/milestones/0/amount too_small', '/milestones/0/title wrong_type',
      '/milestones/1/title missing', '/name too_long',
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
      server.app.inject({ method: 'POST', url: `/v1/things/${PROJECT}/release`, headers: { ...server.authorize(), ...headers }, ...(payload === undefined ? {} : { payload }) });
    expect((await send({})).statusCode).toBe(200);
    expect((await send({ 'content-type': 'application/json' })).statusCode).toBe(200);
    expect((await send({ 'content-type': 'application/json' }, '{}')).statusCode).toBe(200);
    expect((await send({ 'content-type': 'application/json' }, '{"a":1}')).json().errors).toMatchObject([{ pointer: '/a', code: 'unknown_field' }]);
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
    const send = (key: string) => server.app.inject({ method: 'POST', url: '/v1/things', ...json({ ...server.authorize(), 'idempotency-key': key }, { name: 'a' }) });
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
    const send = (match: string) => server.app.inject({ method: 'PATCH', url: `/v1/things/${PROJECT}`, ...json({ ...server.authorize(), 'if-match': match }, {}) });
    expect((await send('"7"')).statusCode).toBe(200);
    expect((await send('*')).statusCode).toBe(200);
    expect(seen.map((request) => request.ifMatch)).toEqual([7, null]);
    for (const match of ['W/"7"', '7', '"x"', '"1", "2"', '"-1"', '']) expect((await send(match)).statusCode, match).toBe(412);
  });

  test('If-None-Match with the current ETag is a 304 without a body', async () => {
    const server = startTestServer(sampleRoutes(async () => ({ body: { id: 'x', amount: 1, note: null }, headers: { etag: '"3"' } })).routes);
    const get = (match: string) => server.app.inject({ url: `/v1/things/${PROJECT}`, headers: { ...server.authorize(), 'if-none-match': match } });
    for (const match of ['"3"', 'W/"3"', '"1", "3"', '*']) {
      const answer = await get(match);
      expect([answer.statusCode, answer.body, answer.headers.etag], match).toEqual([304, '', '"3"']);
    }
    expect((await get('"2"')).statusCode).toBe(200);
  });
});

describe('answers', () => {
  const outcomes: [string, Answer, number, string][] = [
    ['an object by the schema, without what the schema does not name', { body: { id: 'a"', amount: 5, note: null, secret: 'x' } }, 201, '{"id":"a\\"","amount":5,"note":null}'],
    ['a text as it is', { body: '{"any":1}', status: 200 }, 200, '{"any":1}'],
    ['nothing as an empty body', { body: null, status: 204 }, 204, ''],
  ];
  test.each(outcomes)('a handler may answer with %s', async (_name, outcome, status, text) => {
    const server = startTestServer(sampleRoutes(async () => outcome).routes);
    const answer = await server.app.inject({ method: 'POST', url: '/v1/things', ...json(server.authorize(), { name: 'a' }) });
    expect([answer.statusCode, answer.body]).toEqual([status, text]);
    expect(answer.headers['content-type']).toBe(text === '' ? undefined : 'application/json; charset=utf-8');
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });

  test('a refusal becomes the problem of its code', async () => {
    const refusal = { code: 'invalid_transition', detail: 'From approved nothing follows.' } as const;
    const server = startTestServer(sampleRoutes(async () => refusal).routes);
    const answer = await server.app.inject({ method: 'POST', url: '/v1/things', ...json(server.authorize(), { name: 'a' }) });
    expect(answer.statusCode).toBe(409);
    expect(answer.json()).toEqual({
      type: '/docs/errors/invalid_transition',
      title: 'The status cannot change that way',
      status: 409,
      detail: 'From approved nothing follows.',
      code: 'invalid_transition',
      request_id: answer.headers['request-id'],
    });
  });

  test.each([
    ['a defect', new Error('secret inside'), 500, 'internal_error', /no fault of yours/],
    ['a database out of reach', new DatabaseUnavailable('host'), 503, 'overloaded', /Nothing was changed/],
    ['an unknown outcome', new CommitUnknown('host'), 503, 'overloaded', /outcome is unknown/],
  ])('%s is answered without a word of the inside, and logged with the request id', async (_name, error, status, code, detail) => {
    const server = startTestServer(sampleRoutes(() => Promise.reject(error)).routes);
    const answer = await server.app.inject({ method: 'POST', url: '/v1/things', ...json(server.authorize(), { name: 'a' }) });
    expect([answer.statusCode, answer.json().code]).toEqual([status, code]);
    expect(answer.json().detail).toMatch(detail);
    expect(answer.body).not.toContain(error.message);
    expect(answer.headers['retry-after']).toBe(status === 503 ? '1' : undefined);
    expect(server.log).toContainEqual(expect.objectContaining({ level: 50, request_id: answer.headers['request-id'], err: expect.objectContaining({ message: error.message }) }));
  });

  test('a handler that throws at once is a 500 as well', async () => {
    const server = startTestServer(sampleRoutes(() => { throw new Error('at once'); }).routes);
    expect((await server.app.inject({ url: `/v1/things/${PROJECT}`, headers: server.authorize() })).statusCode).toBe(500);
  });

  test('no log line holds a secret, a body or a query, at any level', async () => {
    const server = startTestServer(sampleRoutes(() => Promise.reject(new Error('broken'))).routes, { logLevel: 'trace' });
    const { authorization } = server.authorize();
    const headers = { authorization, 'idempotency-key': 'very-private' };
    await server.app.inject({ method: 'POST', url: '/v1/things', ...json(headers, { name: 'abcde' }) });
    await server.app.inject({ method: 'POST', url: '/v1/things', ...json(headers, { name: 'abcdef' }) });
    await server.app.inject({ method: 'POST', url: '/v1/things', ...json(headers, '{"name":"abcdefg"') });
    await server.app.inject({ url: '/v1/things?limit=4711', headers });
    const lines = JSON.stringify(server.log);
    expect(server.log.length).toBeGreaterThan(3);
    for (const word of [authorization.slice(7), 'very-private', 'abcde', '4711', 'authorization']) expect(lines).not.toContain(word);
  });
});
