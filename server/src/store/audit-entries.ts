// Every SQL statement on the audit log. Entries are inserted and read; the database refuses anything else.

import type { AuditAction, AuditEntry } from '../domain/audit.ts';
import type { Uuid } from '../domain/ids.ts';
import { defineList, equals, type Source } from './lists.ts';
import { columnTypes, defineTable } from './tables.ts';

export const auditEntryTable = defineTable<AuditEntry>('audit_entries', {
  workspaceId: columnTypes.fixedUuid('workspace_id'),
  id: columnTypes.fixedUuid('id'),
  actorType: { column: 'actor_type', type: 'text' },
  actorId: { column: 'actor_id', type: 'uuid' },
  actorName: { column: 'actor_name', type: 'text' },
  action: { column: 'action', type: 'text' },
  targetType: { column: 'target_type', type: 'text' },
  targetId: { column: 'target_id', type: 'uuid' },
  changes: { column: 'changes', type: 'jsonb' },
  ip: { column: 'ip', type: 'text' },
  userAgent: { column: 'user_agent', type: 'text' },
  createdAt: columnTypes.createdAt,
});

export interface AuditEntryWithName {
  readonly id: Uuid;
  readonly entry: AuditEntry;
  readonly actorName: string | null;
}

export interface AuditFilters {
  readonly action?: AuditAction | undefined;
  readonly actorId?: Uuid | undefined;
  readonly targetId?: Uuid | undefined;
}

/** Each entry, with the name of the key where a key acted: one look-up by the primary key of api_keys. */
const auditEntrySource: Source<AuditEntryWithName> = {
  select: `${auditEntryTable.select('t')}, k.key_name`,
  table: 'audit_entries',
  join: "left join lateral (select x.name as key_name from api_keys x where t.actor_type = 'key' and x.workspace_id = t.workspace_id and x.id = t.actor_id limit 1) k on true",
  fromRow: (row) => ({
    id: row.id as Uuid,
    entry: auditEntryTable.fromRow(row),
    actorName: (row.actor_name ?? row.key_name) as string | null,
  }),
};

/**
 * The log of a workspace: the primary key (workspace_id, id), or the indexes audit_entries_by_actor, audit_entries_by_target and
 * audit_entries_by_action.
 */
export const listAuditEntries = defineList<AuditEntryWithName, AuditFilters>({
  source: auditEntrySource,
  conditions: { action: equals('t.action'), actorId: equals('t.actor_id'), targetId: equals('t.target_id') },
});
