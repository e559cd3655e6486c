// Every SQL statement on milestones. Each says which index or lock it relies on.

import type { Uuid } from '../domain/ids.ts';
import type { Milestone, MilestoneStatus } from '../domain/milestone.ts';
import { defineList, equals, oneOf, tableSource } from './lists.ts';
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

/** Due and not handed in: the milestones of milestones_due. Written as its predicate, or the planner would not see that it serves. */
export const UNFINISHED = "t.due_date is not null and t.status in ('pending', 'in_progress', 'changes_requested')";

export interface WorkspaceMilestoneFilters {
  readonly status?: MilestoneStatus | undefined;
  /** A day. Without a status, only of those that are neither submitted nor final. */
  readonly dueBefore?: string | undefined;
  readonly projectId?: Uuid | undefined;
}

const statusTexts: Readonly<Record<MilestoneStatus, string>> = {
  pending: "t.status = 'pending'",
  in_progress: "t.status = 'in_progress'",
  submitted: "t.status = 'submitted'",
  changes_requested: "t.status = 'changes_requested'",
  approved: "t.status = 'approved'",
  cancelled: "t.status = 'cancelled'",
};

const listWorkspaceMilestones = defineList<Milestone, WorkspaceMilestoneFilters & { readonly unfinished?: 'only' | undefined }>({
  source: milestoneSource,
  conditions: {
    status: oneOf(statusTexts),
    dueBefore: (day, bind) => `t.due_date < ${bind(day)}::date`,
    projectId: equals('t.project_id'),
    unfinished: oneOf({ only: UNFINISHED }),
  },
});

/**
 * The milestones of a workspace: the primary key (workspace_id, id); the submitted ones milestones_submitted (workspace_id, id); what is
 * late milestones_due (workspace_id, due_date, id), whose matches are sorted; of a project milestones_by_project. By another status they
 * are looked at row by row.
 */
export const listAllMilestones: typeof listWorkspaceMilestones = (queryable, workspaceId, filters, page) => {
  const late = filters.dueBefore !== undefined && filters.status === undefined;
  return listWorkspaceMilestones(queryable, workspaceId, late ? { ...filters, unfinished: 'only' } : filters, page);
};
