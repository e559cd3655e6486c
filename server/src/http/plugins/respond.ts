// How every answer leaves: its headers in one object, its length known, one write. Problems, texts and empty answers alike.
// Writes to the raw response, because the framework's own road costs more than this service spends on the rest of a read.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Refusal } from '../../domain/errors.ts';
import { CommitUnknown, DatabaseUnavailable, TransactionAborted } from '../../store/database.ts';
import { PROBLEM_CONTENT_TYPE, type ProblemContext, problemHeaders, problemStatus, toProblem } from '../problems.ts';
import type { Caller } from '../route.ts';
import { createDeparture, type End } from './departure.ts';
import { createOverloadLog } from './overload-log.ts';
import { createUsualHead } from './usual-head.ts';

export const JSON_CONTENT_TYPE = 'application/json; charset=utf-8';

/** Makes request ids: short, unique over processes, and in order of time within one. */
export function createRequestIds(nowMs: number, random: (bytes: Uint8Array) => void): () => string {
  const bytes = new Uint8Array(3);
  random(bytes);
  const ofProcess = `req_${nowMs.toString(36)}${Buffer.from(bytes).toString('hex')}_`;
  let count = 0;
  return () => ofProcess + (count++).toString(36);
}

/** One request on its way to its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** The RateLimit header; null as long as no valid key has shown itself. */
  rateLimit: string | null;
  /** Whether the body was read; only asked where a client announced one. */
  bodyRead: boolean;
  /** Counts the answer and its time; null where nobody counts. */
  readonly meter: RequestMeter | null;
  /** Notes the answer for the workspace that asked; null where nobody does. */
  readonly note: RequestNote | null;
  /** Who asks; null as long as nobody has shown to be one who may. */
  caller: Caller | null;
  readonly startedAtMs: number;
}

/** What keeps the answers of one operation for the people of the workspace; compose.ts hands it in. */
export interface RequestNote {
  answered(caller: Caller, requestId: string, method: string | undefined, status: number, durationMs: number): void;
}

/** What counts the answers of one operation; compose.ts hands it in. */
export interface RequestMeter {
  answered(status: number, durationMs: number): void;
}

export function exchangeOf(
  request: FastifyRequest,
  reply: FastifyReply,
  meter: RequestMeter | null = null,
  note: RequestNote | null = null,
): Exchange {
  return {
    request: request.raw,
    response: reply.raw,
    requestId: request.id,
    rateLimit: null,
    bodyRead: false,
    meter,
    note,
    caller: null,
    startedAtMs: meter === null && note === null ? 0 : performance.now(),
  };
}

