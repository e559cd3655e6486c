// The sender against receivers with every kind of certificate, and what it does about names that change where they lead.
// Certificates are made here; every receiver listens on loopback, whatever address it plays.

import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createAuthority, type ServerCertificate, selfSigned } from '../../test/support/certificates.ts';
import type { DialTarget } from './connect.ts';
import { createSafeFetch, MAX_ANSWER_BYTES, type SafeFetch, type SafeFetchOptions, type SendResult } from './safe-fetch.ts';

const DAY_MS = 86_400_000;

async function listen(server: ReturnType<typeof createServer>, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => void sockets.add(socket.on('error', () => {})));
  server.listen(0, host);
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function sender(options: Partial<SafeFetchOptions>): SafeFetch {
  const made = createSafeFetch({ policy: 'any', timeoutMs: 5_000, ...options });
  onTestFinished(() => made.close());
  return made;
}

const post = (made: SafeFetch, url: string): Promise<SendResult> => made.send({ url, headers: {}, body: '{}' });
const loopback = async (): Promise<LookupAddress[]> => [{ address: '127.0.0.1', family: 4 }];

describe('a receiver over TLS', () => {
  const authority = createAuthority();
  const answering: RequestListener = (_request, response) => void response.end('ok');

  async function reach(certificate: ServerCertificate, ca: string | undefined): Promise<{ result: SendResult; requests: number }> {
    let requests = 0;
    const server = createSecureServer({ ...certificate }, (request, response) => {
      requests += 1;
      answering(request, response);
    });
    server.on('tlsClientError', () => {});
    const port = await listen(server);
    const result = await post(sender({ resolve: loopback, ...(ca === undefined ? {} : { ca }) }), `https://receiver.example:${port}/`);
    return { result, requests };
  }

  test('is sent to when its certificate is in order, under its name with and without a dot at the end', async () => {
    const { result, requests } = await reach(authority.issue(['receiver.example']), authority.ca);
    expect(result).toMatchObject({ kind: 'answered', statusCode: 200, remoteAddress: '127.0.0.1' });
    expect(requests).toBe(1);
    const server = createSecureServer(authority.issue(['*.receiver.example']), answering);
    const port = await listen(server);
    expect(await post(sender({ resolve: loopback, ca: authority.ca }), `https://eu.receiver.example.:${port}/`)).toMatchObject({
      statusCode: 200,
    });
  });

  const expired = () => authority.issue(['receiver.example'], { until: new Date(Date.now() - DAY_MS) });
  const early = () => authority.issue(['receiver.example'], { from: new Date(Date.now() + DAY_MS) });
  test.each([
    ['vouches for itself', () => selfSigned(['receiver.example']), authority.ca, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['has expired', expired, authority.ca, 'CERT_HAS_EXPIRED'],
    ['is not valid yet', early, authority.ca, 'CERT_NOT_YET_VALID'],
    ['is of another host', () => authority.issue(['other.example']), authority.ca, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['is of an authority that nobody knows', () => authority.issue(['receiver.example']), undefined, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ] as const)('whose certificate %s gets no request, and the attempt says exactly why', async (_case, certificate, ca, code) => {
    const { result, requests } = await reach(certificate(), ca);
    expect(result).toEqual({
      kind: 'failed',
      error: 'tls_error',
      detail: `no secure connection could be made; check the certificate (${code})`,
      remoteAddress: '127.0.0.1',
    });
    expect(requests).toBe(0);
  });
});

describe('a name that changes where it leads', () => {
  /** Plays the internet: whatever address a connection is pinned to, it leads to this receiver; the addresses are written down. */
  async function internet(listener: RequestListener): Promise<{ dialled: string[]; dial: (target: DialTarget) => Socket; port: number }> {
    const port = await listen(createServer(listener));
    const dialled: string[] = [];
    const dial = ({ host, lookup }: DialTarget): Socket =>
      connect({
        host,
        port,
        lookup: (name, options, callback) =>
          lookup(name, options, (error, addresses, family) => {
            if (error !== null) return callback(error, addresses, family);
            const list = Array.isArray(addresses) ? addresses.map(({ address }) => address) : [addresses];
            dialled.push(list.join(' '));
            return options.all === true ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4);
          }),
      });
    return { dialled, dial, port };
  }

  const publicly: LookupAddress[] = [{ address: '93.184.215.14', family: 4 }];
  const privately: LookupAddress[] = [{ address: '10.0.0.5', family: 4 }];

  test('from a public to a private address: the first delivery arrives, the second is refused and nothing is connected to (I-20)', async () => {
    let requests = 0;
    const { dialled, dial } = await internet((_request, response) => {
      requests += 1;
      response.writeHead(200, { connection: 'close' }).end();
    });
    const answers = [publicly, privately];
    const made = sender({ policy: 'public', dial, resolve: async () => answers.shift() ?? privately });
    expect(await post(made, 'http://rebinding.example/')).toMatchObject({ kind: 'answered', statusCode: 200 });
    expect(await post(made, 'http://rebinding.example/')).toEqual({
      kind: 'failed',
      error: 'blocked_address',
      detail: 'the host is or resolves to an address that webhooks are not sent to (private)',
      remoteAddress: null,
    });
    expect([dialled, requests]).toEqual([['93.184.215.14'], 1]);
  });

  test('between the check and the connection: it is resolved once, and connected to what was checked', async () => {
    let look = 0;
    const { dialled, dial } = await internet((_request, response) => void response.end());
    const resolve = async (): Promise<LookupAddress[]> => (look++ === 0 ? publicly : privately);
    expect(await post(sender({ policy: 'public', dial, resolve }), 'http://rebinding.example/')).toMatchObject({ statusCode: 200 });
    expect([look, dialled]).toEqual([1, ['93.184.215.14']]);
  });

  test('to a private address behind a connection that is kept: it goes on leading where it was checked to lead', async () => {
    const { dialled, dial } = await internet((_request, response) => void response.end());
    const answers = [publicly];
    const made = sender({ policy: 'public', dial, resolve: async () => answers.shift() ?? privately });
    for (let i = 0; i < 2; i++) {
      expect(await post(made, 'http://rebinding.example/')).toMatchObject({ statusCode: 200 });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(dialled).toEqual(['93.184.215.14']);
  });

  test('is followed after five minutes, however busy the connection is', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { dialled, dial } = await internet((_request, response) => void response.end());
    const answers = [publicly, [{ address: '93.184.215.15', family: 4 }]];
    const made = sender({ policy: 'public', dial, resolve: async () => answers.shift() ?? privately });
    for (const passedMs of [0, 299_000, 2_000]) {
      vi.setSystemTime(Date.now() + passedMs);
      expect(await post(made, 'http://moving.example/')).toMatchObject({ statusCode: 200 });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(dialled).toEqual(['93.184.215.14', '93.184.215.15']);
  });

  test('by a redirect to the metadata service: it is not followed', async () => {
    const paths: unknown[] = [];
    const { dialled, dial } = await internet((request, response) => {
      paths.push(request.url);
      response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data/' }).end();
    });
    const made = sender({ policy: 'public', dial, resolve: async () => publicly });
    expect(await post(made, 'http://redirecting.example/hook')).toMatchObject({ kind: 'answered', statusCode: 307 });
    expect([dialled, paths]).toEqual([['93.184.215.14'], ['/hook']]);
  });
});

test('a name with an address of each family reaches the receiver on IPv6, and the attempt says which it was', async () => {
  const port = await listen(
    createServer((_request, response) => void response.end()),
    '::1',
  );
  const resolve = async (): Promise<LookupAddress[]> => [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  const made = sender({ resolve });
  expect(await post(made, `http://both.example:${port}/`)).toMatchObject({ statusCode: 200, remoteAddress: '::1' });
  expect(await post(made, `http://[::1]:${port}/`)).toMatchObject({ statusCode: 200, remoteAddress: '::1' });
});

describe('what is kept of an answer', () => {
  test('a bomb of compressed zeros is never unpacked: its first bytes are kept, and the rest is not waited for', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 1 });
    expect(bomb.length).toBeGreaterThan(4 * MAX_ANSWER_BYTES);
    const port = await listen(createServer((_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)));
    const before = process.memoryUsage().rss;
    const result = await post(sender({}), `http://127.0.0.1:${port}/`);
    expect(result).toMatchObject({ kind: 'answered', statusCode: 200, truncated: true, headers: { 'content-encoding': 'gzip' } });
    expect(Buffer.byteLength((result as { body: string }).body)).toBeLessThanOrEqual(MAX_ANSWER_BYTES);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });

  test('a character that the bound cuts in two is left out, and bytes that are no text stay within the bound', async () => {
    const bodies = [Buffer.from(`a${'é'.repeat(20_000)}`), Buffer.alloc(20_000, 0xff), Buffer.from('\ufeffok')];
    const port = await listen(createServer((request, response) => void response.end(bodies[Number(request.url?.slice(1))])));
    const made = sender({});
    const texts: string[] = [];
    for (const i of bodies.keys()) texts.push(((await post(made, `http://127.0.0.1:${port}/${i}`)) as { body: string }).body);
    expect(texts[0]).toBe(`a${'é'.repeat((MAX_ANSWER_BYTES - 2) / 2)}`);
    expect(texts[1]).toMatch(/^\ufffd+$/);
    for (const text of texts) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_ANSWER_BYTES);
    expect(texts[2]).toBe('\ufeffok');
  });

  test('headers are kept within a bound, without cookies, and Retry-After is found wherever it stands', async () => {
    const port = await listen(
      createServer((_request, response) => {
        response.setHeader('set-cookie', ['session=secret']);
        for (let i = 0; i < 12; i++) response.setHeader(`x-long-${i}`, 'x'.repeat(1_100));
        response.setHeader('retry-after', '7');
        response.writeHead(429).end();
      }),
    );
    const result = (await post(sender({}), `http://127.0.0.1:${port}/`)) as Extract<SendResult, { kind: 'answered' }>;
    expect(result).toMatchObject({ statusCode: 429, retryAfter: '7' });
    expect(JSON.stringify(result.headers)).not.toContain('secret');
    expect(JSON.stringify(result.headers).length).toBeLessThan(9_000);
    expect(result.headers['x-long-0']).toHaveLength(1_024);
  });
});
