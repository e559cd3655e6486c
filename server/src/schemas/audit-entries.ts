// Entries of the audit log on the wire: the resource, the query of the list, and the presenter.
// Only presents; nothing writes an entry over the wire.

import { z } from 'zod';
import {
  type AuditActorType,
  type AuditEntry,
  type AuditValue,
  allAuditActions,
  auditActions,
  auditActorTypes,
  auditTargets,
} from '../domain/audit.ts';
import { decodeId, encodeId, type IdKind, type Uuid } from '../domain/ids.ts';
import { listOf, listQuery } from './lists.ts';
import { exampleId, idField, timestamp, wanted } from './text.ts';

export const auditAction = z.enum(allAuditActions, wanted(`one of ${allAuditActions.join(', ')}`)).meta({
  id: 'AuditAction',
  description: `What was done.\n\n${Object.entries(auditActions)
    .map(([action, meaning]) => `- \`${action}\`: ${meaning}`)
    .join('\n')}`,
});

const actorExample = { type: 'person' as const, id: exampleId('person'), name: 'Ada Byron' };
const changeExample = { field: 'role', from: 'developer', to: 'finance' };

export const auditEntryExample = {
  id: exampleId('audit_entry'),
  object: 'audit_entry' as const,
  occurred_at: '2026-03-21T08:00:00.000Z',
  actor: actorExample,
  action: 'member.role_changed' as const,
  target: { type: 'member' as const, id: exampleId('member', 2) },
  changes: [changeExample],
  ip: '203.0.113.7',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
};

const auditActor = z
  .object({
    type: z.enum(auditActorTypes).meta({
      id: 'AuditActorType',
      description: 'A person with a session, an API key, or the service itself and its operator.',
    }),
    id: z.string().nullable().meta({ description: 'The id of the person or of the key; null for the service and its operator.' }),
    name: z.string().nullable().meta({ description: 'What the person or the key is called.' }),
  })
  .meta({ id: 'AuditActor', description: 'Who did it.', example: actorExample });

const auditTarget = z
  .object({
    type: z.enum(auditTargets).meta({ id: 'AuditTargetType', description: 'The kind of what was changed.' }),
    id: z.string().meta({ description: 'Its id.' }),
  })
  .meta({ id: 'AuditTarget', description: 'What was changed.', example: auditEntryExample.target });

const auditChange = z
  .object({
    field: z.string(),
    from: z.string().nullable().meta({ description: 'As text; null for nothing.' }),
    to: z.string().nullable().meta({ description: 'As text; null for nothing.' }),
  })
  .meta({ id: 'AuditChange', description: 'What one field was and became. Secrets are never among them.', example: changeExample });

export const auditEntryResource = z
  .object({
    id: idField('audit_entry'),
    object: z.literal('audit_entry'),
    occurred_at: timestamp('When it was committed, together with the change.'),
    actor: auditActor,
    action: auditAction,
    target: auditTarget,
    changes: z.array(auditChange),
    ip: z.string().nullable().meta({ description: 'The address that the request came from.' }),
    user_agent: z.string().nullable().meta({ description: 'What the request called itself.' }),
  })
  .meta({
    id: 'AuditEntry',
    description: 'One change of settings, keys, roles or endpoints. Entries are never changed.',
    example: auditEntryExample,
  });

const actorKinds: Record<AuditActorType, IdKind | null> = { person: 'person', key: 'api_key', system: null };

/** `actorName` is of now where the entry itself holds none. */
export function presentAuditEntry(entry: AuditEntry, actorName: string | null): z.output<typeof auditEntryResource> {
  const kind = actorKinds[entry.actorType];
  return {
    id: encodeId('audit_entry', entry.id),
    object: 'audit_entry',
    occurred_at: entry.createdAt.toISOString(),
    actor: { type: entry.actorType, id: kind === null || entry.actorId === null ? null : encodeId(kind, entry.actorId), name: actorName },
    action: entry.action,
    target: { type: entry.targetType, id: encodeId(entry.targetType, entry.targetId) },
    changes: Object.entries(entry.changes).map(([field, { from, to }]) => ({ field, from: textOf(from), to: textOf(to) })),
    ip: entry.ip,
    user_agent: entry.userAgent,
  };
}

const textOf = (value: AuditValue): string | null => (value === null ? null : Array.isArray(value) ? value.join(', ') : String(value));

/** An id of one of several kinds; one of another kind is a validation error. */
function idOf(kinds: readonly IdKind[], what: string) {
  return z
    .string(wanted(what))
    .transform((text, context): Uuid => {
      for (const kind of kinds) {
        const id = decodeId(kind, text);
        if (id !== null) return id;
      }
      context.issues.push({ code: 'invalid_format', format: 'id', input: text, message: `Must be ${what}.` });
      return z.NEVER;
    })
    .meta({ type: 'string' });
}

export const auditEntryList = listOf('AuditEntryList', auditEntryResource, auditEntryExample);

export const auditEntryListQuery = listQuery('audit_entry', {
  action: auditAction.optional(),
  actor_id: idOf(['person', 'api_key'], 'the id of a person or of a key')
    .optional()
    .meta({ description: 'Only what this person or key did.' }),
  target_id: idOf(auditTargets, `the id of a ${auditTargets.join(', ')}`.replaceAll('_', ' '))
    .optional()
    .meta({ description: 'Only what was done to this.' }),
});
