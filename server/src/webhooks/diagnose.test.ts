// A diagnosis against receivers of every kind: what it finds first, what it shows, and that it goes nowhere a delivery would not go.
// Certificates are made here; every receiver listens on loopback.

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createAuthority, type ServerCertificate, selfSigned } from '../../test/support/certificates.ts';
import { createDiagnose, type DiagnoseOptions, type Found } from './diagnose.ts';
import { PING_BODY } from './sample.ts';

const DAY_MS = 86_400_000;
const authority = createAuthority();

async function listen(server: Server): Promise<number> {
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

const look = (url: string, options: Partial<DiagnoseOptions> = {}): Promise<Found> =>
  createDiagnose({ policy: 'any', resolve: async () => [{ address: '127.0.0.1', family: 4 }], ca: authority.ca, ...options })(
    url,
    { headers: { 'content-type': 'application/json', 'webhook-id': 'evt_1' }, body: PING_BODY },
    new Date(),
  );

const answer =
  (status: number): RequestListener =>
  (request, response) => {
    request.resume().on('end', () => void response.writeHead(status, { location: '/elsewhere' }).end('told'));
  };

describe('a receiver over http', () => {
  test.each([
    [200, 'healthy', /acknowledged a signed ping with 200/],
    [301, 'redirected', /follow none/],
    [410, 'gone', /disables the endpoint/],
    [401, 'rejected', /verifies the signature/],
    [404, 'rejected', /path of the URL/],
    [422, 'rejected', /"ping"/],
    [500, 'rejected', /log of the receiver/],
  ] as const)('that answers %s is %s, and is told so in words', async (status, verdict, hint) => {
    const port = await listen(createServer(answer(status)));
    const found = await look(`http://receiver.example:${port}/hook?a=b`);
    expect(found).toMatchObject({
      verdict,
      hint: expect.stringMatching(hint),
      dns: { host: 'receiver.example', addresses: [{ address: '127.0.0.1', family: 4, blocked: null }], error: null },
      connection: { address: '127.0.0.1', port, error: null },
      tls: null,
      ping: { status_code: status, error: null, response_body: 'told' },
    });
  });

  test('gets the signed body at its path, once', async () => {
    const seen: [string | undefined, string][] = [];
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      seen.push([request.url, Buffer.concat(chunks).toString()]);
      response.end();
    });
    await look(`http://receiver.example:${await listen(server)}/hook?a=b`);
    expect(seen).toEqual([['/hook?a=b', '{"event":"ping","data":{}}']]);
  });

  test('that nothing listens for, that hangs up, or that speaks something else is told apart', async () => {
    const closed = createTcpServer();
    const port = await listen(closed);
    closed.close();
    await once(closed, 'close');
    expect(await look(`http://receiver.example:${port}/`)).toMatchObject({
      verdict: 'connection_failed',
      hint: expect.stringContaining('ECONNREFUSED'),
      ping: null,
    });
    const silent = await listen(createTcpServer((socket) => void socket.once('data', () => socket.destroy())));
    expect(await look(`http://receiver.example:${silent}/`)).toMatchObject({ verdict: 'no_answer', ping: { status_code: null } });
    const garbage = await listen(createTcpServer((socket) => void socket.once('data', () => socket.end('SSH-2.0-x\r\n\r\n'))));
    expect(await look(`http://receiver.example:${garbage}/`)).toMatchObject({
      verdict: 'no_answer',
      ping: { error: expect.stringContaining('not valid HTTP') },
    });
    expect(await look(`https://receiver.example:${garbage}/`)).toMatchObject({ verdict: 'tls_failed', tls: { chain: [] } });
  });
});

