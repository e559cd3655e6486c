// Every SQL statement on webhook endpoints. Each says which index or lock it relies on.

import type { SealedSigningKey } from '../domain/endpoint-sending.ts';
import type { Uuid } from '../domain/ids.ts';
import type { SealedSecret, WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import type { Queryable } from './database.ts';
import { healthOf, readHealth, type StoredHealth } from './endpoint-flows.ts';
import { defineList, tableSource } from './lists.ts';
import { columnTypes, defineTable, type Table } from './tables.ts';

interface StoredSigningKey {
  public_key: string;
  sealed: string;
  expires_at: string | null;
}

const readMoment = (text: string | null): Date | null => (text === null ? null : new Date(text));

const writeSigningKeys = (keys: readonly SealedSigningKey[]): StoredSigningKey[] =>
  keys.map((key) => ({ public_key: key.publicKey, sealed: key.sealed, expires_at: key.expiresAt?.toISOString() ?? null }));
export const readSigningKeys = (keys: StoredSigningKey[]): SealedSigningKey[] =>
  keys.map((key) => ({ publicKey: key.public_key, sealed: key.sealed, expiresAt: readMoment(key.expires_at) }));

interface StoredSecret {
  sealed: string;
  expires_at: string | null;
}

const writeSecrets = (secrets: readonly SealedSecret[]): StoredSecret[] =>
  secrets.map((secret) => ({ sealed: secret.sealed, expires_at: secret.expiresAt?.toISOString() ?? null }));
export const readSecrets = (secrets: StoredSecret[]): SealedSecret[] =>
  secrets.map((secret) => ({ sealed: secret.sealed, expiresAt: readMoment(secret.expires_at) }));

const ownColumns = defineTable<Omit<WebhookEndpoint, 'health'>>('webhook_endpoints', {
  workspaceId: columnTypes.fixedUuid('workspace_id'),
  id: columnTypes.fixedUuid('id'),
  url: { column: 'url', type: 'text' },
  description: { column: 'description', type: 'text' },
  eventTypes: { column: 'event_types', type: 'text[]' },
  status: { column: 'status', type: 'text' },
  disabledReason: { column: 'disabled_reason', type: 'text' },
  disabledCause: { column: 'disabled_cause', type: 'text' },
  secrets: { column: 'secrets', type: 'jsonb', write: writeSecrets, read: readSecrets as (value: never) => SealedSecret[] },
  signatureSchemes: { column: 'signature_schemes', type: 'text[]' },
  signingKeys: {
    column: 'signing_keys',
    type: 'jsonb',
    write: writeSigningKeys,
    read: readSigningKeys as (value: never) => SealedSigningKey[],
  },
  headers: { column: 'headers', type: 'jsonb' },
  maxConcurrency: { column: 'max_concurrency', type: 'integer' },
  rateLimitPerSecond: { column: 'rate_limit_per_second', type: 'integer' },
  ordering: { column: 'ordering', type: 'text' },
  generation: { column: 'generation', type: 'integer' },
  afterSeq: columnTypes.count('after_seq'),
  version: { column: 'version', type: 'integer' },
  createdAt: columnTypes.createdAt,
  updatedAt: { column: 'updated_at', type: 'timestamptz(3)' },
  deletedAt: { column: 'deleted_at', type: 'timestamptz(3)' },
});

/** Each endpoint is read with its health, one look-up by the primary key of webhook_flows; written without it. */
export const webhookEndpointTable: Table<WebhookEndpoint> = {
  ...ownColumns,
  select: (alias) => `${ownColumns.select(alias)}, ${healthOf(alias)} as health`,
  fromRow: (row) => ({ ...ownColumns.fromRow(row), health: readHealth(row.health as StoredHealth | null) }),
  json: null,
};

/** Includes deleted ones; what reads by id leaves them out. */
export const webhookEndpointSource = tableSource(webhookEndpointTable);

/** The endpoints of a workspace that were not deleted: the primary key (workspace_id, id). */
export const listWebhookEndpoints = defineList<WebhookEndpoint, object>({
  source: webhookEndpointSource,
  always: 't.deleted_at is null',
  conditions: {},
});

/**
 * The endpoints of a workspace that do not acknowledge, or were disabled for it, newest first, and how many there are: primary keys of
 * webhook_flows and webhook_endpoints, both of which begin with the workspace.
 */
export async function findFailingEndpoints(
  queryable: Queryable,
  workspaceId: Uuid,
  limit: number,
): Promise<{ readonly count: number; readonly endpoints: WebhookEndpoint[] }> {
  const rows = await queryable.query<Record<string, unknown> & { count: number }>(
    `select ${webhookEndpointTable.select('t')}, (count(*) over ())::integer as count
     from webhook_flows f join webhook_endpoints t on t.workspace_id = f.workspace_id and t.id = f.endpoint_id
     where f.workspace_id = $1 and f.failing_since is not null and t.deleted_at is null
       and (f.breaker <> 'closed' or t.status = 'disabled')
     order by t.id desc limit $2`,
    [workspaceId, limit],
  );
  return { count: rows[0]?.count ?? 0, endpoints: rows.map((row) => webhookEndpointTable.fromRow(row)) };
}

/** Endpoints by their ids alone, whoever they belong to: the index webhook_endpoints_by_id, one look-up each. Deleted ones are absent. */
export async function findWebhookEndpoints(queryable: Queryable, ids: readonly Uuid[]): Promise<WebhookEndpoint[]> {
  const text =
    `select ${webhookEndpointTable.select('t')} from unnest($1::uuid[]) as n(id) ` +
    'join webhook_endpoints t on t.id = n.id and t.deleted_at is null';
  const rows = await queryable.query<Record<string, unknown>>(text, [ids]);
  return rows.map((row) => webhookEndpointTable.fromRow(row));
}
