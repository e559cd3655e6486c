// Sends one webhook over HTTP to wherever its endpoint's URL may lead, without trusting that place or its name server.
// Follows no redirect, decompresses nothing, holds no state of a delivery, and never rejects: what went wrong is its result.

import { Agent, Client, type Dispatcher, Pool } from 'undici';
import type { AttemptErrorKind } from '../domain/delivery.ts';
import { type ConnectionTrace, type ConnectorFor, createConnectors, type Dial } from './connect.ts';
import type { NetworkPolicy } from './network-policy.ts';
import { createResolver, type Resolve } from './resolve.ts';
import { classify, describe, type SendError, sendErrors } from './send-errors.ts';

/** From the look-up of the name to the last byte of the answer. */
export const SEND_TIMEOUT_MS = 15_000;
/** As much of an answer as is kept for people to read; the rest is not waited for. */
export const MAX_ANSWER_BYTES = 16 * 1024;
/** As much of an answer's headers as is kept, and of one header. */
export const MAX_KEPT_HEADER_BYTES = 8 * 1024;
const MAX_KEPT_VALUE_LENGTH = 1024;
/** How long an idle connection is kept for the next webhook, at most: a receiver may ask for less. */
const MAX_KEEP_ALIVE_MS = 60_000;
/** After this long a connection is not used again, so that a receiver that moves to another address is followed however busy it is. */
const MAX_CONNECTION_AGE_MS = 5 * 60_000;
const MAX_HEADER_BYTES = 16 * 1024;

export interface SendRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type SendResult = Answered | Failed;

export interface Answered {
  readonly kind: 'answered';
  readonly statusCode: number;
  /** The `Retry-After` header as it was sent. */
  readonly retryAfter: string | null;
  /** Bounded, and without cookies. */
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the answer. */
  readonly body: string;
  /** The answer went on after that, or broke off. */
  readonly truncated: boolean;
  /** The address that answered. */
  readonly remoteAddress: string | null;
}

export interface Failed {
  readonly kind: 'failed';
  readonly error: AttemptErrorKind;
  /** A sentence for people, with the exact code where there is one. */
  readonly detail: string;
  /** The address that was connected to, or tried last; null when there was none or it is blocked. */
  readonly remoteAddress: string | null;
}

export type Send = (request: SendRequest) => Promise<SendResult>;

export interface SafeFetch {
  readonly send: Send;
  /** Cuts every connection; whatever is still under way fails. */
  close(): Promise<void>;
}

export interface SafeFetchOptions {
  readonly policy: NetworkPolicy;
  readonly timeoutMs?: number;
  /** Every address of a host name. */
  readonly resolve?: Resolve;
  /** Certificates of authorities that are trusted instead of the usual ones. */
  readonly ca?: string;
  /** Opens sockets; those of the operating system by default. */
  readonly dial?: Dial;
}

