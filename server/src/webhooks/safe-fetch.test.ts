// The sender against receivers on real sockets: the good, the slow, the broken and the hostile.
// Every receiver listens on loopback and is closed when its test ends.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSafeFetch, MAX_ANSWER_BYTES, type SafeFetchOptions, type SendResult } from './safe-fetch.ts';
import { classify } from './send-errors.ts';

async function listen(server: ReturnType<typeof createServer> | ReturnType<typeof createTcpServer>): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => void sockets.add(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const receiver = (listener: RequestListener): Promise<number> => listen(createServer(listener));

async function send(url: string, options: Partial<SafeFetchOptions> = {}): Promise<SendResult> {
  const sender = createSafeFetch({ policy: 'any', timeoutMs: 5000, ...options });
  onTestFinished(() => sender.close());
  return sender.send({ url, headers: { 'content-type': 'application/json', 'Tranche-Seq': '1' }, body: '{"a":"ä"}' });
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

describe('an answer', () => {
  test('comes back with its status, Retry-After and text; the receiver gets path, query, headers and the exact body', async () => {
    const seen: unknown[] = [];
    const port = await receiver(async (request, response) => {
      const { host, 'tranche-seq': seq, 'content-length': length, 'accept-encoding': encoding } = request.headers;
      seen.push(request.method, request.url, host, seq, length, encoding, await read(request));
      response.writeHead(503, { 'retry-after': '30' }).end('later');
    });
    expect(await send(`http://127.0.0.1:${port}/hook?key=1#part`)).toEqual({
      kind: 'answered',
      statusCode: 503,
      retryAfter: '30',
      headers: expect.objectContaining({ 'retry-after': '30', 'transfer-encoding': 'chunked' }),
      body: 'later',
      truncated: false,
      remoteAddress: '127.0.0.1',
    });
    expect(seen).toEqual(['POST', '/hook?key=1', `127.0.0.1:${port}`, '1', '10', 'identity', '{"a":"ä"}']);
  });

  test('that redirects is not followed', async () => {
    let requests = 0;
    const port = await receiver((_request, response) => {
      requests += 1;
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ kind: 'answered', statusCode: 302 });
    expect(requests).toBe(1);
  });

  test('that never ends is read up to its bound and then dropped', async () => {
    let dropped: (() => void) | undefined;
    const closed = new Promise<void>((resolve) => (dropped = resolve));
    const port = await receiver((_request, response) => {
      response.on('close', () => dropped?.());
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(8192)));
      };
      response.on('drain', more);
      more();
    });
    // A deadline far beyond this test's own: it must not be what ends the reading.
    const result = await send(`http://127.0.0.1:${port}/`, { timeoutMs: 60_000 });
    expect(result).toMatchObject({ kind: 'answered', statusCode: 200, body: 'x'.repeat(MAX_ANSWER_BYTES) });
    await closed;
  });

  test('whose status came but whose body drips on is cut off at the deadline, and the status stands', async () => {
    const port = await receiver((_request, response) => {
      response.write('a');
      const timer = setInterval(() => response.write('a'), 20);
      response.on('close', () => clearInterval(timer));
    });
    const started = performance.now();
    const result = await send(`http://127.0.0.1:${port}/`, { timeoutMs: 200 });
    expect(result).toMatchObject({ kind: 'answered', statusCode: 200, body: expect.stringMatching(/^a+$/) });
    expect(performance.now() - started).toBeLessThan(2000);
  });

  test('is kept as it came when compressed, and without what PostgreSQL cannot store', async () => {
    const port = await receiver((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.from([0x61, 0, 0xff, 0x62])),
    );
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ body: 'a\ufffd\ufffdb' });
  });

  test('leaves the connection open for the next webhook', async () => {
    const ports = new Set<number | undefined>();
    const port = await receiver((request, response) => {
      ports.add(request.socket.remotePort);
      response.end('ok');
    });
    const sender = createSafeFetch({ policy: 'any' });
    onTestFinished(() => sender.close());
    for (let i = 0; i < 3; i++) {
      await sender.send({ url: `http://127.0.0.1:${port}/`, headers: {}, body: '{}' });
      // The connection is free again once the end of the answer has been dealt with.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(ports.size).toBe(1);
  });
});

