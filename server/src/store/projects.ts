// Every SQL statement on projects. Each says which index or lock it relies on.

import type { Uuid } from '../domain/ids.ts';
import type { Project, ProjectStatus } from '../domain/project.ts';
import type { ProjectTotals } from '../domain/totals.ts';
import type { Queryable } from './database.ts';
import { type Condition, defineList, equals, oneOf, type SumRow, tableSource } from './lists.ts';
import { columnTypes, defineTable } from './tables.ts';
import { byCurrency } from './totals.ts';

export const projectTable = defineTable<Project>('projects', {
  workspaceId: columnTypes.fixedUuid('workspace_id'),
  id: columnTypes.fixedUuid('id'),
  name: { column: 'name', type: 'text' },
  clientId: { column: 'client_id', type: 'text' },
  payeeId: { column: 'payee_id', type: 'text' },
  currency: { column: 'currency', type: 'text' },
  release: { column: 'release', type: 'text' },
  status: { column: 'status', type: 'text' },
  metadata: { column: 'metadata', type: 'jsonb' },
  version: { column: 'version', type: 'integer' },
  createdAt: columnTypes.createdAt,
  updatedAt: { column: 'updated_at', type: 'timestamptz(3)' },
});

export const projectSource = tableSource(projectTable);

export interface ProjectFilters {
  readonly status?: ProjectStatus | undefined;
  readonly clientId?: string | undefined;
  /** Words, each of which a word of the name or the client's id begins with. */
  readonly search?: string | undefined;
  /** Every key with exactly this value. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

const holds: Condition<Readonly<Record<string, string>>> = (metadata, bind) => `t.metadata @> ${bind(JSON.stringify(metadata))}::jsonb`;

// Both functions and the index over the first are in the migration 0006: what is looked for is cut into words as what is there was.
const matches: Condition<string> = (search, bind) =>
  `project_words(t.workspace_id, t.name, t.client_id) @@ project_search($1, ${bind(search)}::text)`;

/**
 * The projects of a workspace: the primary key (workspace_id, id); by client projects_by_client (workspace_id, client_id, id); the archived
 * ones projects_archived (workspace_id, id). By words projects_by_words, by metadata the planner weighs projects_by_metadata; the matches of
 * both are sorted.
 */
export const listProjects = defineList<Project, ProjectFilters>({
  source: projectSource,
  conditions: {
    status: oneOf({ active: "t.status = 'active'", archived: "t.status = 'archived'" }),
    clientId: equals('t.client_id'),
    search: matches,
    metadata: holds,
  },
});

/**
 * What a project adds up to, by currency: its milestones along milestones_by_project, its payments along payments_by_project. Null where
 * there is no such project.
 */
export async function sumProject(queryable: Queryable, workspaceId: Uuid, id: Uuid): Promise<ProjectTotals[] | null> {
  const rows = await queryable.query<SumRow & { kind: 'milestone' | 'payment'; status: string }>(
    `select 'milestone'::text as kind, status, currency, count(*)::integer as count, sum(amount_minor)::text as amount
     from milestones where workspace_id = $1 and project_id = $2 and status <> 'cancelled' group by status, currency
     union all
     select 'payment'::text, status, currency, count(*)::integer, sum(amount_minor)::text
     from payments where workspace_id = $1 and project_id = $2 group by status, currency
     order by currency`,
    [workspaceId, id],
  );
  if (rows.length === 0 && !(await hasProject(queryable, workspaceId, id))) return null;
  return byCurrency(rows, (of) => ({
    planned: of(({ kind }) => kind === 'milestone'),
    submitted: of(({ kind, status }) => kind === 'milestone' && status === 'submitted'),
    approved: of(({ kind, status }) => kind === 'milestone' && status === 'approved'),
    pending: of(({ kind, status }) => kind === 'payment' && status === 'pending'),
    released: of(({ kind, status }) => kind === 'payment' && status === 'released'),
  }));
}

/** Whether the workspace has this project, by the primary key. */
export async function hasProject(queryable: Queryable, workspaceId: Uuid, id: Uuid): Promise<boolean> {
  const rows = await queryable.query('select 1 as found from projects where workspace_id = $1 and id = $2', [workspaceId, id]);
  return rows.length > 0;
}
