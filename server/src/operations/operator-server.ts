// What is asked of a process by those who run it: is it alive, is it ready, what has it counted. No key of the API opens any of it.
// Answers three paths and nothing else; holds no state.

import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { METRICS_CONTENT_TYPE } from './instruments.ts';

/** Collectors and supervisors ask one after the other; more than this at once is a mistake. */
const MAX_CONNECTIONS = 64;
const REQUEST_TIMEOUT_MS = 10_000;
/** Longer than the minute at which collectors usually ask, so that they keep their connection. */
const KEEP_ALIVE_MS = 65_000;
const CHECK_INTERVAL_MS = 2_000;

export interface Health {
  /** Why the work cannot be done right now; null when it can. */
  readonly unready: string | null;
  /** What is not as it should be although the work goes on. */
  readonly degraded: string | null;
}

export interface OperatorAnswers {
  readonly metricsText: () => Promise<string>;
  /** What `/metrics` asks for as a bearer token; undefined: nothing. */
  readonly metricsToken: string | undefined;
  /** Why the process should be restarted; null when it is well. */
  readonly deadReason: () => string | null;
  readonly health: () => Promise<Health>;
  readonly onError: (error: unknown) => void;
}

export type OperatorListener = (request: IncomingMessage, response: ServerResponse) => void;

/** The body of `/readyz` while the process can work. */
export function readyBody(degraded: string | null): string {
  return JSON.stringify(degraded === null ? { status: 'ready' } : { status: 'degraded', detail: degraded });
}

/** Answers `/metrics` alone; on the main port, where the other two have their own answers. */
export function createMetricsListener({ metricsText, metricsToken, onError }: OperatorAnswers): OperatorListener {
  const isAllowed = metricsToken === undefined ? () => true : createTokenCheck(metricsToken);
  return (request, response) => {
    if (!isAllowed(request.headers.authorization)) {
      const text = 'The metrics of this server ask for the bearer token of METRICS_TOKEN.\n';
      return send(request, response, 401, text, { 'WWW-Authenticate': 'Bearer realm="tranche metrics"' });
    }
    metricsText().then(
      (text) => send(request, response, 200, text, { 'Content-Type': METRICS_CONTENT_TYPE }),
      (error: unknown) => {
        onError(error);
        send(request, response, 500, 'The metrics could not be read; the log says why.\n');
      },
    );
  };
}

export function createOperatorListener(answers: OperatorAnswers): OperatorListener {
  const metrics = createMetricsListener(answers);
  const json = { 'Content-Type': 'application/json; charset=utf-8' };
  return (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0];
    if (path !== '/metrics' && path !== '/healthz' && path !== '/readyz')
      return send(request, response, 404, 'There are /metrics, /healthz and /readyz here.\n');
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return send(request, response, 405, 'There is only GET here.\n', { Allow: 'GET, HEAD' });
    if (path === '/metrics') return metrics(request, response);
    if (path === '/healthz') {
      const reason = answers.deadReason();
      const body = JSON.stringify(reason === null ? { status: 'ok' } : { status: 'dead', detail: reason });
      return send(request, response, reason === null ? 200 : 503, body, json);
    }
    answers.health().then(
      ({ unready, degraded }) => {
        const body = unready === null ? readyBody(degraded) : JSON.stringify({ status: 'unready', detail: unready });
        send(request, response, unready === null ? 200 : 503, body, json);
      },
      (error: unknown) => {
        answers.onError(error);
        send(request, response, 503, JSON.stringify({ status: 'unready', detail: 'the database is out of reach' }), json);
      },
    );
  };
}

/** Compares hashes, so that neither the time nor the length tells anything of the token. */
function createTokenCheck(token: string): (authorization: string | undefined) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const expected = digest(token);
  return (authorization) => {
    const given = /^Bearer ([\x21-\x7e]{1,200})$/i.exec(authorization ?? '')?.[1];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
  response.end(request.method === 'HEAD' ? undefined : text);
}

export interface OperatorServer {
  readonly host: string;
  readonly port: number;
  close(): void;
}

/** Listens on a port of its own. Rejects as the system does when the address cannot be had. */
export async function listenForOperator(listener: OperatorListener, host: string, port: number): Promise<OperatorServer> {
  const options = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
  };
  const server: Server = createServer(options, listener);
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(port, host, listening);
  });
  return {
    host,
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
