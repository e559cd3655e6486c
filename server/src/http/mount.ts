// Serves a list of routes: admits the caller, checks path, query, headers and body in this order, calls the route, writes its answer.
// Knows no resource. The road of a read has no closure, hook or promise of its own beyond those of the route.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Refusal } from '../domain/errors.ts';
import { decodeId, type IdKind, type Uuid } from '../domain/ids.ts';
import { type EventualReads, parseConsistency } from './eventual-reads.ts';
import type { Admission } from './plugins/admission.ts';
import { type Admit, type Authentication, createAdmission } from './plugins/authenticate.ts';
import { fingerprintOf, isNotModified, parseIdempotencyKey, parseIfMatch } from './plugins/conditions.ts';
import { parseQuery, queryOf, refuseQuery } from './plugins/query.ts';
import { readBody } from './plugins/read-body.ts';
import { type Exchange, exchangeOf, type RequestMeter, type RequestNote, type Responder } from './plugins/respond.ts';
import { type Answer, type Caller, isList, isRefusal, type Route, type RouteRequest, type StreamAnswer, templateOf } from './route.ts';
import { type Serializer, serializerOf } from './serialize.ts';
import { validate, validationFailed } from './validation.ts';

export interface MountServices extends Authentication {
  readonly respond: Responder;
  /** What counts the answers of an operation; left out where nobody counts. */
  readonly meterOf?: ((operationId: string) => RequestMeter) | undefined;
  /** Lists that may be a little behind; left out where there is no replica. */
  readonly eventualReads?: EventualReads | undefined;
  /** What keeps the answers of an operation for the people of a workspace; left out where nobody does. */
  readonly noteOf?: ((method: Route['method'], path: string) => RequestNote) | undefined;
}

/** The same words whether an id is malformed, of another kind, of another workspace or simply unused. */
export const ABSENT: Refusal = { code: 'not_found', detail: 'There is no such resource in this workspace.' };

/** Registers every route with the framework, HEAD along with each GET. */
export function mountRoutes(app: FastifyInstance, routes: readonly Route[], services: MountServices): void {
  const admitTo = createAdmission(services);
  for (const route of routes) {
    const access = route.access ?? 'workspace';
    const meter = services.meterOf?.(route.operationId) ?? null;
    // Only what concerns a workspace is in its log.
    const note = access === 'workspace' ? (services.noteOf?.(route.method, templateOf(route.path)) ?? null) : null;
    app.route({
      method: route.method,
      url: route.path,
      exposeHeadRoute: route.method === 'GET',
      handler: handlerOf(route, admitTo(access), services, { meter, note }),
    });
  }
}

type Params = Record<string, string>;
type Ids = Record<string, Uuid>;
const NO_IDS: Ids = Object.freeze({});
const NO_QUERY = Object.freeze({});

function handlerOf(route: Route, admit: Admit, services: MountServices, { meter, note }: Pick<Exchange, 'meter' | 'note'>) {
  const { respond } = services;
  const serve = createServe(route, services);
  const isWrite = route.method !== 'GET';
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const exchange = exchangeOf(request, reply, meter, note);
    try {
      const admission = admit(request.raw, isWrite);
      if (admission instanceof Promise) {
        admission
          .then((admitted) => serve(exchange, admitted, request.params as Params))
          .catch((error: unknown) => respond.fail(exchange, error));
      } else serve(exchange, admission, request.params as Params);
    } catch (error) {
      respond.fail(exchange, error);
    }
  };
}

