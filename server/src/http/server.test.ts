// The server on a real socket: requests that are broken, odd, slow or huge, and how it stops.
// What a route does is tested in mount.test.ts.

import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { encodeId } from '../domain/ids.ts';
import { defineRoute, type Route } from './route.ts';
import { startTestServer, type TestServer, type TestServerOptions } from './test-server.ts';

const PROJECT = encodeId('project', '01993c5a-8f00-7000-8000-0000000000aa');

function routes(handle: Route['handle'] = async () => ({ body: '{"id":1}' })): Route[] {
  const common = { tag: 'Things', summary: 'A thing.', errors: [], scope: null, success: { status: 200, description: 'It.' } } as const;
  return [
    defineRoute({ ...common, method: 'GET', path: '/v1/things/:id', operationId: 'getThing', ids: { id: 'project' }, handle }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/v1/things',
      operationId: 'createThing',
      body: z.strictObject({ name: z.string() }),
      handle,
    }),
  ];
}

interface Listening extends TestServer {
  readonly port: number;
}

async function listen(handle?: Route['handle'], options: TestServerOptions = {}): Promise<Listening> {
  const server = startTestServer(routes(handle), options);
  await server.app.listen({ host: '127.0.0.1', port: 0 });
  return { ...server, port: (server.app.server.address() as AddressInfo).port };
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** Sends text and resolves with all that came back once the server closed the connection. */
async function exchange(
  port: number,
  text: string,
): Promise<{ status: number; headers: Record<string, string>; body: string; raw: string }> {
  const socket = await open(port);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => {});
  socket.write(text, 'latin1');
  await once(socket, 'close');
  return parse(Buffer.concat(chunks).toString());
}

function parse(raw: string) {
  const [head = '', body = ''] = raw.split(/\r\n\r\n(.*)/s);
  const [line = '', ...fields] = head.split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => [field.slice(0, field.indexOf(':')).toLowerCase(), field.slice(field.indexOf(':') + 2)]),
  );
  return { status: Number(line.split(' ')[1]), headers, body, raw };
}