export function createSafeFetch(options: SafeFetchOptions): SafeFetch {
  const { policy, timeoutMs = SEND_TIMEOUT_MS, ca, dial } = options;
  const resolve = options.resolve ?? createResolver({ asksSystem: policy === 'any' });
  const { connectorFor, cut } = createConnectors({ policy, resolve, timeoutMs, ca, dial });
  const agent = new Agent({
    // One connection at a time to a client of the pool, so that a client can say where its request went.
    factory: (origin, opts) =>
      new Pool(origin, { ...opts, clientTtl: MAX_CONNECTION_AGE_MS, factory: (url, inner) => new TracedClient(url, inner, connectorFor) }),
    // One protocol, one way to fail: a webhook gains nothing from sharing a connection.
    allowH2: false,
    pipelining: 1,
    keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  return {
    send: (request) => send(agent, request, timeoutMs),
    close() {
      cut();
      return agent.destroy();
    },
  };
}

/** Travels with a request; says where it went. */
interface Route {
  trace: ConnectionTrace | null;
}

/** A connection of the pool that tells each request about itself. */
class TracedClient extends Client {
  readonly #trace: ConnectionTrace;

  constructor(origin: URL, options: Client.Options, connectorFor: ConnectorFor) {
    const trace: ConnectionTrace = { remoteAddress: null, stage: 'idle' };
    super(origin, { ...options, connect: connectorFor(trace) });
    this.#trace = trace;
  }

  override dispatch(options: Dispatcher.DispatchOptions & { opaque?: Route }, handler: Dispatcher.DispatchHandler): boolean {
    if (options.opaque !== undefined) options.opaque.trace = this.#trace;
    return super.dispatch(options, handler);
  }
}

async function send(agent: Agent, { url, headers, body }: SendRequest, timeoutMs: number): Promise<SendResult> {
  const target = parseTarget(url);
  if (target === null) return { kind: 'failed', error: 'invalid_url', detail: sendErrors.invalid_url, remoteAddress: null };
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  const route: Route = { trace: null };
  try {
    // Asks for plain text and means it: what comes compressed all the same is kept as it is, never unpacked.
    const sent = { 'accept-encoding': 'identity', ...headers };
    const answer = await agent.request({ ...target, method: 'POST', headers: sent, body, signal: deadline.signal, opaque: route });
    const retryAfter = answer.headers['retry-after'];
    const remoteAddress = route.trace?.remoteAddress ?? null;
    const start = await readStart(answer.body);
    return {
      kind: 'answered',
      statusCode: answer.statusCode,
      retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
      headers: keptHeaders(answer.headers),
      ...start,
      remoteAddress,
    };
  } catch (error) {
    const kind = deadline.signal.aborted ? missedBy(route.trace) : classify(error);
    const remoteAddress = kind === 'blocked_address' ? null : (route.trace?.remoteAddress ?? null);
    return { kind: 'failed', error: kind, detail: deadline.signal.aborted ? sendErrors[kind] : describe(kind, error), remoteAddress };
  } finally {
    clearTimeout(timer);
  }
}

/** What the deadline interrupted. */
function missedBy(trace: ConnectionTrace | null): SendError {
  if (trace?.stage === 'resolving') return 'dns_timeout';
  return trace?.stage === 'connecting' ? 'connect_timeout' : 'timeout';
}

function parseTarget(text: string): { origin: string; path: string } | null {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.username !== '' || url.password !== '') return null;
  return { origin: url.origin, path: url.pathname + url.search };
}

/** Cookies are left out: they are credentials of the receiver that nobody here has a use for. */
const notKept = new Set(['set-cookie', 'set-cookie2']);

function keptHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const kept: [string, string][] = [];
  let left = MAX_KEPT_HEADER_BYTES;
  for (const [name, raw] of Object.entries(headers)) {
    if (notKept.has(name) || raw === undefined) continue;
    const value = storable((Array.isArray(raw) ? raw.join(', ') : raw).slice(0, MAX_KEPT_VALUE_LENGTH));
    left -= Buffer.byteLength(name) + Buffer.byteLength(value);
    if (left < 0) break;
    kept.push([name, value]);
  }
  return Object.fromEntries(kept);
}

/** PostgreSQL stores neither NUL nor half of a surrogate pair. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed();

/**
 * The beginning of an answer as text that PostgreSQL can store. The status has arrived and stands, so a body that is huge, endless or cut
 * off changes nothing: what has come of it by the deadline is kept and the connection dropped.
 */
async function readStart(body: Dispatcher.ResponseData['body']): Promise<{ body: string; truncated: boolean }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let truncated = false;
  body.on('error', () => {});
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      truncated = bytes > MAX_ANSWER_BYTES;
      if (truncated) break;
    }
  } catch {
    // The body ended early; the loop has let go of it.
    truncated = true;
  }
  return { body: textOf(Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES), truncated), truncated };
}

/** What is no UTF-8 becomes replacement characters, which take more room than the bytes they stand for: the text is held to the bound too. */
function textOf(bytes: Buffer, isCut: boolean): string {
  // A decoder that awaits more leaves out a character that was cut in two.
  const text = storable(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: isCut }));
  if (Buffer.byteLength(text) <= MAX_ANSWER_BYTES) return text;
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.from(text).subarray(0, MAX_ANSWER_BYTES), { stream: true });
}
