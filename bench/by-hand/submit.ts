// A submission as a good engineer writes it by hand: one transaction in two round trips, the counter taken in the statement that needs it.
// Writes the same rows as ours; only the hash chain of the events is left out (their hash column is filled, which favours this side).

import type pg from 'pg';
import { encodeId } from '../../server/src/domain/ids.ts';
import type { MilestoneRow } from './answers.ts';

/** Primary keys of both; locks the milestone, so that of two moves at once the second waits and then sees the first. */
export const lockMilestone = {
  name: 'lockMilestone',
  text: `
    select m.workspace_id, m.id, m.project_id, m.title, m.description, m.amount_minor, m.currency, m.payee_id, m.due_date::text, m.status, m.reason,
      m.submission, m.metadata, m.submitted_at, m.approved_at, m.version, m.created_at, m.updated_at, p.client_id
    from milestones m join projects p on p.workspace_id = m.workspace_id and p.id = m.project_id
    where m.workspace_id = $1 and m.id = $2 for no key update of m`,
};

const submit = {
  name: 'submit',
  text: `update milestones set status = 'submitted', submission = $3, submitted_at = $4, updated_at = $4, version = version + 1
         where workspace_id = $1 and id = $2`,
};

/** The counter of the workspace, from a row that stays locked until the commit: the sequence has no gaps. Nothing waits for the number. */
const tell = {
  name: 'tell-submitted',
  text: `with head as (update workspace_heads set event_seq = event_seq + 1, last_time = $6 where workspace_id = $1 returning event_seq)
         insert into events (workspace_id, seq, id, type, project_id, body, hash, created_at)
         select $1, event_seq, $2, 'milestone.submitted', $3, $4, $5, $6 from head`,
};

export interface Submission {
  readonly note: string | null;
  readonly links: string[];
}

const hash = Buffer.alloc(32, 1);

function eventBody(milestone: MilestoneRow): string {
  const { title, currency } = milestone;
  const ids = { projectId: encodeId('project', milestone.project_id), milestoneId: encodeId('milestone', milestone.id) };
  return JSON.stringify({ event: 'milestone.submitted', data: { ...ids, title, amount: Number(milestone.amount_minor), currency } });
}

/** The milestone as submitted, or why not. Submitting what is submitted changes nothing. */
export async function submitMilestone(
  pool: pg.Pool,
  newId: () => string,
  workspaceId: string,
  id: string,
  submission: Submission,
): Promise<MilestoneRow | 'not_found' | 'invalid_transition'> {
  const client = await pool.connect();
  try {
    const [, { rows }] = await Promise.all([
      client.query('BEGIN'),
      client.query<MilestoneRow>({ ...lockMilestone, values: [workspaceId, id] }),
    ]);
    const milestone = rows[0];
    if (milestone === undefined || !['pending', 'in_progress', 'changes_requested'].includes(milestone.status)) {
      await client.query('ROLLBACK');
      return milestone === undefined ? 'not_found' : milestone.status === 'submitted' ? milestone : 'invalid_transition';
    }
    const now = new Date();
    // In one go (pg's pipeline mode): when one statement fails, PostgreSQL refuses those after it and the COMMIT rolls back.
    await Promise.all([
      client.query({ ...submit, values: [workspaceId, id, JSON.stringify(submission), now] }),
      client.query({ ...tell, values: [workspaceId, newId(), milestone.project_id, eventBody(milestone), hash, now] }),
      client.query('COMMIT'),
    ]);
    return { ...milestone, status: 'submitted', submission, submitted_at: now, updated_at: now, version: milestone.version + 1 };
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}