describe('answers that are not the usual one, among those that are', () => {
  async function listenToCallers() {
    const server = await listen();
    const { authorization } = server.authorize();
    const request = (start: string, ...fields: string[]) =>
      [start, 'Host: a', `Authorization: ${authorization}`, ...fields, '', ''].join('\r\n');
    const usual = request(`GET /v1/things/${PROJECT} HTTP/1.1`);
    return { ...server, request, usual: usual + usual };
  }
  const namesOf = (head: string) =>
    head
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(':')[0])
      .sort();

  test('HEAD has the same headers and no body', async () => {
    const { port, request, usual } = await listenToCallers();
    const head = request(`HEAD /v1/things/${PROJECT} HTTP/1.1`);
    const ending = request(`GET /v1/things/${PROJECT} HTTP/1.1`, 'Connection: close');
    const { raw } = await exchange(port, usual + head + ending);
    const [first = '', second = '', third = '', fourth = '', rest] = raw.split(/\r\n\r\n(?:\{"id":1\})?/);
    expect(namesOf(second)).toEqual(namesOf(first));
    expect(namesOf(third)).toEqual(namesOf(first));
    expect(third).toContain('Content-Length: 8');
    expect(namesOf(fourth)).toEqual(namesOf(first).filter((name) => name !== 'Keep-Alive'));
    expect(rest).toBe('');
    expect(raw.match(/\{"id":1\}/g)).toHaveLength(3);
  });

  test('who has shown no key is told nothing of a limit', async () => {
    const { port, usual } = await listenToCallers();
    const { raw } = await exchange(port, `${usual}GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(raw.match(/^RateLimit: .*/gm)).toHaveLength(2);
    const alone = await exchange(port, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz HTTP/1.0\r\n\r\n');
    expect(alone.raw).not.toContain('RateLimit');
  });

  test('text of more bytes than characters is announced by its bytes', async () => {
    const body = '{"name":"€ für Ärzte"}';
    const server = await listen(async () => ({ body }));
    const { authorization } = server.authorize();
    const request = (...fields: string[]) =>
      [`GET /v1/things/${PROJECT} HTTP/1.1`, 'Host: a', `Authorization: ${authorization}`, ...fields, '', ''].join('\r\n');
    const { raw } = await exchange(server.port, request() + request() + request('Connection: close'));
    expect(
      raw
        .split(/\r\n\r\n/)
        .slice(1)
        .map((part) => part.replace(/HTTP\/1\.1.*/s, '')),
    ).toEqual([body, body, body]);
    expect(raw.match(/Content-Length: (\d+)/g)).toEqual(Array(3).fill(`Content-Length: ${Buffer.byteLength(body)}`));
  });

  test.each([
    ['who asks for the end of the connection', 'HTTP/1.1', ['Connection: close']],
    ['who speaks HTTP/1.0', 'HTTP/1.0', []],
    ['who waits for 100 Continue with a GET', 'HTTP/1.1', ['Expect: 100-continue']],
  ])('%s gets it', async (_who, version, fields) => {
    const { port, request, usual } = await listenToCallers();
    const { raw } = await exchange(port, usual + request(`GET /v1/things/${PROJECT} ${version}`, ...fields));
    const heads = raw.split(/\r\n\r\n\{"id":1\}/);
    expect(heads.map((head) => /Connection: (.*)/.exec(head)?.[1])).toEqual(['keep-alive', 'keep-alive', 'close', undefined]);
  });
});

describe('requests that are not HTTP', () => {
  test.each([
    ['garbage', 'nonsense\r\n\r\n', 400, 'malformed_request'],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'malformed_request'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'malformed_request'],
    ['an unknown method on a known path', 'FETCH /v1/things HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'method_not_allowed'],
    ['an unknown method on an unknown path', 'FETCH /v1/none HTTP/1.1\r\nHost: a\r\n\r\n', 404, 'not_found'],
    ['an unknown method in lower case', 'get /healthz HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'method_not_allowed'],
    ['a header with a NUL', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n', 400, 'malformed_request'],
    ['two lengths', 'POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400, 'malformed_request'],
    [
      'a length and chunks',
      'POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'malformed_request',
    ],
    ['headers of 20 KiB', `GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['a path of 20 KiB', `GET /v1/things/${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431, 'headers_too_large'],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', 405, 'method_not_allowed'],
  ])('%s is answered with a full problem and the connection is closed', async (_name, text, status, code) => {
    const { port } = await listen();
    const answer = await exchange(port, text);
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(Number(answer.headers['content-length'])).toBe(Buffer.byteLength(answer.body));
    expect(answer.headers.connection).toBe('close');
    const problem = JSON.parse(answer.body);
    expect(problem).toMatchObject({ code, status, request_id: answer.headers['request-id'] });
    if (status === 405) expect(answer.headers.allow).toMatch(/^[A-Z, ]+$/);
  });

  test.each([
    ['headers', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: '],
    [
      'a body',
      `POST /v1/things HTTP/1.1\r\nHost: a\r\nAuthorization: KEY\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"na`,
    ],
  ])('%s that never arrive are a 408', async (_name, text) => {
    const server = await listen(undefined, { timeouts: { headersMs: 100, requestMs: 150, checkIntervalMs: 20 } });
    const answer = await exchange(server.port, text.replace('KEY', server.authorize().authorization));
    expect(answer.status).toBe(408);
    expect(JSON.parse(answer.body).code).toBe('request_timeout');
  });

  test('a client that goes away in the middle of its body does no harm', async () => {
    const server = await listen();
    const { authorization } = server.authorize();
    const socket = await open(server.port);
    socket.write(
      `POST /v1/things HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"na`,
    );
    socket.resetAndDestroy();
    await once(socket, 'close');
    expect((await exchange(server.port, 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).status).toBe(200);
    expect(server.log.filter((line) => Number(line.level) >= 50)).toEqual([]);
  });
});

describe('odd requests', () => {
  const CLOSE = 'Host: a\r\nConnection: close\r\n';
  test.each([
    ['no Host', 'GET /v1/things HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['no Host on HTTP/1.0', 'GET /healthz HTTP/1.0\r\n\r\n', 200],
    ['a path that cannot be decoded', `GET /v1/%zz HTTP/1.1\r\n${CLOSE}\r\n`, 400],
    ['a path with half a character', `GET /v1/things/%C3 HTTP/1.1\r\n${CLOSE}\r\n`, 400],
    ['a full URL as the target', `GET http://a/healthz HTTP/1.1\r\n${CLOSE}\r\n`, 200],
    ['an upgrade', `GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\n\r\n`, 200],
    ['an Expect that nobody knows', `GET /healthz HTTP/1.1\r\n${CLOSE}Expect: miracles\r\n\r\n`, 400],
    ['OPTIONS for the whole server', `OPTIONS * HTTP/1.1\r\n${CLOSE}\r\n`, 204],
    ['TRACE', `TRACE /v1/things HTTP/1.1\r\n${CLOSE}\r\n`, 405],
    ['QUERY with a body', `QUERY /v1/things HTTP/1.1\r\n${CLOSE}Content-Type: x\r\nContent-Length: 2\r\n\r\n{{`, 405],
    ['PUT with a body', `PUT /v1/things HTTP/1.1\r\n${CLOSE}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{`, 405],
    ['a double slash', `GET //v1/things HTTP/1.1\r\n${CLOSE}\r\n`, 404],
    ['an Accept-Version header', `GET /v1/none HTTP/1.1\r\n${CLOSE}Accept-Version: 9\r\n\r\n`, 404],
  ])('%s is answered', async (_name, text, status) => {
    const { port } = await listen();
    const answer = await exchange(port, text);
    expect(answer.status).toBe(status);
    expect(answer.headers['request-id']).toMatch(/^req_/);
    if (status >= 400) expect(JSON.parse(answer.body)).toMatchObject({ status });
  });

  test('a path that exists names its methods in Allow; OPTIONS is answered by it', async () => {
    const { app } = startTestServer(routes());
    const wrong = await app.inject({ method: 'DELETE', url: '/v1/things/anything' });
    expect([wrong.statusCode, wrong.headers.allow, wrong.json().code]).toEqual([405, 'GET, HEAD, OPTIONS', 'method_not_allowed']);
    const options = await app.inject({ method: 'OPTIONS', url: '/v1/things' });
    expect([options.statusCode, options.headers.allow, options.body]).toEqual([204, 'POST, OPTIONS', '']);
    for (const url of ['/v1', '/V1/things', '/v1/things/a/b', '/v2/things']) {
      expect((await app.inject({ url })).json(), url).toMatchObject({ code: 'not_found', status: 404 });
    }
  });

  test('where there is no dashboard, who opens the bare address is led to the reference', async () => {
    const { app } = startTestServer(routes());
    const answer = await app.inject({ url: '/' });
    expect([answer.statusCode, answer.headers.location]).toEqual([302, '/docs']);
  });

  test('every answer has a Request-Id of its own, and one sent by the client is not trusted', async () => {
    const server = startTestServer(routes());
    const ids = new Set<unknown>();
    for (const url of ['/healthz', '/v1/none', `/v1/things/${PROJECT}`, '/openapi.json', '/v1/%zz']) {
      const answer = await server.app.inject({ url, headers: { 'request-id': 'mine', ...server.authorize() } });
      expect(answer.headers['request-id'], url).toMatch(/^req_[0-9a-z_]{10,40}$/);
      ids.add(answer.headers['request-id']);
    }
    expect(ids.size).toBe(5);
  });

  test('two Authorization headers are refused, even when both are the same', async () => {
    const server = await listen();
    const { authorization } = server.authorize();
    const line = `Authorization: ${authorization}\r\n`;
    const get = (headers: string) => exchange(server.port, `GET /v1/things/${PROJECT} HTTP/1.1\r\n${CLOSE}${headers}\r\n`);
    expect((await get(line)).status).toBe(200);
    expect(JSON.parse((await get(line + line)).body).code).toBe('missing_api_key');
  });

  test('100 Continue is sent only after the key and the headers were found good', async () => {
    const server = await listen();
    const { authorization } = server.authorize();
    const head = (key: string) =>
      `POST /v1/things HTTP/1.1\r\nHost: a\r\nAuthorization: ${key}\r\nContent-Type: application/json\r\nContent-Length: 12\r\nExpect: 100-continue\r\n\r\n`;
    const refused = await exchange(server.port, head('Bearer unknown'));
    expect([refused.status, refused.headers.connection]).toEqual([401, 'close']);
    const socket = await open(server.port);
    socket.write(head(authorization));
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(first.toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('{"name":"a"}');
    const [second] = (await once(socket, 'data')) as [Buffer];
    expect(parse(second.toString()).status).toBe(200);
    socket.destroy();
  });

  test('a body that is announced too large is refused before any of it is asked for, and one that is huge is not waited for', async () => {
    const server = await listen();
    const { authorization } = server.authorize();
    const head = (length: number, more: string) =>
      `POST /v1/things HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${more}\r\n`;
    for (const text of [head(2_000_000, 'Expect: 100-continue\r\n'), head(2_000_000_000, '')]) {
      const answer = await exchange(server.port, text);
      expect([answer.status, answer.headers.connection]).toEqual([413, 'close']);
      expect(answer.raw).not.toContain('100 Continue');
    }
  });

  test('a body in chunks is bounded like any other, and the client reads why', async () => {
    const server = await listen();
    const { authorization } = server.authorize();
    const chunk = 'a'.repeat(65_536);
    const answer = await fetch(`http://127.0.0.1:${server.port}/v1/things`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: ReadableStream.from(Array.from({ length: 40 }, () => Buffer.from(chunk))),
      duplex: 'half',
    } as RequestInit);
    expect(answer.status).toBe(413);
    expect(((await answer.json()) as { code: string }).code).toBe('body_too_large');
  });

  test('requests sent ahead on one connection are answered in order', async () => {
    const server = await listen();
    const { authorization } = server.authorize();
    const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n${more}\r\n`;
    const { raw } = await exchange(server.port, get(`/v1/things/${PROJECT}`) + get('/v1/none') + get('/healthz', 'Connection: close\r\n'));
    expect(raw.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404', 'HTTP/1.1 200']);
  });
});

describe('health', () => {
  test('healthz and readyz ask for no key, and readyz says why not', async () => {
    let reason: string | null = null;
    const { app } = startTestServer([], { unreadyReason: async () => reason });
    expect((await app.inject({ url: '/healthz' })).json()).toEqual({ status: 'ok' });
    expect((await app.inject({ url: '/readyz' })).json()).toEqual({ status: 'ready' });
    reason = 'the migrations are not done';
    const answer = await app.inject({ url: '/readyz' });
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1']);
    expect(answer.json().detail).toContain('the migrations are not done');
  });
});

describe('stopping', () => {
  test('what was accepted is answered, on a connection that is then closed, and idle ones do not hold it up', async () => {
    const reached = Promise.withResolvers<void>();
    const answerNow = Promise.withResolvers<void>();
    const server = await listen(async () => {
      reached.resolve();
      await answerNow.promise;
      return { body: '{"done":true}' };
    });
    const idle = await open(server.port);
    idle.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(idle, 'data');
    const busy = exchange(
      server.port,
      `GET /v1/things/${PROJECT} HTTP/1.1\r\nHost: a\r\nAuthorization: ${server.authorize().authorization}\r\n\r\n`,
    );
    await reached.promise;
    const closed = server.app.close();
    await once(idle, 'close');
    answerNow.resolve();
    const answer = await busy;
    expect([answer.status, answer.headers.connection, answer.body]).toEqual([200, 'close', '{"done":true}']);
    await closed;
  });
});
