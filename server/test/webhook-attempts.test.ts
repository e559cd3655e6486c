// What is kept of an attempt, whatever the receiver does: real receivers on real sockets, and the attempts as the API shows them.
// Waits for conditions, never for the clock; a receiver that must be slow is given up by a short timeout.

import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Uuid } from '../src/domain/ids.ts';
import { deliveryAttemptResource, presentDeliveryAttempt } from '../src/schemas/deliveries.ts';
import type { Database } from '../src/store/database.ts';
import { listAttempts } from '../src/store/deliveries.ts';
import { createSafeFetch, MAX_ANSWER_BYTES, type SafeFetchOptions } from '../src/webhooks/safe-fetch.ts';
import { createAuthority, selfSigned } from './support/certificates.ts';
import { addEndpoint, addEvents, addWorkspace, onEachDatabase, type Received, startWorker } from './support/webhook-fixtures.ts';

const TIMEOUT_MS = 1_000;
const DAY_MS = 86_400_000;
const authority = createAuthority();

/** A receiver under test: where it is, how it is found, and what it got. */
interface Place {
  readonly url: string;
  readonly received: readonly Received[];
  readonly options?: Partial<SafeFetchOptions>;
}

async function listen(server: Server | ReturnType<typeof createTcpServer>, host = '127.0.0.1'): Promise<number> {
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

/** Writes down what arrives, whole, before it answers. */
function recording(received: Received[], answer: RequestListener): RequestListener {
  return async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() });
    answer(request, response);
  };
}

async function http(answer: RequestListener, host = '127.0.0.1'): Promise<Place> {
  const received: Received[] = [];
  const port = await listen(createServer(recording(received, answer)), host);
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/hook`, received };
}

async function tcp(answer: (socket: Socket) => void): Promise<Place> {
  const port = await listen(createTcpServer((socket) => socket.once('data', () => answer(socket))));
  return { url: `http://127.0.0.1:${port}/hook`, received: [] };
}

async function tls(certificate: { key: string; cert: string }): Promise<Place> {
  const received: Received[] = [];
  const server = createSecureServer(
    certificate,
    recording(received, (_request, response) => void response.end('safe')),
  );
  server.on('tlsClientError', () => {});
  const resolve = async (): Promise<LookupAddress[]> => [{ address: '127.0.0.1', family: 4 }];
  return { url: `https://receiver.example:${await listen(server)}/hook`, received, options: { resolve, ca: authority.ca } };
}

const unresolved = (code: string): Place => ({
  url: 'http://receiver.example/hook',
  received: [],
  options: { resolve: () => Promise.reject(Object.assign(new Error(code), { code })) },
});

async function nobody(): Promise<Place> {
  const server = createTcpServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return { url: `http://127.0.0.1:${port}/hook`, received: [] };
}

const LOOPBACK = { remote_address: '127.0.0.1' };
const ANSWERED = { ...LOOPBACK, error_kind: null, error: null };
const noAnswer = (error_kind: string, error: RegExp, rest: object = LOOPBACK) => ({
  error_kind,
  error: expect.stringMatching(error),
  status_code: null,
  response_headers: null,
  response_body: null,
  response_truncated: false,
  ...rest,
});
const NO_ADDRESS = { remote_address: null };

interface Case {
  readonly name: string;
  readonly open: () => Promise<Place>;
  readonly attempt: object;
  readonly status: 'succeeded' | 'pending' | 'failed';
  /** Requests that arrived and are verified. */
  readonly requests: 0 | 1;
}

