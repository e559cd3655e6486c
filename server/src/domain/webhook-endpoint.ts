// A webhook endpoint: where a workspace's events are sent, which of them, and with which secrets they are signed.
// Pure; sends nothing. Secrets are held sealed (encrypted) and opened only by the sender.

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type AuditAction, type AuditValue, changesBetween } from './audit.ts';
import { accept, type Context, type Decision, rejectField, rejectStale } from './decision.ts';
import { applyFields } from './editing.ts';
import { type EndpointCaps, type EndpointHealth, unharmed } from './endpoint-flow.ts';
import {
  type Expiring,
  type HeaderChange,
  MAX_HEADERS,
  mergeHeaders,
  type NewSigningKey,
  rotate,
  type SealedHeader,
  type SealedSigningKey,
  type SignatureScheme,
  signingKeysFor,
} from './endpoint-sending.ts';
import { type EventType, endpointDisabled } from './event.ts';
import type { Uuid } from './ids.ts';

export const endpointStatuses = ['enabled', 'disabled'] as const;
export type EndpointStatus = (typeof endpointStatuses)[number];

/** Somebody asked for it, it answered 410 Gone, it has failed for days, or its workspace was closed. */
export const disabledCauses = ['request', 'gone', 'failing', 'workspace_closed'] as const;
export type DisabledCause = (typeof disabledCauses)[number];

/** `project`: the events of one project arrive one after the other. */
export const endpointOrderings = ['none', 'project'] as const;
export type EndpointOrdering = (typeof endpointOrderings)[number];

export const DEFAULT_MAX_CONCURRENCY = 16;
export const MAX_CONCURRENCY = 256;
export const MAX_RATE_PER_SECOND = 10_000;

export interface SealedSecret extends Expiring {
  /** The encrypted secret, base64. */
  readonly sealed: string;
}

export interface WebhookEndpoint extends EndpointCaps {
  readonly id: Uuid;
  readonly workspaceId: Uuid;
  readonly url: string;
  readonly description: string | null;
  /** Null: the four kinds of the given interface. */
  readonly eventTypes: readonly EventType[] | null;
  readonly status: EndpointStatus;
  readonly disabledReason: string | null;
  /** The same as a word for programs. */
  readonly disabledCause: DisabledCause | null;
  /** Newest first. */
  readonly secrets: readonly SealedSecret[];
  readonly signatureSchemes: readonly SignatureScheme[];
  /** Newest first; empty until the scheme v1a is asked for. */
  readonly signingKeys: readonly SealedSigningKey[];
  readonly headers: readonly SealedHeader[];
  readonly ordering: EndpointOrdering;
  /** Counts new addresses and enablings: what is known of the health of an earlier generation says nothing of this one. */
  readonly generation: number;
  /** As its answers have it, read along; no decision changes it but by a new generation, which begins unharmed. */
  readonly health: EndpointHealth;
  /** Events after this sequence number are sent; those before the endpoint existed are not. */
  readonly afterSeq: number;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly deletedAt: Date | null;
}

export interface WebhookEndpointDraft extends EndpointCaps {
  /** Known before the decision, since the secret is sealed for this endpoint alone. */
  readonly id: Uuid;
  readonly url: string;
  readonly description: string | null;
  readonly eventTypes: readonly EventType[] | null;
  readonly sealedSecret: string;
  readonly signatureSchemes: readonly SignatureScheme[];
  /** Needed for `v1a` only. */
  readonly signingKey: NewSigningKey | null;
  readonly headers: readonly SealedHeader[];
  readonly ordering: EndpointOrdering;
}

export function decideEndpointCreation(draft: WebhookEndpointDraft, context: Context): Decision<WebhookEndpoint> {
  const { sealedSecret, signingKey, ...fields } = draft;
  const endpoint: WebhookEndpoint = {
    ...fields,
    workspaceId: context.workspace.id,
    status: 'enabled',
    disabledReason: null,
    disabledCause: null,
    secrets: [{ sealed: sealedSecret, expiresAt: null }],
    signingKeys: signingKeysFor(draft.signatureSchemes, [], signingKey),
    generation: 1,
    health: unharmed,
    afterSeq: context.lastSeq,
    version: 1,
    createdAt: context.now,
    updatedAt: context.now,
    deletedAt: null,
  };
  return accept(endpoint, { webhookEndpoints: [endpoint], audit: [entry('webhook_endpoint.created', null, endpoint)] });
}

/** Absent: leave as it is. */
export interface WebhookEndpointUpdate {
  readonly url?: string | undefined;
  readonly description?: string | null | undefined;
  readonly eventTypes?: readonly EventType[] | null | undefined;
  readonly status?: EndpointStatus | undefined;
  readonly signatureSchemes?: readonly SignatureScheme[] | undefined;
  /** Used when `signatureSchemes` asks for a key and the endpoint has none. */
  readonly signingKey?: NewSigningKey | undefined;
  readonly headers?: readonly HeaderChange[] | undefined;
  readonly maxConcurrency?: number | undefined;
  readonly rateLimitPerSecond?: number | null | undefined;
  readonly ordering?: EndpointOrdering | undefined;
}

const byRequest = { disabledReason: 'Disabled by a request.', disabledCause: 'request' } as const;
const notDisabled = { disabledReason: null, disabledCause: null } as const;

