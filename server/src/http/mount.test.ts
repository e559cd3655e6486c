// What every mounted route does before its handler is asked for anything, and with what the handler returns.
// What it does with paths, queries, bodies and conditions is in mount-input.test.ts.

import { describe, expect, test } from 'vitest';
import { CommitUnknown, DatabaseUnavailable } from '../store/database.ts';
import type { Answer } from './route.ts';
import { json, PROJECT, sampleRoutes } from './test-routes.ts';
import { NOW_MS, startTestServer } from './test-server.ts';

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

describe('answers', () => {
  const outcomes: [string, Answer, number, string][] = [
    [
      'an object by the schema, without what the schema does not name',
      { body: { id: 'a"', amount: 5, note: null, secret: 'x' } },
      201,
      '{"id":"a\\"","amount":5,"note":null}',
    ],
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
    expect(server.log).toContainEqual(
      expect.objectContaining({
        level: 50,
        request_id: answer.headers['request-id'],
        err: expect.objectContaining({ message: error.message }),
      }),
    );
  });

  test('a handler that throws at once is a 500 as well', async () => {
    const server = startTestServer(
      sampleRoutes(() => {
        throw new Error('at once');
      }).routes,
    );
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
