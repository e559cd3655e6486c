// The way to a receiver, one step after the other, each with its time: name, addresses, connection, certificate, signed ping.
// Goes to checked addresses only, and over a connection whose certificate is not accepted it sends nothing.

import { type IncomingMessage, request as requestOver } from 'node:http';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';
import type { DiagnosisVerdict, WebhookDiagnosis } from '../schemas/webhook-tests.ts';
import { hintOf } from './diagnosis-hints.ts';
import { blockedRange, type NetworkPolicy } from './network-policy.ts';
import type { Resolve } from './resolve.ts';
import { classify, describe, sendErrors } from './send-errors.ts';

/** Addresses that are tried, and for how long each. */
const MAX_ADDRESSES = 4;
const CONNECT_TIMEOUT_MS = 2_500;
const TLS_TIMEOUT_MS = 5_000;
const PING_TIMEOUT_MS = 10_000;
/** Certificates of a chain that are shown, and as much of the answer. */
const MAX_CERTIFICATES = 8;
const MAX_NAMES = 50;
const MAX_SHOWN_BYTES = 1024;
const MAX_HEADER_BYTES = 16 * 1024;
const DAY_MS = 86_400_000;

export interface DiagnoseOptions {
  readonly policy: NetworkPolicy;
  readonly resolve: Resolve;
  /** Certificates of authorities that are trusted instead of the usual ones. */
  readonly ca?: string | undefined;
}

export type Found = Pick<WebhookDiagnosis, 'verdict' | 'hint' | 'dns' | 'connection' | 'tls' | 'ping'>;
type Steps = { -readonly [Step in 'dns' | 'connection' | 'tls' | 'ping']: Found[Step] };
interface Ping {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const since = (began: number): number => Math.round(performance.now() - began);
/** The parser of Node has codes of its own for an answer that is none. */
const told = (error: unknown): string => {
  const code = codeOf(error);
  return code.startsWith('HPE_') ? `${sendErrors.invalid_response} (${code})` : describe(classify(error), error);
};

export function createDiagnose(options: DiagnoseOptions): (url: string, ping: Ping, now: Date) => Promise<Found> {
  return async (text, ping, now) => {
    const steps: Steps = { dns: null, connection: null, tls: null, ping: null };
    const verdict = await walk(text, ping, now, steps, options);
    return { verdict, hint: hintOf(verdict, steps), ...steps };
  };
}

/** Goes as far as it can; every step leaves what it found. */
async function walk(text: string, ping: Ping, now: Date, steps: Steps, options: DiagnoseOptions): Promise<DiagnosisVerdict> {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return 'invalid_url';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = await lookUp(host, steps, options);
  if (addresses === null) return 'dns_failed';
  if (steps.dns?.addresses.some(({ blocked }) => blocked !== null)) return 'blocked_address';
  const isSecure = url.protocol === 'https:';
  const socket = await connect(addresses, Number(url.port) || (isSecure ? 443 : 80), steps);
  if (socket === null) return 'connection_failed';
  // From here on the connection may break at any moment; whoever uses it is told by its own events.
  socket.on('error', () => {});
  try {
    const open = isSecure ? await secure(socket, host, now, steps, options.ca) : socket;
    if (open === null) return 'tls_failed';
    return await send(open, url, ping, steps);
  } finally {
    socket.destroy();
  }
}

async function lookUp(host: string, steps: Steps, { policy, resolve }: DiagnoseOptions): Promise<string[] | null> {
  const began = performance.now();
  try {
    const found = isIP(host) === 0 ? await resolve(host) : [{ address: host, family: isIP(host) }];
    const addresses = found.map(({ address, family }) => {
      const blocked = blockedRange(address, policy);
      return { address: blocked === null ? address : null, family, blocked };
    });
    steps.dns = { host, duration_ms: since(began), addresses, error: addresses.length === 0 ? 'the host name has no address' : null };
    return addresses.length === 0 ? null : found.map(({ address }) => address);
  } catch (error) {
    steps.dns = { host, duration_ms: since(began), addresses: [], error: told(error) };
    return null;
  }
}

async function connect(addresses: readonly string[], port: number, steps: Steps): Promise<Socket | null> {
  for (const address of addresses.slice(0, MAX_ADDRESSES)) {
    const began = performance.now();
    const socket = connectTcp({ host: address, port, noDelay: true });
    try {
      await settled(socket, 'connect', CONNECT_TIMEOUT_MS);
      steps.connection = { address, port, duration_ms: since(began), error: null };
      return socket;
    } catch (error) {
      socket.destroy();
      steps.connection = { address, port, duration_ms: since(began), error: told(error) };
    }
  }
  return null;
}

/** Resolves at the event; rejects at an error, a close or the end of the time. */
function settled(socket: Socket, event: 'connect' | 'secureConnect', timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (code: string) => () => reject(Object.assign(new Error(code), { code }));
    const timer = setTimeout(fail('ETIMEDOUT'), timeoutMs);
    socket.once(event, () => resolve());
    socket.once('error', reject);
    socket.once('close', fail('ECONNRESET'));
    socket.once('close', () => clearTimeout(timer));
    socket.once(event, () => clearTimeout(timer));
  });
}

