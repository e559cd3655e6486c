// The HTTP server: the framework with its limits set, the routes mounted, the pages of the documentation, health, and every error answered.
// Knows no resource; what it serves is handed in. Logs failures only, never a header, query or body.

import { randomFillSync } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import Fastify, { type FastifyHttpOptions, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Refusal } from '../domain/errors.ts';
import { type Dashboard, registerDashboard } from './dashboard.ts';
import { registerDocs } from './docs.ts';
import type { EventualReads } from './eventual-reads.ts';
import { mountRoutes, NO_HOST } from './mount.ts';
import { type Authentication, rateLimitPolicy } from './plugins/authenticate.ts';
import { createClientErrorHandler, createConnectHandler } from './plugins/client-errors.ts';
import {
  createRequestIds,
  createResponder,
  type Exchange,
  exchangeOf,
  type RequestMeter,
  type RequestNote,
  type Responder,
} from './plugins/respond.ts';
import { createPathTable, judgeUnmatched, type PathTable } from './plugins/unmatched.ts';
import type { Route } from './route.ts';

export interface ServerOptions extends Authentication {
  readonly routes: readonly Route[];
  /** Makes the OpenAPI document, which is served as it is; called when it is first asked for. */
  readonly document: () => object;
  /** Where the build of the dashboard leaves its files. Left out: there is none, and `/` leads to the reference. */
  readonly dashboardDirectory?: string;
  /** Why the service cannot take writes right now; null when it can. */
  readonly unreadyReason: () => Promise<string | null>;
  /** What is not as it should be although requests are served; null when nothing is. */
  readonly degradedReason?: () => string | null;
  /** Answers `/metrics` on this port, with a token of its own; left out where it has another port or is off. */
  readonly answerMetrics?: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** What counts the answers of an operation; left out where nobody counts. */
  readonly meterOf?: ((operationId: string) => RequestMeter) | undefined;
  /** Lists that may be a little behind; left out where there is no replica. */
  readonly eventualReads?: EventualReads | undefined;
  /** What keeps the answers of an operation for the people of a workspace; left out where nobody does. */
  readonly noteOf?: ((method: Route['method'], path: string) => RequestNote) | undefined;
  readonly log: Logger;
  readonly timeouts?: Partial<Timeouts>;
}

export interface Timeouts {
  /** From the first byte of a request to the last one of its headers, and of its body. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** How long an idle connection is kept. Longer than the 60 s of common load balancers, which must be the ones to close. */
  readonly keepAliveMs: number;
  /** How often the two above are checked. */
  readonly checkIntervalMs: number;
}

const defaultTimeouts: Timeouts = { headersMs: 10_000, requestMs: 30_000, keepAliveMs: 65_000, checkIntervalMs: 2_000 };

/** All headers together; the request line counts with them, and so this bounds the path too. */
const MAX_HEADER_BYTES = 16 * 1024;

const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'];

export function buildServer(options: ServerOptions): FastifyInstance {
  const requestId = createRequestIds(options.now(), (bytes) => void randomFillSync(bytes));
  const paths = createPathTable();
  let draining = false;
  const respond = createResponder({
    log: options.log,
    rateLimitPolicy: rateLimitPolicy(options.limits.limitPerMinute),
    isDraining: () => draining,
    now: options.now,
  });
  const app = Fastify({
    ...httpOptions({ ...defaultTimeouts, ...options.timeouts }),
    genReqId: requestId,
    // An error of the framework's own router: the path is not percent-encoded UTF-8.
    frameworkErrors: (_error, request, reply) => respond.refuse(exchangeOf(request, reply), BAD_PATH),
    clientErrorHandler: createClientErrorHandler(paths, requestId),
  });
  // The framework reads no body: the mounted routes do, once they know who is calling.
  for (const method of METHODS) app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  app.addHook('preClose', (done) => {
    draining = true;
    done();
  });
  app.addHook('onRoute', (route) => paths.add(route.method, route.url));
  const unmatched = options.meterOf?.('unmatched');
  const refuseUnmatched = (request: FastifyRequest, reply: FastifyReply): void =>
    answerUnmatched(paths, respond, exchangeOf(request, reply, unmatched));
  const refuseFile = (request: FastifyRequest, reply: FastifyReply): void =>
    respond.refuse(exchangeOf(request, reply), {
      code: 'not_found',
      detail: 'There is no such file; the page that asked for it may be of an older build.',
    });
  let dashboard: Dashboard | null = null;
  app.setNotFoundHandler((request, reply) =>
    dashboard?.takes(request) === true ? dashboard.sendPage(request, reply) : refuseUnmatched(request, reply),
  );
  app.setErrorHandler((error, request, reply) => respond.fail(exchangeOf(request, reply), error));
  listenForOddities(app, respond, requestId);
  mountHealth(app, options, respond);
  registerDocs(app, options.document);
  if (options.dashboardDirectory !== undefined) dashboard = registerDashboard(app, options.dashboardDirectory, refuseFile);
  else app.get('/', (_request, reply) => reply.redirect('/docs'));
  mountRoutes(app, options.routes, { ...options, respond });
  return app;
}

