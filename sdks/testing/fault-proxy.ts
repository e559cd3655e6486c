// A reverse proxy that spoils exchanges on purpose: it drops, answers by itself, cuts bodies short or dawdles, as it was told beforehand.
// Keeps a record of what it saw. Decides nothing about what a client should do then.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** What is done to an exchange. `sdks/scenarios/README.md` says exactly what each one means. */
export const faultKinds = ['drop_before', 'drop_after', 'answer_before', 'answer_after', 'truncate', 'slow_body', 'slow_answer'] as const;

export interface Fault {
  readonly fault: (typeof faultKinds)[number];
  /** How many of the next matching requests it hits. */
  readonly times: number;
  /** Only requests with this method; any when left out. */
  readonly method?: string | undefined;
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly json?: unknown;
  readonly text?: string | undefined;
  readonly delay_ms?: number | undefined;
  /** After how much of an event stream its connection breaks, with `truncate`. */
  readonly after_bytes?: number | undefined;
}

export interface Exchange {
  readonly method: string;
  readonly path: string;
  /** Lower-case names; `authorization` is left out. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fault: Fault['fault'] | null;
  /** What the server answered; null when the request never reached it. */
  readonly server_status: number | null;
}

export interface FaultProxy {
  readonly url: string;
  arm(fault: Fault): void;
  /** What was seen since the last reset, oldest first. */
  readonly exchanges: readonly Exchange[];
  reset(): void;
  /** Breaks every event stream that is open, and says how many there were. */
  cut(): number;
  close(): Promise<void>;
}

/** A scenario needs a few hundred; more is a loop that has lost its way. */
const MAX_EXCHANGES = 20_000;
const MAX_REQUEST_BYTES = 4 * 1024 * 1024;
const MAX_DELAY_MS = 10_000;