/** The handshake is made whatever the certificate is like, in order to show it; what it is like decides whether anything is sent. */
async function secure(socket: Socket, host: string, now: Date, steps: Steps, ca: string | undefined): Promise<TLSSocket | null> {
  const began = performance.now();
  const servername = isIP(host) === 0 ? host.replace(/\.$/, '') : '';
  const open = connectTls({
    socket,
    host,
    servername,
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: false,
    ...(ca === undefined ? {} : { ca }),
  });
  open.on('error', () => {});
  try {
    await settled(open, 'secureConnect', TLS_TIMEOUT_MS);
  } catch (error) {
    steps.tls = { duration_ms: since(began), protocol: null, authorized: false, error: codeOf(error), chain: [] };
    return null;
  }
  const error = open.authorized ? null : String((open.authorizationError as unknown) ?? 'not authorized');
  const chain = chainOf(open.getPeerCertificate(true), now);
  steps.tls = { duration_ms: since(began), protocol: open.getProtocol(), authorized: open.authorized, error, chain };
  return open.authorized ? open : null;
}

const codeOf = (error: unknown): string => {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return /^[A-Z0-9_]{1,60}$/.test(code) ? code : 'TLS_FAILED';
};

type Certificate = NonNullable<WebhookDiagnosis['tls']>['chain'][number];

function chainOf(first: DetailedPeerCertificate, now: Date): Certificate[] {
  const chain: Certificate[] = [];
  const seen = new Set<string>();
  let certificate: DetailedPeerCertificate | undefined = first;
  while (certificate?.fingerprint256 !== undefined && !seen.has(certificate.fingerprint256) && chain.length < MAX_CERTIFICATES) {
    seen.add(certificate.fingerprint256);
    chain.push(certificateOf(certificate, now));
    certificate = certificate.issuerCertificate;
  }
  return chain;
}

function certificateOf({ subject, issuer, subjectaltname, valid_from, valid_to }: DetailedPeerCertificate, now: Date): Certificate {
  const until = new Date(valid_to);
  const names = (subjectaltname ?? '').split(', ').filter((name) => name !== '');
  return {
    subject: nameOf(subject),
    issuer: nameOf(issuer),
    names: names.slice(0, MAX_NAMES).map((name) => shown(name.replace(/^(DNS|IP Address):/, ''))),
    valid_from: new Date(valid_from).toISOString(),
    valid_until: until.toISOString(),
    days_left: Math.floor((until.getTime() - now.getTime()) / DAY_MS),
  };
}

/** A certificate may hold anything at all. */
const shown = (text: string): string => text.slice(0, 255).replaceAll('\0', '\ufffd').toWellFormed();
const nameOf = (name: DetailedPeerCertificate['subject']): string => shown(String(name?.CN ?? name?.O ?? 'without a name'));

async function send(socket: Socket, url: URL, ping: Ping, steps: Steps): Promise<DiagnosisVerdict> {
  const began = performance.now();
  const deadline = AbortSignal.timeout(PING_TIMEOUT_MS);
  try {
    const answer = await post(socket, url, ping, deadline);
    const statusCode = answer.statusCode ?? 0;
    const first = since(began);
    const start = await readStart(answer);
    steps.ping = { status_code: statusCode, first_byte_ms: first, duration_ms: since(began), error: null, response_body: start };
    if (statusCode >= 200 && statusCode < 300) return 'healthy';
    if (statusCode === 410) return 'gone';
    return statusCode >= 300 && statusCode < 400 ? 'redirected' : 'rejected';
  } catch (error) {
    const reason = deadline.aborted ? sendErrors.timeout : told(error);
    steps.ping = { status_code: null, first_byte_ms: null, duration_ms: since(began), error: reason, response_body: null };
    return 'no_answer';
  }
}

/** Over the connection that stands, and over no other. */
function post(socket: Socket, url: URL, { headers, body }: Ping, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = {
      'accept-encoding': 'identity',
      connection: 'close',
      'content-length': Buffer.byteLength(body),
      ...headers,
      host: url.host,
    };
    const options = { method: 'POST', path: url.pathname + url.search, headers: sent, maxHeaderSize: MAX_HEADER_BYTES, signal };
    requestOver({ ...options, createConnection: () => socket }, resolve)
      .on('error', reject)
      .end(body);
  });
}

async function readStart(body: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= MAX_SHOWN_BYTES) break;
    }
  } catch {
    // It broke off, or had no end in time; what has come of it is shown.
  }
  return Buffer.concat(chunks).subarray(0, MAX_SHOWN_BYTES).toString('utf8').replaceAll('\0', '\ufffd');
}