/** What follows the admission: everything up to the call of the route, which alone is asynchronous where there is no body. */
function createServe(
  route: Route,
  { respond, gate, eventualReads }: MountServices,
): (exchange: Exchange, admission: Admission, params: Params) => void {
  const finish = createFinish(route, respond);
  const readsBody = route.method === 'POST' || route.method === 'PATCH';
  const checkBody = readsBody ? createBodyCheck(route) : null;
  const decode = createDecode(route.ids);
  const streams = route.success.contentType === 'text/event-stream';
  const lists = isList(route);
  const handleEventually = lists ? (eventualReads?.handleOf(route) ?? route.handle) : route.handle;

  function call(exchange: Exchange, request: RouteRequest<unknown, unknown>, handle = route.handle): void {
    const work = handle(request);
    const tally = gate?.began(request.caller.workspaceId);
    work.then(
      (outcome) => {
        if (tally !== undefined) gate?.ended(tally);
        finish(exchange, outcome);
      },
      (error: unknown) => {
        if (tally !== undefined) gate?.ended(tally);
        respond.fail(exchange, error);
      },
    );
  }

  async function callWithBody(exchange: Exchange, caller: Caller, ids: Ids, query: unknown, check: BodyCheck): Promise<void> {
    try {
      const reading = readBody(exchange.request, exchange.response);
      const read = reading instanceof Promise ? await reading : reading;
      if (read === null) return; // The client has gone; nobody is there to be told.
      if ('refusal' in read) return respond.refuse(exchange, read.refusal);
      exchange.bodyRead = true;
      const checked = check(exchange, read.value);
      if ('refusal' in checked) return respond.refuse(exchange, checked.refusal);
      call(exchange, { caller, ids, query, ...checked, bodyBytes: read.bytes, lastEventId: undefined, raw: exchange.request });
    } catch (error) {
      respond.fail(exchange, error);
    }
  }

  return (exchange, { caller, refusal, context, rateLimit }, params) => {
    exchange.rateLimit = rateLimit;
    exchange.caller = caller;
    if (refusal !== null || caller === null) return respond.refuse(exchange, refusal ?? ABSENT, context);
    const { request } = exchange;
    if (request.headers.host === undefined && request.httpVersion === '1.1') return respond.refuse(exchange, NO_HOST);
    if (route.scope !== null && !caller.scopes.includes(route.scope)) {
      const detail = `This ${caller.session === null ? 'key' : 'role'} lacks the scope ${route.scope}.`;
      return respond.refuse(exchange, { code: 'insufficient_scope', detail, scope: route.scope });
    }
    const ids = decode(params);
    if (ids === null) return respond.refuse(exchange, ABSENT);
    const query = checkQuery(route, queryOf(request.url ?? ''));
    if ('refusal' in query) return respond.refuse(exchange, query.refusal);
    if (checkBody !== null) {
      void callWithBody(exchange, caller, ids, query.value, checkBody);
      return;
    }
    const conditions = checkIfMatch(route, request.headers['if-match']);
    if ('refusal' in conditions) return respond.refuse(exchange, conditions.refusal);
    const asked = {
      caller,
      ids,
      query: query.value,
      body: undefined,
      idempotency: null,
      ifMatch: conditions.ifMatch,
      bodyBytes: 0,
      lastEventId: streams ? (request.headers['last-event-id'] as string | undefined) : undefined,
      raw: request,
    };
    if (!lists) return call(exchange, asked);
    const consistency = parseConsistency(request.headers['tranche-consistency'] as string | undefined);
    if ('refusal' in consistency) return respond.refuse(exchange, consistency.refusal);
    call(exchange, asked, consistency.isEventual ? handleEventually : route.handle);
  };
}

export const NO_HOST: Refusal = { code: 'malformed_request', detail: 'The Host header is missing.' };

function createDecode(kinds: Readonly<Record<string, IdKind>> | undefined): (params: Params) => Ids | null {
  const names = Object.entries(kinds ?? {});
  if (names.length === 0) return () => NO_IDS;
  return (params) => {
    const ids: Ids = {};
    for (const [name, kind] of names) {
      const id = decodeId(kind, params[name] ?? '');
      if (id === null) return null;
      ids[name] = id;
    }
    return ids;
  };
}

function checkQuery(route: Route, text: string): { readonly value: unknown } | { readonly refusal: Refusal } {
  if (route.query === undefined) {
    if (text === '') return { value: NO_QUERY };
    const refusal = refuseQuery(text);
    return refusal === null ? { value: NO_QUERY } : { refusal };
  }
  const parsed = parseQuery(text);
  return 'refusal' in parsed ? parsed : validate(route.query, parsed.query, 'query');
}

