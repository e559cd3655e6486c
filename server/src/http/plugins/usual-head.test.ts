// Heads that share what Node wrote for one of them, over a real socket and beside Node's own.

import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createUsualHead, type WriteUsualHead } from './usual-head.ts';

const shared = { 'Cache-Control': 'no-store', 'Content-Type': 'application/json' };
const SECOND = Date.UTC(2026, 2, 2, 9, 30, 15);

interface Asked {
  readonly status?: number;
  readonly own?: string;
  readonly extra?: Record<string, string | string[]>;
}

/** Answers each request as the next of `asked` says; returns all that comes back to as many requests, sent at once. */
async function answersTo(writeHead: WriteUsualHead, asked: readonly Asked[]): Promise<string[]> {
  const waiting = [...asked];
  const server = createServer((_request, response) => {
    const { status = 200, own = 'Request-Id: a\r\nContent-Length: 2\r\n', extra } = waiting.shift() as Asked;
    try {
      writeHead(response, status, own, extra);
      response.end('{}');
    } catch (error) {
      response.writeHead(500, { 'Content-Length': 2, Why: String((error as NodeJS.ErrnoException).code) }).end('{}');
    }
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(asked.length));
  await vi.waitFor(() => expect(text.split('\r\n\r\n{}')).toHaveLength(asked.length + 1));
  socket.destroy();
  return text.split('\r\n\r\n{}').slice(0, -1);
}

function countNodes() {
  const spy = vi.spyOn(ServerResponse.prototype, 'writeHead');
  onTestFinished(() => spy.mockRestore());
  return spy;
}

const linesOf = (head: string | undefined): string[] => (head ?? '').split('\r\n').sort();

describe('heads of one second', () => {
  test('those after the first say what Node would have said, each with values of its own', async () => {
    const nodes = countNodes();
    const own = (id: string) => `Request-Id: ${id}\r\nRateLimit: "default";r=9;t=${id}\r\nContent-Length: 2\r\n`;
    const asked = [
      { own: own('1') },
      { own: own('2') },
      { own: own('3'), extra: { etag: '"7"', Location: '/v1/things: 1' } },
      { own: own('4') },
    ];
    const heads = await answersTo(
      createUsualHead(shared, () => SECOND),
      asked,
    );
    expect(nodes).toHaveBeenCalledTimes(1);
    const [first = '', second, third, fourth] = heads;
    expect(first).toContain('HTTP/1.1 200 OK\r\n');
    expect(linesOf(first).map((line) => line.split(':')[0])).toEqual([
      'Cache-Control',
      'Connection',
      'Content-Length',
      'Content-Type',
      'Date',
      'HTTP/1.1 200 OK',
      'Keep-Alive',
      'RateLimit',
      'Request-Id',
    ]);
    const as = (id: string) => first.replace('Request-Id: 1', `Request-Id: ${id}`).replace('t=1', `t=${id}`);
    expect(linesOf(second)).toEqual(linesOf(as('2')));
    expect(linesOf(third)).toEqual(linesOf(`${as('3')}\r\netag: "7"\r\nLocation: /v1/things: 1`));
    expect(linesOf(fourth)).toEqual(linesOf(as('4')));
  });

  test('what the first alone said is not repeated', async () => {
    const [, second] = await answersTo(
      createUsualHead(shared, () => SECOND),
      [{ extra: { etag: '"1"' } }, {}],
    );
    expect(second).not.toContain('etag');
  });

  test('each status has its own', async () => {
    const heads = await answersTo(
      createUsualHead(shared, () => SECOND),
      [{}, { status: 201 }, {}, { status: 201 }],
    );
    expect(heads.map((head) => linesOf(head).find((line) => line.startsWith('HTTP')))).toEqual([
      'HTTP/1.1 200 OK',
      'HTTP/1.1 201 Created',
      'HTTP/1.1 200 OK',
      'HTTP/1.1 201 Created',
    ]);
  });

  test('the next second has another', async () => {
    const nodes = countNodes();
    let now = SECOND;
    const writeHead = createUsualHead(shared, () => now);
    const later: WriteUsualHead = (...given) => {
      writeHead(...given);
      now += 400;
    };
    const heads = await answersTo(later, [{}, {}, {}, {}, {}, {}]);
    expect(nodes).toHaveBeenCalledTimes(3);
    expect(heads.map((head) => /Date: Mon, 02 Mar 2026 09:30:(\d\d) GMT/.exec(head)?.[1])).toEqual(['15', '15', '15', '16', '16', '17']);
  });
});

test.each([
  ['a line break', { Location: '/a\r\nSet-Cookie: mine' }, 'ERR_INVALID_CHAR'],
  ['a character beyond ASCII', { Location: '/€' }, 'ERR_INVALID_CHAR'],
])('%s in a value is judged by Node, whether or not there is something to share', async (_what, extra, code) => {
  const heads = await answersTo(
    createUsualHead(shared, () => SECOND),
    [{ extra }, {}, { extra }],
  );
  expect(heads.map((head) => /Why: (\w+)/.exec(head)?.[1])).toEqual([code, undefined, code]);
  expect(heads.join()).not.toContain('Set-Cookie');
});

test('a header that was set beforehand reaches its own client, and no other', async () => {
  const writeHead = createUsualHead(shared, () => SECOND);
  const turns = [false, true, false, true, false];
  const sometimes: WriteUsualHead = (response, ...given) => {
    if (turns.shift()) response.setHeader('Set-Cookie', 'mine');
    writeHead(response, ...given);
  };
  const heads = await answersTo(sometimes, [{ status: 201 }, {}, {}, {}, {}]);
  expect(heads.map((head) => head.includes('Set-Cookie'))).toEqual([false, true, false, true, false]);
});

test.each([
  ['first', 0],
  ['later', 1],
])('what the %s answer says in place of a shared header, it says once and alone', async (_when, turn) => {
  const asked: Asked[] = [{}, {}, {}];
  asked[turn] = { extra: { 'cache-control': 'public', connection: 'close' } };
  const writeHead = createUsualHead({ 'cache-control': 'no-store' }, () => SECOND);
  // The connection would end with it; what is asked here is only what the head says.
  const heads: string[] = [];
  for (const { extra } of asked) {
    const response = new ServerResponse(new IncomingMessage(new Socket())) as ServerResponse & { _header: string };
    response.shouldKeepAlive = true;
    writeHead(response, 200, 'Request-Id: a\r\nContent-Length: 2\r\n', extra);
    heads.push(response._header);
  }
  const said = (name: string) =>
    heads.map((head) =>
      head
        .toLowerCase()
        .match(new RegExp(`^${name}: .*`, 'gm'))
        ?.join(),
    );
  const expected = (usual: string, instead: string) => heads.map((_, at) => (at === turn ? instead : usual));
  expect(said('cache-control')).toEqual(expected('cache-control: no-store', 'cache-control: public'));
  expect(said('connection')).toEqual(expected('connection: keep-alive', 'connection: close'));
});

test('the status of a shared head stands on the response too', () => {
  const writeHead = createUsualHead(shared, () => SECOND);
  const responses = [201, 201].map((status) => {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    response.shouldKeepAlive = true;
    writeHead(response, status, 'Content-Length: 2\r\n', undefined);
    return response;
  });
  expect(responses.map(({ statusCode, statusMessage, headersSent }) => [statusCode, statusMessage, headersSent])).toEqual([
    [201, 'Created', true],
    [201, 'Created', true],
  ]);
});

test('several values of one name are several lines', async () => {
  const [, second] = await answersTo(
    createUsualHead(shared, () => SECOND),
    [{}, { extra: { 'Set-Cookie': ['a=1', 'b=2'] } }],
  );
  expect(linesOf(second).filter((line) => line.startsWith('Set-Cookie'))).toEqual(['Set-Cookie: a=1', 'Set-Cookie: b=2']);
});

test('a response with a writeHead of its own has it called each time', () => {
  const writeHead = createUsualHead(shared, () => SECOND);
  const own = vi.fn();
  const response = Object.assign(new ServerResponse(new IncomingMessage(new Socket())), { _header: 'HTTP/1.1 200 OK', writeHead: own });
  for (let i = 0; i < 3; i++) writeHead(response, 200, 'Request-Id: a\r\n', undefined);
  expect(own).toHaveBeenCalledTimes(3);
});

test('where Node does not show the head it wrote, every head is its own', () => {
  const nodes = countNodes().mockReturnThis();
  const writeHead = createUsualHead(shared, () => SECOND);
  for (let i = 0; i < 3; i++) writeHead(new ServerResponse(new IncomingMessage(new Socket())), 200, 'Request-Id: a\r\n', undefined);
  expect(nodes).toHaveBeenCalledTimes(3);
  expect(nodes).toHaveBeenLastCalledWith(200, { ...shared, Date: 'Mon, 02 Mar 2026 09:30:15 GMT', 'Request-Id': 'a' });
});
