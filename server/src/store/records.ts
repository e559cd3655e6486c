// The lane's bulk loads: for all commands of a batch, one statement a table, each record found by its primary key.
// A milestone brings its project along and a payment its invoice, so one round is enough.

import type { ApiKey } from '../domain/api-key.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Invitation } from '../domain/invitation.ts';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import { apiKeyTable } from './api-keys.ts';
import type { Queryable } from './database.ts';
import { invitationTable } from './invitations.ts';
import { invoiceTable } from './invoices.ts';
import { milestoneTable } from './milestones.ts';
import { paymentTable } from './payments.ts';
import { projectTable } from './projects.ts';
import type { Table } from './tables.ts';
import { webhookEndpointTable } from './webhook-endpoints.ts';

export interface RecordKey {
  readonly workspaceId: Uuid;
  readonly id: Uuid;
}

const named = (workspaces: number) => `unnest($${workspaces}::uuid[], $${workspaces + 1}::uuid[]) as n(workspace_id, id)`;

function split(keys: readonly RecordKey[]): [Uuid[], Uuid[]] {
  return [keys.map((key) => key.workspaceId), keys.map((key) => key.id)];
}

async function load<Entity>(queryable: Queryable, table: Table<Entity>, text: string, parameters: unknown[]): Promise<Entity[]> {
  const rows = await queryable.query<Record<string, unknown>>(text, parameters);
  return rows.map((row) => table.fromRow(row));
}

function byKeyText<Entity>(table: Table<Entity>): string {
  return `select ${table.select('t')} from ${named(1)} join ${table.name} t on t.workspace_id = n.workspace_id and t.id = n.id`;
}

function loaderByKey<Entity>(table: Table<Entity>) {
  const text = byKeyText(table);
  return (queryable: Queryable, keys: readonly RecordKey[]): Promise<Entity[]> => load(queryable, table, text, split(keys));
}

export const loadMilestones = loaderByKey(milestoneTable);
export const loadPayments = loaderByKey(paymentTable);
export const loadApiKeys = loaderByKey(apiKeyTable);
export const loadInvitations = loaderByKey(invitationTable);

/**
 * The invitations of workspaces that wait, by index invitations_pending. The domain holds their ends against its own clock: an hour more,
 * since that may be behind the database's.
 */
export const loadPendingInvitations = (queryable: Queryable, workspaceIds: readonly Uuid[]): Promise<Invitation[]> =>
  load(
    queryable,
    invitationTable,
    `select ${invitationTable.select('t')} from invitations t
     where t.workspace_id = any($1::uuid[]) and t.accepted_at is null and t.revoked_at is null and t.expires_at > now() - interval '1 hour'`,
    [workspaceIds],
  );

/** What says whether a key holds. */
export interface KeyValidity extends RecordKey {
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** Of the calling keys, only what every write looks at: primary key look-ups. */
export async function loadKeyValidity(queryable: Queryable, keys: readonly RecordKey[]): Promise<KeyValidity[]> {
  const rows = await queryable.query<{ workspace_id: Uuid; id: Uuid; expires_at: Date | null; revoked_at: Date | null }>(
    `select t.workspace_id, t.id, t.expires_at, t.revoked_at from ${named(1)}
     join api_keys t on t.workspace_id = n.workspace_id and t.id = n.id`,
    split(keys),
  );
  return rows.map((row) => ({ workspaceId: row.workspace_id, id: row.id, expiresAt: row.expires_at, revokedAt: row.revoked_at }));
}
export const loadWebhookEndpoints = loaderByKey(webhookEndpointTable);

/** What a workspace that closes has to end: keys by the beginning of their primary key, endpoints by that of theirs. */
export const loadLiveKeys = (queryable: Queryable, workspaceIds: readonly Uuid[]): Promise<ApiKey[]> =>
  load(
    queryable,
    apiKeyTable,
    `select ${apiKeyTable.select('t')} from api_keys t
     where t.workspace_id = any($1::uuid[]) and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())`,
    [workspaceIds],
  );
export const loadLiveEndpoints = (queryable: Queryable, workspaceIds: readonly Uuid[]): Promise<WebhookEndpoint[]> =>
  load(
    queryable,
    webhookEndpointTable,
    `select ${webhookEndpointTable.select('t')} from webhook_endpoints t
     where t.workspace_id = any($1::uuid[]) and t.status = 'enabled' and t.deleted_at is null`,
    [workspaceIds],
  );

// The union drops duplicates: many milestones of a batch may share a project.
const projectsText = `
  select ${projectTable.select('t')} from (
    select n.workspace_id, n.id from ${named(1)}
    union
    select m.workspace_id, m.project_id from ${named(3)} join milestones m on m.workspace_id = n.workspace_id and m.id = n.id
  ) n join projects t on t.workspace_id = n.workspace_id and t.id = n.id`;

export function loadProjects(queryable: Queryable, keys: readonly RecordKey[], milestones: readonly RecordKey[]) {
  return load(queryable, projectTable, projectsText, [...split(keys), ...split(milestones)]);
}

const invoicesText = `
  select ${invoiceTable.select('t')} from ${named(1)}
  join payments p on p.workspace_id = n.workspace_id and p.id = n.id
  join invoices t on t.workspace_id = p.workspace_id and t.id = p.invoice_id`;

export function loadInvoicesOf(queryable: Queryable, payments: readonly RecordKey[]) {
  return load(queryable, invoiceTable, invoicesText, split(payments));
}
