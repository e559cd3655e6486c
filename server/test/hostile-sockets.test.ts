// The real service on a real socket, against clients that do not speak HTTP, or speak it to do harm.
// Every answer is a problem with a request id, nothing is changed, and the server goes on serving.

import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Json, openTestApp, type TestApp } from './support/app.ts';
import { populate, rowsDigest } from './support/contract.ts';

let app: TestApp;
let ids: Record<string, string>;
let port: number;
let before: string;
beforeAll(async () => {
  app = await openTestApp();
  ids = await populate(app);
  await app.service.app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.service.app.server.address() as AddressInfo).port;
});
afterAll(() => app.stop());
beforeEach(async () => {
  before = await rowsDigest(app);
});
afterEach(async () => {
  expect(await rowsDigest(app)).toBe(before);
  const alive = await exchange(request('GET', '/v1/projects', ['Connection: close']));
  expect(alive[0]?.status).toBe(200);
});

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** All answers on a connection, in order: each as long as its Content-Length says. */
function parse(raw: string): Answer[] {
  const answers: Answer[] = [];
  for (let rest = raw; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n');
    expect(end, `no head in ${JSON.stringify(rest.slice(0, 200))}`).toBeGreaterThan(0);
    const [line = '', ...fields] = rest.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(
      fields.map((field) => [field.slice(0, field.indexOf(':')).toLowerCase(), field.slice(field.indexOf(':') + 2)]),
    );
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]);
    const length = status === 204 || status === 304 || status === 100 ? 0 : Number(headers['content-length']);
    answers.push({ status, headers, body: rest.slice(end + 4, end + 4 + length) });
    rest = rest.slice(end + 4 + length);
  }
  return answers;
}