describe('no answer', () => {
  const failed = (error: string) => ({ kind: 'failed', error });

  test('a receiver that hangs is given up at the deadline, before and after its first header byte', async () => {
    const silent = await listen(createTcpServer(() => {}));
    expect(await send(`http://127.0.0.1:${silent}/`, { timeoutMs: 100 })).toMatchObject(failed('timeout'));
    const dripping = await listen(
      createTcpServer((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx-a: ');
        const timer = setInterval(() => socket.write('a'), 20);
        socket.on('close', () => clearInterval(timer));
      }),
    );
    expect(await send(`http://127.0.0.1:${dripping}/`, { timeoutMs: 200 })).toMatchObject(failed('timeout'));
  });

  test('a name server that hangs is given up at the deadline', async () => {
    expect(await send('http://slow.example/', { timeoutMs: 100, resolve: () => new Promise(() => {}) })).toMatchObject(
      failed('dns_timeout'),
    );
  });

  test('a connection that is reset or closed without an answer', async () => {
    const resetting = await listen(createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())));
    expect(await send(`http://127.0.0.1:${resetting}/`)).toMatchObject(failed('connection_reset'));
    const closing = await listen(createTcpServer((socket) => socket.once('data', () => socket.end())));
    expect(await send(`http://127.0.0.1:${closing}/`)).toMatchObject(failed('connection_reset'));
  });

  test('a port on which nobody listens', async () => {
    const server = createTcpServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject(failed('connection_refused'));
  });

  test('a receiver that speaks something other than HTTP, or no TLS where https asks for it', async () => {
    const port = await listen(createTcpServer((socket) => socket.once('data', () => socket.end('220 mail ready\r\n'))));
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject(failed('invalid_response'));
    expect(await send(`https://127.0.0.1:${port}/`)).toMatchObject(failed('tls_error'));
  });

  test('headers without end', async () => {
    const port = await listen(
      createTcpServer((socket) => socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(100_000)}`))),
    );
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject(failed('invalid_response'));
  });

  test('a name that does not exist', async () => {
    const resolve = () => Promise.reject(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }));
    expect(await send('http://gone.example/', { resolve })).toMatchObject(failed('dns_not_found'));
    expect(await send('http://gone.example/', { resolve: () => Promise.resolve([]) })).toMatchObject(failed('dns_not_found'));
  });

  test.each([
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:1',
    'not a url',
    '',
    'http://user:pass@example.com/',
    'http://user@example.com/',
  ])('%j is not sent to', async (url) => {
    expect(await send(url)).toMatchObject(failed('invalid_url'));
  });
});

describe('the network policy', () => {
  const blocked = { kind: 'failed', error: 'blocked_address' };

  test.each([
    '127.0.0.1',
    '0.0.0.0',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::]',
    '169.254.169.254',
    '10.0.0.1',
  ])('a URL that spells out %s is not connected to under "public"', async (host) => {
    let connections = 0;
    const server = createTcpServer(() => void (connections += 1));
    const port = await listen(server);
    expect(await send(`http://${host}:${port}/`, { policy: 'public' })).toMatchObject(blocked);
    expect(connections).toBe(0);
  });

  test.each([
    ['a private address', [{ address: '10.1.2.3', family: 4 }]],
    [
      'a public and a private one',
      [
        { address: '1.1.1.1', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
    ],
    ['a mapped one', [{ address: '::ffff:127.0.0.1', family: 6 }]],
  ])('a name that resolves to %s is refused under "public"', async (_case, addresses) => {
    expect(await send('http://inside.example/', { policy: 'public', resolve: () => Promise.resolve(addresses) })).toMatchObject(blocked);
    expect(await send('https://inside.example/', { policy: 'public', resolve: () => Promise.resolve(addresses) })).toMatchObject(blocked);
  });

  test('the metadata service of a cloud is refused under "any" too', async () => {
    expect(await send('http://169.254.169.254/latest/')).toMatchObject(blocked);
    expect(await send('http://name.example/', { resolve: async () => [{ address: '169.254.169.254', family: 4 }] })).toMatchObject(blocked);
  });

  test('a name is resolved once per connection, and the connection goes to the address that was checked', async () => {
    const port = await receiver((request, response) => response.end(request.headers.host));
    const answers = [[{ address: '127.0.0.1', family: 4 }], [{ address: '169.254.169.254', family: 4 }]];
    let lookups = 0;
    const resolve = async () => answers[lookups++] ?? [];
    expect(await send(`http://rebinding.example:${port}/`, { resolve })).toMatchObject({
      kind: 'answered',
      body: `rebinding.example:${port}`,
    });
    expect(lookups).toBe(1);
  });
});

test.each([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_error'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'tls_error'],
  ['CERT_HAS_EXPIRED', 'tls_error'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls_error'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_error'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls_error'],
  ['EHOSTUNREACH', 'host_unreachable'],
  ['EAI_AGAIN', 'dns_failed'],
  ['SOMETHING_NEW', 'connection_failed'],
])('an error with the code %s counts as %s', (code, error) => {
  expect(classify(Object.assign(new Error(), { code }))).toBe(error);
});
