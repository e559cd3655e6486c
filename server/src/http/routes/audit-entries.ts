// The route that lists the audit log. Entries are read only: no route writes or deletes one.

import { auditEntryExample, auditEntryList, auditEntryListQuery, presentAuditEntry } from '../../schemas/audit-entries.ts';
import type { People } from '../people.ts';
import { listAnswer, listExample, pageOf } from '../reads.ts';
import { defineRoute, type Route } from '../route.ts';

export function auditEntryRoutes({ reads }: People): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/audit_entries',
      operationId: 'listAuditEntries',
      tag: 'Audit log',
      summary: 'List the audit log',
      description:
        'Every change of settings, keys, members, roles, invitations and webhook endpoints, newest first: who, when, from where, and what. An entry commits with the change it tells of, and is never changed or deleted.',
      scope: 'audit:read',
      query: auditEntryListQuery,
      success: { status: 200, description: 'A page of entries.', schema: auditEntryList, example: listExample(auditEntryExample) },
      errors: [],
      async handle({ caller, query }) {
        const page = pageOf(query);
        const filters = { action: query.action, actorId: query.actor_id, targetId: query.target_id };
        const found = await reads.listAuditEntries(caller.workspaceId, filters, page);
        return listAnswer('audit_entry', found, page, ({ entry, actorName }) => presentAuditEntry(entry, actorName));
      },
    }),
  ];
}
