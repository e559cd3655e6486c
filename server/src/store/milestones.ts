// Every SQL statement on milestones. Each says which index or lock it relies on.

import type { Uuid } from '../domain/ids.ts';
import type { Milestone, MilestoneStatus } from '../domain/milestone.ts';
import { defineList, equals, tableSource } from './lists.ts';
import { columnTypes, defineTable } from './tables.ts';

export const milestoneTable = defineTable<Milestone>('milestones', {
  workspaceId: columnTypes.fixedUuid('workspace_id'),
  id: columnTypes.fixedUuid('id'),
  projectId: columnTypes.fixedUuid('project_id'),
  title: { column: 'title', type: 'text' },
  description: { column: 'description', type: 'text' },
  amountMinor: { column: 'amount_minor', type: 'bigint' },
  currency: { column: 'currency', type: 'text' },
  payeeId: { column: 'payee_id', type: 'text' },
  dueDate: { column: 'due_date', type: 'date' },
  status: { column: 'status', type: 'text' },
  reason: { column: 'reason', type: 'text' },
  submission: { column: 'submission', type: 'jsonb' },
  metadata: { column: 'metadata', type: 'jsonb' },
  submittedAt: { column: 'submitted_at', type: 'timestamptz(3)' },
  approvedAt: { column: 'approved_at', type: 'timestamptz(3)' },
  version: { column: 'version', type: 'integer' },
  createdAt: columnTypes.createdAt,
  updatedAt: { column: 'updated_at', type: 'timestamptz(3)' },
});

export const milestoneSource = tableSource(milestoneTable);

export interface MilestoneFilters {
  readonly projectId: Uuid;
  readonly status?: MilestoneStatus | undefined;
}

/** The milestones of a project: milestones_by_project (workspace_id, project_id, id). */
export const listMilestones = defineList<Milestone, MilestoneFilters>({
  source: milestoneSource,
  conditions: { projectId: equals('t.project_id'), status: equals('t.status') },
});