/** Sends bytes and reads until the server closes, or, where it keeps the connection, until `answers` have come. */
async function exchange(bytes: string | Buffer, { end = false, answers = Number.POSITIVE_INFINITY } = {}): Promise<Answer[]> {
  const socket = connect(port, '127.0.0.1');
  let raw = '';
  socket.on('data', (chunk) => {
    raw += chunk.toString('latin1');
    if (raw.split('HTTP/1.1 ').length > answers) socket.end();
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  if (end) socket.end();
  await once(socket, 'close');
  return parse(raw);
}

function request(method: string, path: string, lines: readonly string[] = [], body = '', key: string | null = app.key): string {
  const auth = key === null ? [] : [`Authorization: Bearer ${key}`];
  return `${[`${method} ${path} HTTP/1.1`, 'Host: a', ...auth, ...lines].join('\r\n')}\r\n\r\n${body}`;
}

function expectProblem(answer: Answer | undefined, status: number, code: string): void {
  const body: Json = JSON.parse(answer?.body ?? 'null');
  expect([answer?.status, body?.code, answer?.headers['content-type']]).toEqual([status, code, 'application/problem+json']);
  expect(body.request_id).toBe(answer?.headers['request-id']);
  expect(body.request_id).toMatch(/^req_/);
}

const JSON_TYPE = 'Content-Type: application/json';
const project = '{"name":"n","client_id":"c"}';
const post = (lines: readonly string[], body: string): string => request('POST', '/v1/projects', [JSON_TYPE, ...lines], body);

describe('what is not HTTP is answered by a problem and the connection closed', () => {
  test.each<[string, () => string | Buffer, number, string]>([
    ['nothing but a line', () => 'hello\r\n\r\n', 400, 'malformed_request'],
    ['TLS', () => Buffer.from('16030100c8010000c40303', 'hex'), 400, 'malformed_request'],
    ['HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'malformed_request'],
    ['HTTP/0.9', () => 'GET /none\r\n\r\n', 404, 'not_found'],
    ['HTTP/3.0', () => 'GET / HTTP/3.0\r\nHost: a\r\n\r\n', 400, 'malformed_request'],
    ['an unknown method', () => request('BREW', '/v1/projects'), 405, 'method_not_allowed'],
    ['an unknown method on an unknown path', () => request('BREW', '/v1/coffee'), 404, 'not_found'],
    ['a method in lower case', () => request('get', '/v1/projects'), 405, 'method_not_allowed'],
    ['TRACE', () => request('TRACE', '/v1/projects', ['Connection: close']), 405, 'method_not_allowed'],
    ['PUT', () => request('PUT', '/v1/projects', ['Connection: close']), 405, 'method_not_allowed'],
    ['CONNECT', () => request('CONNECT', 'example.com:443'), 405, 'method_not_allowed'],
    ['a space in the path', () => request('GET', '/v1/pro jects'), 400, 'malformed_request'],
    ['NUL in the path', () => request('GET', '/v1/pro\u0000jects'), 400, 'malformed_request'],
    ['a header without a colon', () => request('GET', '/v1/projects', ['nonsense']), 400, 'malformed_request'],
    ['a space before the colon', () => request('GET', '/v1/projects', ['X : y']), 400, 'malformed_request'],
    ['a folded header', () => request('GET', '/v1/projects', ['X: y', ' folded']), 400, 'malformed_request'],
    ['NUL in a header', () => request('GET', '/v1/projects', ['X: a\u0000b']), 400, 'malformed_request'],
    ['a bare line feed within a header', () => request('GET', '/v1/projects', ['X: a\rY: b']), 400, 'malformed_request'],
    [
      'no Host',
      () => `GET /v1/projects HTTP/1.1\r\nAuthorization: Bearer ${app.key}\r\nConnection: close\r\n\r\n`,
      400,
      'malformed_request',
    ],
    ['20 kB of headers', () => request('GET', '/v1/projects', [`X: ${'x'.repeat(20_000)}`]), 431, 'headers_too_large'],
    ['2000 headers', () => request('GET', '/v1/projects', Array(2000).fill('X-Header: xxxx')), 431, 'headers_too_large'],
    ['a path of 20 kB', () => request('GET', `/v1/projects/${'x'.repeat(20_000)}`), 431, 'headers_too_large'],
    ['two lengths', () => post(['Content-Length: 28', 'Content-Length: 29'], project), 400, 'malformed_request'],
    ['two equal lengths', () => post(['Content-Length: 28', 'Content-Length: 28'], project), 400, 'malformed_request'],
    [
      'a length and chunks',
      () => post(['Content-Length: 28', 'Transfer-Encoding: chunked'], `1c\r\n${project}\r\n0\r\n\r\n`),
      400,
      'malformed_request',
    ],
    ['a negative length', () => post(['Content-Length: -1'], project), 400, 'malformed_request'],
    ['a length that is no number', () => post(['Content-Length: 0x1c'], project), 400, 'malformed_request'],
    ['a length beyond all numbers', () => post([`Content-Length: ${'9'.repeat(40)}`], project), 400, 'malformed_request'],
    ['an unknown transfer coding', () => post(['Transfer-Encoding: gzip'], project), 400, 'malformed_request'],
    ['chunked twice', () => post(['Transfer-Encoding: chunked, chunked'], '0\r\n\r\n'), 400, 'malformed_request'],
    [
      'a chunk size that is no number',
      () => post(['Transfer-Encoding: chunked'], `zz\r\n${project}\r\n0\r\n\r\n`),
      400,
      'malformed_request',
    ],
    ['a chunk longer than it says', () => post(['Transfer-Encoding: chunked'], `2\r\n${project}\r\n0\r\n\r\n`), 400, 'malformed_request'],
  ])('%s', async (_name, bytes, status, code) => {
    const answers = await exchange(bytes());
    expect(answers).toHaveLength(1);
    expectProblem(answers[0], status, code);
    expect(answers[0]?.headers.connection).toBe('close');
  });
});

describe('a packet that breaks, or turns into something else, after a request that is answered at once', () => {
  test('a request without a key is told so, although the body behind it is no HTTP', async () => {
    const head = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
    const answers = await exchange(request('POST', '/v1/projects', head, `zz\r\n${project}\r\n0\r\n\r\n`, null));
    expect(answers).toHaveLength(1);
    expectProblem(answers[0], 401, 'missing_api_key');
  });

  test('a tunnel that is asked for behind it is refused after its answer', async () => {
    const answers = await exchange(request('GET', '/healthz') + request('CONNECT', 'example.com:443'));
    expect(answers.map(({ status }) => status)).toEqual([200, 405]);
  });
});

describe('what is HTTP and means no good', () => {
  test.each<[string, () => string | Buffer, number, string]>([
    [
      'a compressed body that says so',
      () => {
        const body = gzipSync(project);
        return Buffer.concat([Buffer.from(post([`Content-Length: ${body.length}`, 'Content-Encoding: gzip'], '')), body]);
      },
      415,
      'unsupported_media_type',
    ],
    [
      'a compressed body that does not say so',
      () => {
        const body = gzipSync(project);
        return Buffer.concat([Buffer.from(post([`Content-Length: ${body.length}`], '')), body]);
      },
      400,
      'malformed_json',
    ],
    ['no Content-Type', () => request('POST', '/v1/projects', ['Content-Length: 28'], project), 415, 'unsupported_media_type'],
    ['two Content-Types', () => post([`Content-Length: 28`, 'Content-Type: text/plain'], project), 415, 'unsupported_media_type'],
    ['two keys', () => request('GET', '/v1/projects', [`Authorization: Bearer ${app.key}`]), 401, 'missing_api_key'],
    [
      'two Idempotency-Keys',
      () => post(['Idempotency-Key: a', 'Idempotency-Key: b', 'Content-Length: 28'], project),
      422,
      'validation_failed',
    ],
    [
      'two If-Match',
      () =>
        request('PATCH', `/v1/projects/${ids.prj}`, [JSON_TYPE, 'If-Match: "1"', 'If-Match: "2"', 'Content-Length: 12'], '{"name":"x"}'),
      412,
      'precondition_failed',
    ],
    ['a body announced as 2 GB', () => post(['Content-Length: 2147483648'], project), 413, 'body_too_large'],
    ['a percent sign that encodes nothing', () => request('GET', '/v1/projects/%zz'), 400, 'malformed_request'],
    ['bytes that are not UTF-8 in the path', () => request('GET', '/v1/projects/%c3%28'), 400, 'malformed_request'],
    ['an encoded NUL in the path', () => request('GET', '/v1/projects/%00'), 404, 'not_found'],
    ['raw bytes beyond ASCII in the path', () => request('GET', '/v1/projects/\u00ff\u00fe'), 400, 'malformed_request'],
    ['dots in the path', () => request('GET', '/v1/projects/../../etc/passwd'), 404, 'not_found'],
    ['two slashes', () => request('GET', '//v1/projects'), 404, 'not_found'],
    ['a slash too many', () => request('GET', '/v1/projects/'), 404, 'not_found'],
    ['another case', () => request('GET', '/V1/Projects'), 404, 'not_found'],
    ['a path parameter of old', () => request('GET', '/v1/projects;jsessionid=1'), 404, 'not_found'],
    ['__proto__ in the query', () => request('GET', '/v1/projects?__proto__=x'), 422, 'validation_failed'],
    ['a fragment', () => request('GET', '/v1/projects?limit=1#x'), 422, 'validation_failed'],
    ['a query that is not UTF-8', () => request('GET', '/v1/projects?client_id=%ff'), 400, 'malformed_request'],
    ['raw bytes beyond ASCII in the query', () => request('GET', '/v1/projects?client_id=\u00ff'), 400, 'malformed_request'],
    ['a method override', () => request('GET', `/v1/api_keys/${ids.key}x`, ['X-HTTP-Method-Override: DELETE']), 404, 'not_found'],
    ['an expectation that cannot be met', () => post(['Expect: the-impossible', 'Content-Length: 28'], project), 400, 'malformed_request'],
    ['another version', () => request('GET', '/v2/projects'), 404, 'not_found'],
  ])('%s', async (_name, bytes, status, code) => {
    const answers = await exchange(bytes(), { answers: 1 });
    expect(answers.length).toBeGreaterThanOrEqual(1);
    expectProblem(answers[0], status, code);
  });

  test('half a request and then nothing changes nothing, wherever it is cut off', async () => {
    const whole = post([`Content-Length: ${project.length}`], project);
    for (let cut = 1; cut < whole.length; cut += 7) {
      const answers = await exchange(whole.slice(0, cut), { end: true });
      for (const answer of answers) expect([cut, answer.status]).toEqual([cut, 400]);
    }
  });

  test('requests sent ahead are answered in order, each with an id of its own, and a refused body does not shift the next', async () => {
    const get = (path: string, ...lines: string[]) => request('GET', path, lines);
    const smuggled = get('/v1/api_keys');
    const pipeline = [
      get(`/v1/projects/${ids.prj}`),
      request('POST', '/v1/projects', ['Content-Type: text/plain', `Content-Length: ${smuggled.length}`], smuggled),
      request('POST', '/v1/projects', [JSON_TYPE, `Content-Length: ${smuggled.length}`], smuggled, null),
      get('/v1/none'),
      request('DELETE', '/v1/projects', [`Content-Length: ${smuggled.length}`], smuggled),
      request('GET', `/v1/milestones/${ids.mil}`, [`Content-Length: ${smuggled.length}`], smuggled),
      request('HEAD', '/v1/none'),
    ];
    // A HEAD is answered without a body whatever its length says: it comes last, where nothing has to be found behind it.
    const answers = await exchange(pipeline.join(''), { answers: pipeline.length });
    expect(answers.map(({ status }) => status)).toEqual([200, 415, 401, 404, 405, 200, 404]);
    expect(new Set(answers.map(({ headers }) => headers['request-id'])).size).toBe(pipeline.length);
    expect(JSON.parse(answers[5]?.body ?? '').id).toBe(ids.mil);
  });

  test.each([
    '!!!\r\n\r\n',
    'BREW / HTTP/1.1\r\nHost: a\r\n\r\n',
    '\u0000',
    'GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n',
  ])('requests that %j follows get their own true answers first, in order, also those that write', async (nonsense) => {
    const good = post([`Content-Length: ${project.length}`], project);
    const pipeline = [
      request('GET', `/v1/projects/${ids.prj}`),
      good,
      post([`Content-Length: ${project.length + 1}`], `${project}x`),
      good,
    ];
    const answers = await exchange(pipeline.join('') + nonsense);
    expect(answers.map(({ status }) => status)).toEqual([200, 201, 400, 201, 400]);
    expectProblem(answers[2], 400, 'malformed_json');
    expectProblem(answers[4], 400, 'malformed_request');
    for (const at of [1, 3]) expect((await app.call('GET', answers[at]?.headers.location as string)).text).toBe(answers[at]?.body);
    before = await rowsDigest(app);
  });

  test('noise of any kind is answered by 4xx problems or not at all', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'GET ',
        'POST ',
        '/v1/projects',
        ' HTTP/1.1',
        '\r\n',
        '\r\n\r\n',
        '\n',
        'Host: a',
        ': ',
        'Content-Length: 5',
        'Transfer-Encoding: chunked',
      ),
      fc.constantFrom('Connection: close\r\n', '\u0000', '\u00ff', '0\r\n\r\n', '5\r\nhello\r\n', '{}', 'HTTP/1.1 200 OK\r\n\r\n'),
      fc.string({ unit: 'binary', maxLength: 30 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 15 }), async (pieces) => {
        const answers = await exchange(Buffer.from(pieces.join('')), { end: true });
        for (const answer of answers) {
          expect(answer.status).toBeGreaterThanOrEqual(300);
          expect(answer.status).toBeLessThan(500);
          expect(answer.headers['request-id']).toMatch(/^req_/);
        }
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 150) },
    );
  });
});
