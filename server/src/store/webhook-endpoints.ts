// Every SQL statement on webhook endpoints. Each says which index or lock it relies on.

import type { SealedSecret, WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import { defineList, tableSource } from './lists.ts';
import { columnTypes, defineTable } from './tables.ts';

interface StoredSecret {
  sealed: string;
  expires_at: string | null;
}

const writeSecrets = (secrets: readonly SealedSecret[]): StoredSecret[] =>
  secrets.map((secret) => ({ sealed: secret.sealed, expires_at: secret.expiresAt?.toISOString() ?? null }));
export const readSecrets = (secrets: StoredSecret[]): SealedSecret[] =>
  secrets.map((secret) => ({ sealed: secret.sealed, expiresAt: secret.expires_at === null ? null : new Date(secret.expires_at) }));

export const webhookEndpointTable = defineTable<WebhookEndpoint>('webhook_endpoints', {
  workspaceId: columnTypes.fixedUuid('workspace_id'),
  id: columnTypes.fixedUuid('id'),
  url: { column: 'url', type: 'text' },
  description: { column: 'description', type: 'text' },
  eventTypes: { column: 'event_types', type: 'text[]' },
  status: { column: 'status', type: 'text' },
  disabledReason: { column: 'disabled_reason', type: 'text' },
  secrets: { column: 'secrets', type: 'jsonb', write: writeSecrets, read: readSecrets as (value: never) => SealedSecret[] },
  afterSeq: columnTypes.count('after_seq'),
  version: { column: 'version', type: 'integer' },
  createdAt: columnTypes.createdAt,
  updatedAt: { column: 'updated_at', type: 'timestamptz(3)' },
  deletedAt: { column: 'deleted_at', type: 'timestamptz(3)' },
});

/** Includes deleted ones; what reads by id leaves them out. */
export const webhookEndpointSource = tableSource(webhookEndpointTable);

/** The endpoints of a workspace that were not deleted: the primary key (workspace_id, id). */
export const listWebhookEndpoints = defineList<WebhookEndpoint, object>({
  source: webhookEndpointSource,
  always: 't.deleted_at is null',
  conditions: {},
});