export async function openFaultProxy(targetUrl: string): Promise<FaultProxy> {
  const armed: { fault: Fault; left: number }[] = [];
  const exchanges: Exchange[] = [];
  const streams = new Set<ServerResponse>();

  function nextFault(method: string): Fault | null {
    const index = armed.findIndex(({ fault }) => fault.method === undefined || fault.method === method);
    const entry = armed[index];
    if (entry === undefined) return null;
    entry.left -= 1;
    if (entry.left === 0) armed.splice(index, 1);
    return entry.fault;
  }

  const server = createServer((incoming, outgoing) => {
    void exchange(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.keepAliveTimeout = 30_000;

  async function exchange(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const method = incoming.method ?? 'GET';
    const body = await read(incoming, MAX_REQUEST_BYTES);
    const fault = nextFault(method);
    const reaches = fault?.fault !== 'drop_before' && fault?.fault !== 'answer_before';
    const answer = reaches ? await forward(targetUrl, incoming, body) : null;
    if (exchanges.length < MAX_EXCHANGES) {
      exchanges.push({
        method,
        path: incoming.url ?? '/',
        headers: recorded(incoming),
        fault: fault?.fault ?? null,
        server_status: answer?.status ?? null,
      });
    }
    if (answer?.stream === undefined) return await spoil(fault, answer, outgoing);
    streams.add(outgoing);
    outgoing.once('close', () => streams.delete(outgoing));
    await spoilStream(fault, answer, answer.stream, outgoing);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arm: (fault) => void armed.push({ fault, left: fault.times }),
    exchanges,
    reset() {
      armed.length = 0;
      exchanges.length = 0;
    },
    cut() {
      const count = streams.size;
      for (const stream of streams) stream.destroy();
      return count;
    },
    close: () => closeServer(server),
  };
}

interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
  /** An answer without an end, in place of its body. */
  readonly stream?: IncomingMessage;
}

/** An event stream is passed on as it comes; what spoils other answers spoils it, but `truncate` goes by bytes, since it has no half. */
async function spoilStream(fault: Fault | null, answer: Answer, stream: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  // Whoever leaves, the other side learns of it.
  stream.once('close', () => (stream.complete ? outgoing.end() : outgoing.destroy()));
  stream.on('error', () => {});
  outgoing.once('close', () => stream.destroy());
  if (fault !== null && fault.fault !== 'truncate' && !fault.fault.startsWith('slow_')) return await spoil(fault, answer, outgoing);
  if (fault?.fault === 'slow_answer') await wait(Math.min(fault.delay_ms ?? 1_000, MAX_DELAY_MS));
  outgoing.writeHead(answer.status, answer.headers);
  outgoing.flushHeaders();
  if (fault?.fault === 'slow_body') await wait(Math.min(fault.delay_ms ?? 1_000, MAX_DELAY_MS));
  let left = fault?.fault === 'truncate' ? (fault.after_bytes ?? 0) : Number.POSITIVE_INFINITY;
  stream.on('data', (chunk: Buffer) => {
    if (outgoing.destroyed) return;
    const isLast = chunk.length >= left;
    outgoing.write(chunk.subarray(0, left), () => isLast && outgoing.destroy());
    left -= chunk.length;
    if (isLast) stream.pause();
  });
}

async function spoil(fault: Fault | null, answer: Answer | null, outgoing: ServerResponse): Promise<void> {
  switch (fault?.fault) {
    case 'drop_before':
    case 'drop_after':
      outgoing.destroy();
      return;
    case 'answer_before':
    case 'answer_after': {
      const body = Buffer.from(fault.json === undefined ? (fault.text ?? '') : JSON.stringify(fault.json));
      const type = fault.json === undefined ? 'text/plain' : 'application/problem+json';
      outgoing.writeHead(fault.status ?? 500, { 'content-type': type, 'content-length': body.length, ...fault.headers });
      outgoing.end(body);
      return;
    }
    case 'truncate': {
      const { status, headers, body } = answer as Answer;
      outgoing.writeHead(status, headers);
      // The promised length stays, so that the end of the connection shows as a body cut short.
      outgoing.write(body.subarray(0, Math.floor(body.length / 2)), () => outgoing.destroy());
      return;
    }
    case 'slow_body': {
      const { status, headers, body } = answer as Answer;
      outgoing.writeHead(status, headers);
      outgoing.write(body.subarray(0, 1));
      await wait(Math.min(fault.delay_ms ?? 1_000, MAX_DELAY_MS));
      outgoing.end(body.subarray(1));
      return;
    }
    case 'slow_answer':
      await wait(Math.min(fault.delay_ms ?? 1_000, MAX_DELAY_MS));
      break;
  }
  const { status, headers, body } = answer as Answer;
  outgoing.writeHead(status, headers);
  outgoing.end(body);
}

async function forward(targetUrl: string, incoming: IncomingMessage, body: Buffer): Promise<Answer> {
  const headers = { ...incoming.headers };
  delete headers['transfer-encoding'];
  if (body.length > 0) headers['content-length'] = String(body.length);
  const upstream = request(new URL(incoming.url ?? '/', targetUrl), { method: incoming.method ?? 'GET', headers });
  upstream.end(body);
  const [response] = (await once(upstream, 'response')) as [IncomingMessage];
  if (response.headers['content-type']?.startsWith('text/event-stream')) {
    const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...passed } = response.headers;
    return { status: response.statusCode ?? 200, headers: passed, body: Buffer.alloc(0), stream: response };
  }
  const answered = await read(response, MAX_REQUEST_BYTES);
  const passed: OutgoingHttpHeaders = { ...response.headers };
  for (const name of ['connection', 'keep-alive', 'transfer-encoding']) delete passed[name];
  if (response.statusCode !== 204 && response.statusCode !== 304 && incoming.method !== 'HEAD') passed['content-length'] = answered.length;
  return { status: response.statusCode ?? 502, headers: passed, body: answered };
}

function recorded(incoming: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (name !== 'authorization' && value !== undefined) headers[name] = String(value);
  }
  return headers;
}

/** Reads a whole body, up to a bound. */
export async function read(stream: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export async function closeServer(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}
