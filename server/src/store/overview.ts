// Every SQL statement of the overview: what needs somebody in a workspace, counted, with the first few of it.
// Each runs along a partial index that holds just what it counts.

import type { Uuid } from '../domain/ids.ts';
import type { Milestone } from '../domain/milestone.ts';
import type { Queryable } from './database.ts';
import { milestoneTable, UNFINISHED } from './milestones.ts';

export interface SomeMilestones {
  readonly count: number;
  readonly milestones: Milestone[];
}

/** The number of the last event, 0 before the first: the primary key of workspace_heads. */
export async function findLatestSeq(queryable: Queryable, workspaceId: Uuid): Promise<number> {
  const [head] = await queryable.query<{ event_seq: bigint }>('select event_seq from workspace_heads where workspace_id = $1', [
    workspaceId,
  ]);
  return Number(head?.event_seq ?? 0);
}

type CountedRow = Record<string, unknown> & { count: number };

const read = (rows: readonly CountedRow[]): SomeMilestones => ({
  count: rows[0]?.count ?? 0,
  milestones: rows.map((row) => milestoneTable.fromRow(row)),
});

/** Submitted milestones, those that have waited longest first: milestones_submitted (workspace_id, id), counted and sorted. */
export async function findAwaitingApproval(queryable: Queryable, workspaceId: Uuid, limit: number): Promise<SomeMilestones> {
  return read(
    await queryable.query<CountedRow>(
      `select ${milestoneTable.select('t')}, (count(*) over ())::integer as count from milestones t
       where t.workspace_id = $1 and t.status = 'submitted' order by t.submitted_at, t.id limit $2`,
      [workspaceId, limit],
    ),
  );
}

/** Milestones that are late on a day, those that are due for longest first: milestones_due (workspace_id, due_date, id), in its order. */
export async function findOverdue(queryable: Queryable, workspaceId: Uuid, today: string, limit: number): Promise<SomeMilestones> {
  const late = `t.workspace_id = $1 and ${UNFINISHED} and t.due_date < $2::date`;
  return read(
    await queryable.query<CountedRow>(
      `select ${milestoneTable.select('t')}, (select count(*)::integer from milestones t where ${late}) as count from milestones t
       where ${late} order by t.due_date, t.id limit $3`,
      [workspaceId, today, limit],
    ),
  );
}
