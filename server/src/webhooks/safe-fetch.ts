// Sends one webhook over HTTP to wherever its endpoint's URL may lead, without trusting that place or its name server.
// Follows no redirect, decompresses nothing, holds no state of a delivery, and never rejects: what went wrong is its result.

import type { LookupAddress } from 'node:dns';
import { lookup as lookupName } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher, errors } from 'undici';
import { isAllowedAddress, type NetworkPolicy } from './network-policy.ts';

/** From the look-up of the name to the last byte of the answer. */
export const SEND_TIMEOUT_MS = 15_000;
/** As much of an answer as is kept for people to read; the rest is not waited for. */
export const MAX_ANSWER_BYTES = 16 * 1024;
/** How long an idle connection is kept for the next webhook, at most: a receiver may ask for less. */
const MAX_KEEP_ALIVE_MS = 60_000;
const MAX_HEADER_BYTES = 16 * 1024;

/** Why no answer arrived. Fixed texts, so that nothing of the network around the server shows in an attempts log. */
export const sendErrors = {
  invalid_url: 'the URL is not an http or https URL without user name and password',
  blocked_address: 'the host is or resolves to an address that webhooks are not sent to',
  dns_not_found: 'the host name does not exist',
  dns_failed: 'the host name could not be resolved',
  connection_refused: 'the host refused the connection',
  connection_reset: 'the connection was closed before an answer arrived',
  host_unreachable: 'the host could not be reached',
  tls_error: 'no secure connection could be made; check the certificate',
  timeout: 'no answer arrived in time',
  invalid_response: 'the answer was not valid HTTP',
  connection_failed: 'the connection failed',
} as const satisfies Record<string, string>;

export type SendError = keyof typeof sendErrors;

export interface SendRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type SendResult =
  | { readonly kind: 'answered'; readonly statusCode: number; readonly retryAfter: string | null; readonly body: string }
  | { readonly kind: 'failed'; readonly error: SendError };

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
  readonly resolve?: (hostname: string) => Promise<LookupAddress[]>;
}

class BlockedAddress extends Error {
  readonly code = 'BLOCKED_ADDRESS';
}

export function createSafeFetch({ policy, timeoutMs = SEND_TIMEOUT_MS, resolve = resolveAll }: SafeFetchOptions): SafeFetch {
  const agent = new Agent({
    connect: createConnector(policy, timeoutMs, resolve),
    // One protocol, one way to fail: a webhook gains nothing from sharing a connection.
    allowH2: false,
    keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  });

  async function send({ url, headers, body }: SendRequest): Promise<SendResult> {
    const target = parseTarget(url);
    if (target === null) return { kind: 'failed', error: 'invalid_url' };
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    try {
      const answer = await agent.request({ ...target, method: 'POST', headers, body, signal: deadline.signal });
      const retryAfter = answer.headers['retry-after'];
      return {
        kind: 'answered',
        statusCode: answer.statusCode,
        retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
        body: await readStart(answer.body),
      };
    } catch (error) {
      return { kind: 'failed', error: deadline.signal.aborted ? 'timeout' : classify(error) };
    } finally {
      clearTimeout(timer);
    }
  }

  return { send, close: () => agent.destroy() };
}

const resolveAll = (hostname: string): Promise<LookupAddress[]> => lookupName(hostname, { all: true });

function parseTarget(text: string): { origin: string; path: string } | null {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.username !== '' || url.password !== '') return null;
  return { origin: url.origin, path: url.pathname + url.search };
}

/**
 * Connects to checked addresses only. A name is resolved here and the connection is given those very addresses, so that a second look-up
 * cannot lead elsewhere; a host that is an address by itself is never looked up and is checked before.
 */
function createConnector(
  policy: NetworkPolicy,
  timeoutMs: number,
  resolve: (hostname: string) => Promise<LookupAddress[]>,
): buildConnector.connector {
  const lookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const first = addresses[0];
        if (first === undefined) return callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), []);
        // One address out of bounds refuses them all: a name that mixes them is either a mistake or an attempt.
        if (!addresses.every(({ address }) => isAllowedAddress(address, policy))) return callback(new BlockedAddress(), []);
        return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
  const connect = buildConnector({ lookup, timeout: timeoutMs, allowH2: false } as buildConnector.BuildOptions);
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0 && !isAllowedAddress(host, policy)) return callback(new BlockedAddress(), null);
    return connect(options, callback);
  };
}

/**
 * The beginning of an answer as text that PostgreSQL can store. The status has arrived and stands, so a body that is huge, endless or cut
 * off changes nothing: what has come of it by the deadline is kept and the connection dropped.
 */
async function readStart(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  body.on('error', () => {});
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= MAX_ANSWER_BYTES) break;
    }
  } catch {
    // The body ended early; the loop has let go of it.
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString('utf8').replaceAll('\0', '\ufffd');
}

const errorCodes: Readonly<Record<string, SendError>> = {
  BLOCKED_ADDRESS: 'blocked_address',
  ENOTFOUND: 'dns_not_found',
  ENODATA: 'dns_not_found',
  EAI_AGAIN: 'dns_failed',
  EAI_FAIL: 'dns_failed',
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  EHOSTUNREACH: 'host_unreachable',
  ENETUNREACH: 'host_unreachable',
  EHOSTDOWN: 'host_unreachable',
  ENETDOWN: 'host_unreachable',
  EADDRNOTAVAIL: 'host_unreachable',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'invalid_response',
  EPROTO: 'tls_error',
  HOSTNAME_MISMATCH: 'tls_error',
};

/** OpenSSL's and Node's names for what is wrong with a secure connection or a certificate. */
const tlsCode = /^ERR_(TLS|SSL)_|CERT|^CRL_|^UNABLE_TO_|_CHAIN|^PATH_LENGTH|^INVALID_(CA|PURPOSE)$/;

export function classify(error: unknown): SendError {
  // The parser's errors do not all carry a code.
  if (error instanceof errors.HTTPParserError) return 'invalid_response';
  const code = typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : '';
  return errorCodes[code] ?? (tlsCode.test(code) ? 'tls_error' : 'connection_failed');
}