const cases: readonly Case[] = [
  {
    name: 'a healthy receiver',
    open: () => http((_request, response) => void response.writeHead(200, { 'x-receiver': 'yes' }).end('thanks')),
    attempt: { ...ANSWERED, status_code: 200, response_headers: expect.objectContaining({ 'x-receiver': 'yes' }), response_body: 'thanks' },
    status: 'succeeded',
    requests: 1,
  },
  {
    name: 'a slow receiver',
    open: () => http((_request, response) => void setTimeout(() => response.writeHead(204).end(), TIMEOUT_MS / 4)),
    attempt: { ...ANSWERED, status_code: 204, response_body: '', response_truncated: false },
    status: 'succeeded',
    requests: 1,
  },
  {
    name: 'a receiver that hangs',
    open: () => http(() => {}),
    attempt: noAnswer('timeout', /^no answer arrived in time$/),
    status: 'pending',
    requests: 1,
  },
  {
    name: 'a receiver that resets the connection',
    open: () => http((request) => void request.socket.resetAndDestroy()),
    attempt: noAnswer('connection_reset', /\(ECONNRESET\)$/),
    status: 'pending',
    requests: 1,
  },
  {
    name: 'a receiver that redirects',
    open: () => http((_request, response) => void response.writeHead(302, { location: '/elsewhere' }).end()),
    attempt: { ...ANSWERED, status_code: 302, response_headers: expect.objectContaining({ location: '/elsewhere' }) },
    status: 'pending',
    requests: 1,
  },
  {
    name: 'a receiver that is gone (410)',
    open: () => http((_request, response) => void response.writeHead(410).end('no more')),
    attempt: { ...ANSWERED, status_code: 410, response_body: 'no more' },
    status: 'failed',
    requests: 1,
  },
  {
    name: 'a receiver that asks for a pause (429)',
    open: () => http((_request, response) => void response.writeHead(429, { 'retry-after': '120' }).end()),
    attempt: { ...ANSWERED, status_code: 429, response_headers: expect.objectContaining({ 'retry-after': '120' }) },
    status: 'pending',
    requests: 1,
  },
  {
    name: 'a huge answer',
    open: () => http((_request, response) => void response.end('x'.repeat(5_000_000))),
    attempt: { ...ANSWERED, status_code: 200, response_body: 'x'.repeat(MAX_ANSWER_BYTES), response_truncated: true },
    status: 'succeeded',
    requests: 1,
  },
  {
    name: 'a gzip bomb',
    open: () =>
      http((_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(32_000_000)))),
    attempt: { ...ANSWERED, status_code: 200, response_truncated: true },
    status: 'succeeded',
    requests: 1,
  },
  {
    name: 'an answer that drips on for ever',
    open: () =>
      http((_request, response) => {
        const timer = setInterval(() => response.write('.'), 10);
        response.on('close', () => clearInterval(timer));
      }),
    attempt: { ...ANSWERED, status_code: 200, response_body: expect.stringMatching(/^\.+$/), response_truncated: true },
    status: 'succeeded',
    requests: 1,
  },
  {
    name: 'headers that drip on for ever',
    open: () =>
      tcp((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx-a: ');
        const timer = setInterval(() => socket.write('a'), 10);
        socket.on('close', () => clearInterval(timer));
      }),
    attempt: noAnswer('timeout', /^no answer arrived in time$/),
    status: 'pending',
    requests: 0,
  },
  {
    name: 'headers beyond all bounds',
    open: () => tcp((socket) => void socket.write(`HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(100_000)}`)),
    attempt: noAnswer('invalid_response', /not valid HTTP/),
    status: 'pending',
    requests: 0,
  },
  {
    name: 'an answer that is no HTTP',
    open: () => tcp((socket) => void socket.end('220 mail ready\r\n')),
    attempt: noAnswer('invalid_response', /not valid HTTP/),
    status: 'pending',
    requests: 0,
  },
  {
    name: 'TLS in order',
    open: () => tls(authority.issue(['receiver.example'])),
    attempt: { ...ANSWERED, status_code: 200, response_body: 'safe' },
    status: 'succeeded',
    requests: 1,
  },
  {
    name: 'a certificate that vouches for itself',
    open: () => tls(selfSigned(['receiver.example'])),
    attempt: noAnswer('tls_error', /\(DEPTH_ZERO_SELF_SIGNED_CERT\)$/),
    status: 'pending',
    requests: 0,
  },
  {
    name: 'a certificate that has expired',
    open: () => tls(authority.issue(['receiver.example'], { until: new Date(Date.now() - DAY_MS) })),
    attempt: noAnswer('tls_error', /\(CERT_HAS_EXPIRED\)$/),
    status: 'pending',
    requests: 0,
  },
  {
    name: 'a certificate of another host',
    open: () => tls(authority.issue(['other.example'])),
    attempt: noAnswer('tls_error', /\(ERR_TLS_CERT_ALTNAME_INVALID\)$/),
    status: 'pending',
    requests: 0,
  },
  {
    name: 'no TLS where it is asked for',
    open: async () => {
      const place = await tcp((socket) => void socket.end('HTTP/1.1 200 OK\r\n\r\n'));
      return { ...place, url: place.url.replace('http:', 'https:') };
    },
    attempt: noAnswer('tls_error', /check the certificate/),
    status: 'pending',
    requests: 0,
  },
  {
    name: 'a receiver on IPv6',
    open: () => http((_request, response) => void response.end(), '::1'),
    attempt: { ...ANSWERED, remote_address: '::1', status_code: 200 },
    status: 'succeeded',
    requests: 1,
  },
  {
    name: 'a port on which nobody listens',
    open: nobody,
    attempt: noAnswer('connection_refused', /\(ECONNREFUSED\)$/),
    status: 'pending',
    requests: 0,
  },
  {
    name: 'a name that does not exist',
    open: async () => unresolved('ENOTFOUND'),
    attempt: noAnswer('dns_not_found', /\(ENOTFOUND\)$/, NO_ADDRESS),
    status: 'pending',
    requests: 0,
  },
  {
    name: 'a name server that fails',
    open: async () => unresolved('ESERVFAIL'),
    attempt: noAnswer('dns_failed', /\(ESERVFAIL\)$/, NO_ADDRESS),
    status: 'pending',
    requests: 0,
  },
  {
    name: 'a name server that is silent',
    open: async () => ({ url: 'http://receiver.example/', received: [], options: { resolve: () => new Promise(() => {}) } }),
    attempt: noAnswer('dns_timeout', /^the name servers did not answer in time/, NO_ADDRESS),
    status: 'pending',
    requests: 0,
  },
  {
    name: 'an address that webhooks are not sent to',
    open: async () => ({ url: 'http://169.254.169.254/latest/meta-data/', received: [] }),
    attempt: noAnswer('blocked_address', /\(link-local\)$/, NO_ADDRESS),
    status: 'pending',
    requests: 0,
  },
];