const BAD_PATH: Refusal = { code: 'malformed_request', detail: 'The path is not percent-encoded UTF-8.' };

function httpOptions({ headersMs, requestMs, keepAliveMs, checkIntervalMs }: Timeouts): FastifyHttpOptions<Server> {
  return {
    logger: false,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    // While closing, requests on open connections are still served: the client cannot know better.
    return503OnClosing: false,
    routerOptions: {
      // Any id of the wrong length is answered by the route, after the key was checked.
      maxParamLength: MAX_HEADER_BYTES,
      // The routes read the query themselves, and strictly.
      querystringParser: () => NO_QUERY,
    },
    http: {
      requestTimeout: requestMs,
      headersTimeout: headersMs,
      connectionsCheckingInterval: checkIntervalMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      // Refused here with a full problem; Node's own answer has no body.
      requireHostHeader: false,
      // Two Authorization headers become one that cannot be read, where otherwise the second would be dropped in silence.
      joinDuplicateHeaders: true,
      // A request without a body has no stream to be read to its end.
      optimizeEmptyRequests: true,
    },
  };
}

const NO_QUERY = Object.freeze({});

function answerUnmatched(paths: PathTable, respond: Responder, exchange: Exchange): void {
  const { request } = exchange;
  if (request.headers.host === undefined && request.httpVersion === '1.1') return respond.refuse(exchange, NO_HOST);
  const { allow, refusal } = judgeUnmatched(paths, request.method ?? 'GET', request.url ?? '/');
  if (refusal !== null) respond.refuse(exchange, refusal, allow === null ? {} : { allow });
  else respond.send(exchange, 204, null, { Allow: allow });
}

/** Events of Node's server for which it would otherwise answer by itself, or not at all. */
function listenForOddities(app: FastifyInstance, respond: Responder, requestId: () => string): void {
  const { server } = app;
  server.on('connect', createConnectHandler(requestId));
  // 100 Continue is sent by the route when it wants the body, so that a refusal saves the client the upload.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => server.emit('request', request, response));
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const nobody = { rateLimit: null, bodyRead: false, meter: null, note: null, caller: null, startedAtMs: 0 };
    const exchange = { ...nobody, request, response, requestId: requestId() };
    respond.refuse(exchange, { code: 'malformed_request', detail: 'The only Expect this server meets is 100-continue.' });
  });
}

/** For load balancers and supervisors: no key, no limit, nothing of the inside. */
function mountHealth(app: FastifyInstance, options: ServerOptions, respond: Responder): void {
  const { unreadyReason, degradedReason = () => null, answerMetrics } = options;
  if (answerMetrics !== undefined) app.get('/metrics', (request, reply) => answerMetrics(request.raw, reply.raw));
  app.get('/healthz', (request, reply) => respond.send(exchangeOf(request, reply), 200, '{"status":"ok"}'));
  app.get('/readyz', (request, reply) => {
    const exchange = exchangeOf(request, reply);
    unreadyReason().then(
      (reason) => {
        const degraded = degradedReason();
        const body = degraded === null ? { status: 'ready' } : { status: 'degraded', detail: degraded };
        if (reason === null) respond.send(exchange, 200, JSON.stringify(body));
        else respond.refuse(exchange, { code: 'overloaded', detail: `Not ready: ${reason}.` });
      },
      (error: unknown) => respond.fail(exchange, error),
    );
  });
}
