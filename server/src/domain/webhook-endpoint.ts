// A webhook endpoint: where a workspace's events are sent, which of them, and with which secrets they are signed.
// Pure; sends nothing. Secrets are held sealed (encrypted) and opened only by the sender.

import { isDeepStrictEqual } from 'node:util';
import { accept, type Context, type Decision, rejectStale } from './decision.ts';
import { applyFields } from './editing.ts';
import type { EventType } from './event.ts';
import type { Uuid } from './ids.ts';

export const endpointStatuses = ['enabled', 'disabled'] as const;
export type EndpointStatus = (typeof endpointStatuses)[number];

export interface SealedSecret {
  /** The encrypted secret, base64. */
  readonly sealed: string;
  /** When it stops signing; null for the current one. */
  readonly expiresAt: Date | null;
}

export interface WebhookEndpoint {
  readonly id: Uuid;
  readonly workspaceId: Uuid;
  readonly url: string;
  readonly description: string | null;
  /** Null: the four kinds of the given interface. */
  readonly eventTypes: readonly EventType[] | null;
  readonly status: EndpointStatus;
  readonly disabledReason: string | null;
  /** Newest first. */
  readonly secrets: readonly SealedSecret[];
  /** Events after this sequence number are sent; those before the endpoint existed are not. */
  readonly afterSeq: number;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly deletedAt: Date | null;
}

export interface WebhookEndpointDraft {
  /** Known before the decision, since the secret is sealed for this endpoint alone. */
  readonly id: Uuid;
  readonly url: string;
  readonly description: string | null;
  readonly eventTypes: readonly EventType[] | null;
  readonly sealedSecret: string;
}

export function decideEndpointCreation(draft: WebhookEndpointDraft, context: Context): Decision<WebhookEndpoint> {
  const { sealedSecret, ...fields } = draft;
  const endpoint: WebhookEndpoint = {
    ...fields,
    workspaceId: context.workspace.id,
    status: 'enabled',
    disabledReason: null,
    secrets: [{ sealed: sealedSecret, expiresAt: null }],
    afterSeq: context.lastSeq,
    version: 1,
    createdAt: context.now,
    updatedAt: context.now,
    deletedAt: null,
  };
  return accept(endpoint, { webhookEndpoints: [endpoint] });
}

/** Absent: leave as it is. */
export interface WebhookEndpointUpdate {
  readonly url?: string | undefined;
  readonly description?: string | null | undefined;
  readonly eventTypes?: readonly EventType[] | null | undefined;
  readonly status?: EndpointStatus | undefined;
  readonly disabledReason?: string | undefined;
}

/** Edits, enables or disables. An endpoint that is enabled again is sent what happens from then on. */
export function decideEndpointUpdate(
  update: WebhookEndpointUpdate,
  expectedVersion: number | null,
  endpoint: WebhookEndpoint,
  context: Context,
): Decision<WebhookEndpoint> {
  const stale = rejectStale(expectedVersion, endpoint.version);
  if (stale !== null) return stale;
  const { disabledReason, ...fields } = update;
  const edited = applyFields(endpoint, fields);
  const disabled = edited.status === 'disabled';
  const switched = edited.status !== endpoint.status;
  const next: WebhookEndpoint = {
    ...edited,
    disabledReason: disabled ? (switched ? (disabledReason ?? 'Disabled by a request.') : endpoint.disabledReason) : null,
    afterSeq: switched && !disabled ? context.lastSeq : endpoint.afterSeq,
  };
  if (isDeepStrictEqual(next, endpoint)) return accept(endpoint);
  return change(next, context);
}

/** A new secret. The old ones sign along until the overlap ends, and a secret past its end is dropped. */
export function decideSecretRotation(
  endpoint: WebhookEndpoint,
  sealedSecret: string,
  overlapMs: number,
  context: Context,
): Decision<WebhookEndpoint> {
  const overlapEnd = new Date(context.now.getTime() + overlapMs);
  const older = endpoint.secrets
    .map((secret) => ({ ...secret, expiresAt: secret.expiresAt !== null && secret.expiresAt < overlapEnd ? secret.expiresAt : overlapEnd }))
    .filter((secret) => secret.expiresAt > context.now)
    .slice(0, MAX_SECRETS - 1);
  return change({ ...endpoint, secrets: [{ sealed: sealedSecret, expiresAt: null }, ...older] }, context);
}

/** Gone for the API; the row stays, since its deliveries are history. */
export function decideEndpointDeletion(endpoint: WebhookEndpoint, context: Context): Decision<WebhookEndpoint> {
  return change({ ...endpoint, deletedAt: context.now }, context);
}

/** Signatures sent with one delivery at most: bounds the header, however often a secret is rotated within an overlap. */
export const MAX_SECRETS = 5;

function change(endpoint: WebhookEndpoint, context: Context): Decision<WebhookEndpoint> {
  const next = { ...endpoint, version: endpoint.version + 1, updatedAt: context.now };
  return accept(next, { webhookEndpoints: [next] });
}