export interface ResponderOptions {
  readonly log: Logger;
  readonly rateLimitPolicy: string;
  /** True from the moment the server is told to stop: every answer then closes its connection, or the stop would wait for idle clients. */
  readonly isDraining: () => boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

type ExtraHeaders = Readonly<Record<string, string | string[]>>;
type Send = (exchange: Exchange, status: number, text: string | null, extra?: ExtraHeaders) => void;

export interface Responder {
  /** `text` null: no body and, but for 204 and 304, a length of 0. */
  readonly send: Send;
  /** The same for what was waited for, which leaves together with what else is ready. What is known at once must not wait: see departure.ts. */
  readonly sendTogether: Send;
  refuse(exchange: Exchange, refusal: Refusal, context?: ProblemContext): void;
  /** Writes the head of an answer without an end and hands the connection on; a HEAD request gets the head alone. */
  stream(exchange: Exchange, type: string, begin: (response: ServerResponse) => void, extra?: Readonly<Record<string, string>>): void;
  /** Something was thrown: the database out of reach, or a defect. */
  fail(exchange: Exchange, error: unknown): void;
}

/** More than this is not worth reading for the sake of the connection. */
const MAX_DISCARDED_BYTES = 16 * 1024 * 1024;

/** Whether more is still to come than is worth reading. A client that waited for 100 Continue in vain is cut off by Node itself. */
const mustClose = ({ request, bodyRead }: Exchange): boolean =>
  !bodyRead && Number(request.headers['content-length']) > MAX_DISCARDED_BYTES;

const endAtOnce: End = (response, text) => void response.end(text ?? undefined);

export function createResponder({ log, rateLimitPolicy, isDraining, now }: ResponderOptions): Responder {
  const traces = log.isLevelEnabled('debug');
  const depart = createDeparture();
  const logOverload = createOverloadLog(log, () => performance.now());
  const onAll = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
  const writeUsualHead = createUsualHead({ ...onAll, 'RateLimit-Policy': rateLimitPolicy, 'Content-Type': JSON_CONTENT_TYPE }, now);

  function commonHeaders({ requestId, rateLimit }: Exchange): Record<string, string | number | string[]> {
    const headers: Record<string, string | number | string[]> = { 'Request-Id': requestId, ...onAll };
    if (rateLimit !== null) {
      headers['RateLimit-Policy'] = rateLimitPolicy;
      headers.RateLimit = rateLimit;
    }
    return headers;
  }

  function headersOf(exchange: Exchange, status: number, type: string, text: string | null, extra: ExtraHeaders | undefined) {
    const headers = { ...commonHeaders(exchange), ...extra };
    if (text !== null) {
      headers['Content-Type'] = type;
      headers['Content-Length'] = Buffer.byteLength(text);
    } else if (status !== 204 && status !== 304) headers['Content-Length'] = 0;
    if (isDraining() || (status >= 400 && mustClose(exchange))) headers.Connection = 'close';
    return headers;
  }

  /** Whether it is one of the many: to a caller, with a body, all well, and its connection there for the next one. */
  const isUsual = ({ request, response, rateLimit }: Exchange, status: number, type: string): boolean =>
    rateLimit !== null &&
    status < 300 &&
    type === JSON_CONTENT_TYPE &&
    response.shouldKeepAlive &&
    !isDraining() &&
    request.headers.expect === undefined;

  function write(
    exchange: Exchange,
    status: number,
    type: string,
    text: string | null,
    extra: ExtraHeaders | undefined,
    end = endAtOnce,
  ): void {
    const { request, response, requestId, rateLimit } = exchange;
    if (response.headersSent || response.destroyed) return;
    if (text !== null && isUsual(exchange, status, type)) {
      const own = `Request-Id: ${requestId}\r\nRateLimit: ${rateLimit}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`;
      writeUsualHead(response, status, own, extra);
    } else response.writeHead(status, headersOf(exchange, status, type, text, extra));
    end(response, text);
    count(exchange, status);
    // Neither the query nor any header or body is logged: they may hold what is nobody's business.
    if (traces)
      log.debug({ request_id: requestId, method: request.method, path: request.url?.split('?', 1)[0], status }, 'request answered');
  }

  function refuse(exchange: Exchange, refusal: Refusal, context?: ProblemContext): void {
    const text = JSON.stringify(toProblem(refusal, exchange.requestId));
    const { scope, retryAfterSeconds = context?.retryAfterSeconds } = refusal;
    const headers = problemHeaders(
      refusal.code,
      scope === undefined && retryAfterSeconds === undefined ? context : contextWith(context, scope, retryAfterSeconds),
    );
    write(exchange, problemStatus[refusal.code], PROBLEM_CONTENT_TYPE, text, headers);
    if (refusal.code === 'overloaded') logOverload(exchange.requestId, refusal.detail);
    else if (problemStatus[refusal.code] >= 500) log.error({ request_id: exchange.requestId, code: refusal.code }, refusal.detail);
  }

  return {
    send: (exchange, status, text, extra) => write(exchange, status, JSON_CONTENT_TYPE, text, extra),
    sendTogether: (exchange, status, text, extra) => write(exchange, status, JSON_CONTENT_TYPE, text, extra, depart),
    refuse,
    stream(exchange, type, begin, extra) {
      const { request, response } = exchange;
      if (response.headersSent || response.destroyed) return;
      // Some proxies gather an answer before they pass it on; `X-Accel-Buffering` tells the most common one not to. A stream has its
      // connection to itself and ends with it: who comes back is led to a process that goes on.
      const own = { 'Content-Type': type, 'X-Accel-Buffering': 'no', Connection: 'close' };
      response.writeHead(200, { ...commonHeaders(exchange), ...extra, ...own });
      count(exchange, 200);
      if (request.method === 'HEAD') response.end();
      else begin(response);
    },
    fail(exchange, error) {
      const refusal = refusalOf(error);
      log.error(
        { request_id: exchange.requestId, err: error },
        refusal.code === 'internal_error' ? 'a request failed' : 'the database is out of reach',
      );
      const text = JSON.stringify(toProblem(refusal, exchange.requestId));
      write(exchange, problemStatus[refusal.code], PROBLEM_CONTENT_TYPE, text, problemHeaders(refusal.code));
    },
  };
}

function contextWith(context: ProblemContext | undefined, scope: Refusal['scope'], retryAfterSeconds: number | undefined): ProblemContext {
  return { ...context, ...(scope === undefined ? {} : { scope }), ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

function count(exchange: Exchange, status: number): void {
  const { meter, note, caller } = exchange;
  if (meter === null && note === null) return;
  const durationMs = performance.now() - exchange.startedAtMs;
  meter?.answered(status, durationMs);
  if (note !== null && caller !== null) note.answered(caller, exchange.requestId, exchange.request.method, status, durationMs);
}

/** What a client is told of a throw: whether anything happened, and nothing of the inside. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof CommitUnknown) {
    return {
      code: 'overloaded',
      detail:
        'The connection to the database was lost at the commit and the outcome is unknown. Repeat the request with the same Idempotency-Key.',
    };
  }
  if (error instanceof DatabaseUnavailable || error instanceof TransactionAborted) {
    return {
      code: 'overloaded',
      detail: 'The database is out of reach. Nothing was changed; repeat the request with the same Idempotency-Key.',
    };
  }
  return {
    code: 'internal_error',
    detail: 'The request failed through no fault of yours. Its id leads to the details in the log of the server.',
  };
}