async function attemptsOf(database: Database, workspaceId: Uuid, endpointId: Uuid) {
  const deliveries = await database.query<{ id: Uuid; status: string; next_attempt_at: Date | null }>(
    'select id, status, next_attempt_at from deliveries where workspace_id = $1 and endpoint_id = $2 order by event_seq',
    [workspaceId, endpointId],
  );
  return Promise.all(
    deliveries.map(async ({ id, ...delivery }) => {
      const { records } = await listAttempts(database, workspaceId, id, { limit: 10 });
      return { ...delivery, attempts: records.map(presentDeliveryAttempt) };
    }),
  );
}

onEachDatabase('attempts', (database) => {
  test.each(cases)('$name: the attempt says what it met', async ({ open, attempt, status, requests }) => {
    const place = await open();
    const workspace = await addWorkspace(database());
    const { id, secret } = await addEndpoint(database(), workspace, { url: place.url });
    const outbound = createSafeFetch({ policy: 'any', timeoutMs: TIMEOUT_MS, ...place.options });
    onTestFinished(() => outbound.close());
    const before = Date.now();
    await addEvents(database(), workspace, ['project.created']);
    await (await startWorker(database(), { send: outbound.send })).idle();

    const [delivery] = await attemptsOf(database(), workspace, id);
    expect(delivery).toMatchObject({ status, attempts: [{ object: 'delivery_attempt', number: 1, ...attempt }] });
    const shown = delivery?.attempts[0];
    expect(z.strictObject(deliveryAttemptResource.shape).parse(shown)).toEqual(shown);
    expect(Date.parse(shown?.started_at ?? '')).toBeGreaterThanOrEqual(before - 1);
    expect(shown?.duration_ms).toBeLessThan(10 * TIMEOUT_MS);
    if (status === 'pending') expect(delivery?.next_attempt_at?.getTime()).toBeGreaterThan(before);

    expect(place.received).toHaveLength(requests);
    for (const { headers, body } of place.received)
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body));
  });

  test('a pause that a receiver asks for is kept to', async () => {
    const place = await http((_request, response) => void response.writeHead(429, { 'retry-after': '120' }).end());
    const workspace = await addWorkspace(database());
    const { id } = await addEndpoint(database(), workspace, { url: place.url });
    const before = Date.now();
    await addEvents(database(), workspace, ['project.created']);
    await (await startWorker(database())).idle();
    const [delivery] = await attemptsOf(database(), workspace, id);
    expect(delivery?.next_attempt_at?.getTime()).toBeGreaterThanOrEqual(before + 120_000);
  });

  test('a name that leads elsewhere at the second event: the first arrives, the second is refused', async () => {
    const place = await http((_request, response) => void response.writeHead(200, { connection: 'close' }).end());
    const answers: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }];
    const outbound = createSafeFetch({
      policy: 'any',
      timeoutMs: TIMEOUT_MS,
      resolve: async () => [answers.shift() ?? { address: '169.254.169.254', family: 4 }],
    });
    onTestFinished(() => outbound.close());
    const workspace = await addWorkspace(database());
    const url = place.url.replace('127.0.0.1', 'rebinding.example');
    const { id } = await addEndpoint(database(), workspace, { url, maxConcurrency: 1 });
    await addEvents(database(), workspace, ['project.created', 'project.created']);
    await (await startWorker(database(), { send: outbound.send })).idle();
    expect(await attemptsOf(database(), workspace, id)).toMatchObject([
      { status: 'succeeded', attempts: [{ status_code: 200, remote_address: '127.0.0.1' }] },
      { status: 'pending', attempts: [{ error_kind: 'blocked_address', remote_address: null }] },
    ]);
    expect(place.received).toHaveLength(1);
  });
});