function checkIfMatch(route: Route, header: string | undefined): { readonly ifMatch: number | null } | { readonly refusal: Refusal } {
  if (header === undefined || route.versioned !== true || route.method !== 'PATCH') return { ifMatch: null };
  const parsed = parseIfMatch(header);
  return 'refusal' in parsed ? parsed : { ifMatch: parsed.version };
}

type Checked = Pick<RouteRequest<unknown, unknown>, 'body' | 'idempotency' | 'ifMatch'>;
type BodyCheck = (exchange: Exchange, raw: unknown) => Checked | { readonly refusal: Refusal };

const EMPTY_BODY: Refusal = { code: 'malformed_json', detail: 'The body is empty; send a JSON object.' };

/** Headers first, since they cost nothing; then the body against its schema. */
function createBodyCheck(route: Route): BodyCheck {
  const { body: schema } = route;
  const mayBeEmpty = schema === undefined || schema.safeParse(undefined).success;

  function checkBody(raw: unknown): { readonly value: unknown } | { readonly refusal: Refusal } {
    if (raw === undefined && !mayBeEmpty) return { refusal: EMPTY_BODY };
    if (schema !== undefined) return validate(schema, raw, 'body');
    // A route without fields: many clients send `{}` with every POST, and that is as empty as nothing.
    const names = typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? Object.keys(raw) : null;
    if (raw === undefined || names?.length === 0) return { value: undefined };
    const message = 'This operation takes no body; send none, or an empty object.';
    const pointers =
      names === null ? [{ pointer: '', code: 'wrong_type' }] : names.map((name) => ({ pointer: `/${name}`, code: 'unknown_field' }));
    return { refusal: validationFailed(pointers.map((pointer) => ({ ...pointer, message }))) };
  }

  return ({ request }, raw) => {
    const header = route.idempotent === true ? request.headers['idempotency-key'] : undefined;
    const parsed = header === undefined ? null : parseIdempotencyKey(String(header));
    if (parsed !== null && 'refusal' in parsed) return parsed;
    const checked = checkBody(raw);
    if ('refusal' in checked) return checked;
    const conditions = checkIfMatch(route, request.headers['if-match']);
    if ('refusal' in conditions) return conditions;
    const path = (request.url ?? '').split('?', 1)[0] as string;
    const idempotency = parsed === null ? null : { key: parsed.key, fingerprint: fingerprintOf(route.method, path, raw) };
    return { body: checked.value, idempotency, ifMatch: conditions.ifMatch };
  };
}

/** Writes what the route returned. */
function createFinish(route: Route, respond: Responder): (exchange: Exchange, outcome: Answer | StreamAnswer | Refusal) => void {
  const { schema } = route.success;
  // Made for the first answer: to make all of them would be a tenth of a start.
  let serialize: Serializer | null = schema === undefined ? JSON.stringify : null;
  const conditional = route.versioned === true && route.method === 'GET';

  return (exchange, outcome) => {
    try {
      if (isRefusal(outcome)) return respond.refuse(exchange, outcome);
      if ('stream' in outcome)
        return respond.stream(exchange, route.success.contentType ?? 'text/event-stream', outcome.stream, outcome.headers);
      const { body, headers } = outcome;
      const etag = headers?.etag;
      if (conditional && typeof etag === 'string') {
        const header = exchange.request.headers['if-none-match'];
        if (header !== undefined && isNotModified(header, etag)) return respond.sendTogether(exchange, 304, null, headers);
      }
      if (serialize === null) serialize = serializerOf(schema as NonNullable<typeof schema>);
      const text = typeof body === 'string' ? body : body === null ? null : serialize(body);
      respond.sendTogether(exchange, outcome.status ?? route.success.status, text === '' ? null : text, headers);
    } catch (error) {
      respond.fail(exchange, error);
    }
  };
}
