// What a route is: data that says its path, schemas, scope and errors, and one function that turns a request into an answer.
// Types only. mount.ts serves these definitions, openapi.ts documents them, the generated tests walk them.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { ErrorCode, Refusal } from '../domain/errors.ts';
import type { IdKind, Uuid } from '../domain/ids.ts';
import type { SessionCaller } from '../domain/person.ts';
import type { Scope } from '../domain/scopes.ts';

/** Who calls: a valid key of a workspace, or a person with a session and the workspace they named. */
export interface Caller {
  readonly workspaceId: Uuid;
  /** The key; with a session the session's id, which counts as a key wherever keys are counted. */
  readonly keyId: Uuid;
  readonly scopes: readonly Scope[];
  /** Set where a person calls. */
  readonly session: SessionCaller | null;
}

/**
 * Who may call at all. `workspace`: a key, or a session of a member. `person`: a session, of no workspace. `anyone`: no credential is
 * looked at. The caller of the last two has no workspace, and of the last no session.
 */
export type Access = 'workspace' | 'person' | 'anyone';

export interface RouteRequest<Query, Body> {
  readonly caller: Caller;
  /** The path's ids, decoded to native UUIDs. An id of the wrong form or kind never gets here: it answered 404. */
  readonly ids: Readonly<Record<string, Uuid>>;
  readonly query: Query;
  readonly body: Body;
  /** The length of the body as it was sent. */
  readonly bodyBytes: number;
  /** Set where the route takes one and the request sent one: the key, and SHA-256 of method, path and the raw JSON with sorted keys. */
  readonly idempotency: { readonly key: string; readonly fingerprint: Buffer } | null;
  /** The version in If-Match, where the route has `versioned` and the request sent one other than `*`. */
  readonly ifMatch: number | null;
  /** The Last-Event-ID header, as it was sent; only routes that stream are given it. */
  readonly lastEventId?: string | undefined;
  /** The request itself, for the few that note where it came from or deal in cookies. */
  readonly raw: IncomingMessage;
}

/** A success. An object is serialized by the route's own schema; a string is JSON text already. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body: object | string | null;
}

/** A success that writes itself: `stream` is handed the connection once the head is written, and must bound what it writes there. */
export interface StreamAnswer {
  readonly headers?: Readonly<Record<string, string>>;
  readonly stream: (response: ServerResponse) => void;
}

export interface Route<Query = unknown, Body = unknown> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Fastify's form: `/v1/projects/:id/milestones`. */
  readonly path: string;
  /** A good method name: `listProjects`. */
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** `workspace` when left out. */
  readonly access?: Access;
  /** What the key must hold; null where any valid key will do or the handler decides by the body. */
  readonly scope: Scope | null;
  /** The kind of id that each path parameter is. */
  readonly ids?: Readonly<Record<string, IdKind>>;
  /** A strict object over the query's strings. */
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** A realistic request body for the document; a test sends it. */
  readonly bodyExample?: unknown;
  readonly success: {
    readonly status: 200 | 201 | 204;
    readonly description: string;
    readonly schema?: z.ZodType;
    readonly example?: unknown;
    /** `application/json` when left out; with another one the schema is of the text itself. */
    readonly contentType?: 'text/event-stream' | 'text/csv' | 'application/pdf';
  };
  /** Codes beyond those that every route of its shape can answer. */
  readonly errors: readonly ErrorCode[];
  /** Takes `Idempotency-Key`. */
  readonly idempotent?: boolean;
  /** The answer has an ETag of the form `"<version>"`; a GET honours If-None-Match, a PATCH honours If-Match. */
  readonly versioned?: boolean;
  handle(request: RouteRequest<Query, Body>): Promise<Answer | StreamAnswer | Refusal>;
}

/** Lists are named as such: they are what may be read from a replica. */
export function isList(route: Route): boolean {
  return route.method === 'GET' && /^list[A-Z]/.test(route.operationId);
}

export function isRefusal(outcome: object): outcome is Refusal {
  return 'code' in outcome && 'detail' in outcome;
}

/** Keeps the types of one definition together while letting a list hold many. */
export function defineRoute<Query, Body>(route: Route<Query, Body>): Route {
  return route as unknown as Route;
}

/** `/v1/projects/:id` → `/v1/projects/{id}`: a path as the document writes it. */
export const templateOf = (path: string): string => path.replace(/:(\w+)/g, '{$1}');