/** Edits, enables or disables. An endpoint that is enabled again is sent what happens from then on. */
export function decideEndpointUpdate(
  update: WebhookEndpointUpdate,
  expectedVersion: number | null,
  endpoint: WebhookEndpoint,
  context: Context,
): Decision<WebhookEndpoint> {
  const stale = rejectStale(expectedVersion, endpoint.version);
  if (stale !== null) return stale;
  const { signingKey = null, headers: headerChanges = [], ...fields } = update;
  const headers = mergeHeaders(endpoint.headers, headerChanges);
  if (headers === null) return rejectField('/headers', 'too_many_headers', `An endpoint has at most ${MAX_HEADERS} headers of its own.`);
  const edited = applyFields({ ...endpoint, headers }, fields);
  const disabled = edited.status === 'disabled';
  const switched = edited.status !== endpoint.status;
  const isRenewed = edited.url !== endpoint.url || (switched && !disabled);
  const next: WebhookEndpoint = {
    ...edited,
    ...(isRenewed ? { generation: endpoint.generation + 1, health: unharmed } : {}),
    signingKeys: signingKeysFor(edited.signatureSchemes, endpoint.signingKeys, signingKey),
    ...(switched ? (disabled ? byRequest : notDisabled) : {}),
    afterSeq: switched && !disabled ? context.lastSeq : endpoint.afterSeq,
  };
  if (isDeepStrictEqual(next, endpoint)) return accept(endpoint);
  return change(endpoint, next, context, 'webhook_endpoint.updated');
}

/**
 * Disables an endpoint that said it is gone, or that has failed for days, and tells it to whoever asked for that kind of event. The
 * endpoint is meant as it was then: with another address, or enabled anew, it is left alone.
 */
export function decideEndpointGone(gone: EndpointGone, endpoint: WebhookEndpoint, context: Context): Decision<WebhookEndpoint> {
  if (endpoint.generation !== gone.generation || endpoint.status === 'disabled') return accept(endpoint);
  const disabledCause = gone.failingSince === null ? 'gone' : 'failing';
  const next = touched({ ...endpoint, status: 'disabled', disabledReason: gone.reason, disabledCause }, context);
  const audit = [entry('webhook_endpoint.disabled', endpoint, next)];
  return accept(next, { webhookEndpoints: [next], events: [endpointDisabled(next, gone.failingSince)], audit });
}

export interface EndpointGone {
  readonly generation: number;
  readonly reason: string;
  /** Null where the endpoint said so itself. */
  readonly failingSince: Date | null;
}

/** A new secret, and a new key where the endpoint has one. The old ones sign along until the overlap ends. */
export function decideSecretRotation(
  endpoint: WebhookEndpoint,
  fresh: { readonly sealedSecret: string; readonly signingKey: NewSigningKey },
  overlapMs: number,
  context: Context,
): Decision<WebhookEndpoint> {
  const overlapEnd = new Date(context.now.getTime() + overlapMs);
  const { signingKeys } = endpoint;
  const rotated: WebhookEndpoint = {
    ...endpoint,
    secrets: rotate(endpoint.secrets, { sealed: fresh.sealedSecret, expiresAt: null }, overlapEnd, context.now),
    signingKeys: signingKeys.length === 0 ? [] : rotate(signingKeys, { ...fresh.signingKey, expiresAt: null }, overlapEnd, context.now),
  };
  return change(endpoint, rotated, context, 'webhook_endpoint.secret_rotated');
}

/** Gone for the API; the row stays, since its deliveries are history. */
export function decideEndpointDeletion(endpoint: WebhookEndpoint, context: Context): Decision<WebhookEndpoint> {
  return change(endpoint, { ...endpoint, deletedAt: context.now }, context, 'webhook_endpoint.deleted');
}

const touched = (endpoint: WebhookEndpoint, context: Context): WebhookEndpoint => ({
  ...endpoint,
  version: endpoint.version + 1,
  updatedAt: context.now,
});

function change(before: WebhookEndpoint, changed: WebhookEndpoint, context: Context, action: AuditAction): Decision<WebhookEndpoint> {
  const next = touched(changed, context);
  return accept(next, { webhookEndpoints: [next], audit: [entry(action, before, next)] });
}

/** For the audit log, which others read: of the address no more than where it leads, since the rest of it can be a secret. */
function described(endpoint: WebhookEndpoint): Record<string, AuditValue> {
  return {
    url: addressOf(endpoint.url),
    description: endpoint.description,
    event_types: endpoint.eventTypes,
    status: endpoint.status,
    headers: endpoint.headers.map((header) => `${header.name} (${mark(header.sealed)})`),
    signature_schemes: endpoint.signatureSchemes,
    ordering: endpoint.ordering,
    max_concurrency: endpoint.maxConcurrency,
    rate_limit_per_second: endpoint.rateLimitPerSecond,
    secrets: endpoint.secrets.length,
    deleted: endpoint.deletedAt !== null,
  };
}

/** Tells two texts apart without saying what they are. */
const mark = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

function addressOf(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return pathname === '/' && search === '' ? origin : `${origin}/… (${mark(url)})`;
}

const entry = (action: AuditAction, before: WebhookEndpoint | null, after: WebhookEndpoint) => ({
  action,
  target: { type: 'webhook_endpoint', id: after.id } as const,
  changes: changesBetween(before === null ? null : described(before), described(after)),
});