describe('a receiver over https', () => {
  async function reach(
    certificate: ServerCertificate,
    options: Partial<DiagnoseOptions> = {},
  ): Promise<{ found: Found; requests: number }> {
    let requests = 0;
    const server = createSecureServer({ ...certificate }, (request, response) => {
      requests += 1;
      answer(200)(request, response);
    });
    server.on('tlsClientError', () => {});
    const found = await look(`https://receiver.example:${await listen(server)}/`, options);
    return { found, requests };
  }

  test('with a good certificate is healthy, and its chain and expiry are shown', async () => {
    const { found, requests } = await reach(authority.issue(['receiver.example']));
    expect(found).toMatchObject({ verdict: 'healthy', tls: { authorized: true, error: null, protocol: expect.stringMatching(/^TLSv1/) } });
    expect(found.tls?.chain[0]).toMatchObject({ issuer: 'Authority of a test', names: ['receiver.example'], days_left: 29 });
    expect(requests).toBe(1);
  });

  test('whose certificate ends soon is healthy, and is warned', async () => {
    const { found } = await reach(authority.issue(['receiver.example'], { until: new Date(Date.now() + 3.5 * DAY_MS) }));
    expect(found).toMatchObject({ verdict: 'healthy', hint: expect.stringContaining('ends in 3 days') });
  });

  test.each([
    ['expired', () => authority.issue(['receiver.example'], { until: new Date(Date.now() - DAY_MS) }), 'CERT_HAS_EXPIRED', /It ended on/],
    ['of another host', () => authority.issue(['other.example']), 'ERR_TLS_CERT_ALTNAME_INVALID', /made for other.example/],
    ['of nobody known', () => selfSigned(['receiver.example']), 'DEPTH_ZERO_SELF_SIGNED_CERT', /authority is not known/],
  ] as const)('with a certificate %s is told so, shown the chain, and sent nothing', async (_, make, code, hint) => {
    const { found, requests } = await reach(make());
    expect(found).toMatchObject({
      verdict: 'tls_failed',
      hint: expect.stringMatching(hint),
      tls: { authorized: false, error: code },
      ping: null,
    });
    expect(found.tls?.chain.length).toBeGreaterThan(0);
    expect(requests).toBe(0);
  });
});

describe('an address', () => {
  test('that webhooks are not sent to is told by its kind and not by itself, and nothing is connected to', async () => {
    let connections = 0;
    const port = await listen(createTcpServer(() => void (connections += 1)));
    for (const [url, resolved, blocked] of [
      [`http://receiver.example:${port}/`, '127.0.0.1', 'loopback'],
      [`http://receiver.example:${port}/`, '10.0.0.7', 'private'],
      [`http://127.0.0.1:${port}/`, '', 'loopback'],
      [`http://0x7f000001:${port}/`, '', 'loopback'],
      ['http://[::ffff:7f00:1]/', '', 'IPv4-mapped'],
      ['http://169.254.169.254/', '', 'link-local'],
    ] as const) {
      const found = await look(url, {
        policy: 'public',
        resolve: async () => [
          { address: '1.1.1.1', family: 4 },
          { address: resolved, family: 4 },
        ],
      });
      expect(found, url).toMatchObject({ verdict: 'blocked_address', connection: null, ping: null });
      expect(JSON.stringify(found.dns?.addresses)).toContain(`"address":null`);
      expect(found.hint.toLowerCase(), url).toContain(blocked.toLowerCase());
      if (resolved !== '') expect(JSON.stringify(found)).not.toContain(resolved);
    }
    expect(connections).toBe(0);
  });

  test('that a name does not have, and a URL that is none, are told', async () => {
    const unknown = async () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
    expect(await look('http://nowhere.example/', { resolve: unknown })).toMatchObject({
      verdict: 'dns_failed',
      hint: expect.stringContaining('nowhere.example does not resolve'),
      dns: { addresses: [] },
    });
    for (const url of ['ftp://receiver.example/', 'http://user:pass@receiver.example/', 'nonsense'])
      expect(await look(url)).toMatchObject({ verdict: 'invalid_url', dns: null });
  });
});
