// Creating a project as a good engineer writes it by hand: one transaction in one round trip, its milestones and events in bulk.
// Writes the same rows as ours; only the hash chain of the events is left out (their hash column is filled, which favours this side).

import type pg from 'pg';
import { encodeId } from '../../server/src/domain/ids.ts';
import type { ProjectRow } from './answers.ts';

export interface ProjectBody {
  readonly name: string;
  readonly client_id: string;
  readonly payee_id?: string;
  readonly currency?: string;
  readonly metadata?: Record<string, string>;
  readonly milestones?: readonly {
    readonly title: string;
    readonly amount: number;
    readonly due_date?: string;
    readonly description?: string;
  }[];
}

const insertProject = {
  name: 'insert-project',
  text: `insert into projects (workspace_id, id, name, client_id, payee_id, currency, release, status, metadata, version, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, 'on_approval', 'active', $7, 1, $8, $8)`,
};

const insertMilestones = {
  name: 'insert-milestones',
  text: `insert into milestones (workspace_id, id, project_id, title, description, amount_minor, currency, payee_id, due_date, status, metadata, version,
           created_at, updated_at)
         select $1, m.id, $2, m.title, m.description, m.amount, $3, $4, m.due_date, 'pending', '{}', 1, $10, $10
         from unnest($5::uuid[], $6::text[], $7::text[], $8::bigint[], $9::date[]) as m(id, title, description, amount, due_date)`,
};

/** The counter of the workspace, from a row that stays locked until the commit: the sequence has no gaps. Nothing waits for the number. */
const tell = {
  name: 'tell-created',
  text: `with head as (update workspace_heads set event_seq = event_seq + $7, last_time = $8 where workspace_id = $1 returning event_seq)
         insert into events (workspace_id, seq, id, type, project_id, body, hash, created_at)
         select $1, head.event_seq - $7 + e.place, e.id, e.type, $2, e.body, $6, $8
         from head, unnest($3::uuid[], $4::text[], $5::text[]) with ordinality as e(id, type, body, place)`,
};

const hash = Buffer.alloc(32, 1);

export async function createProject(pool: pg.Pool, newId: () => string, workspaceId: string, body: ProjectBody): Promise<ProjectRow> {
  const now = new Date();
  const { name, client_id, payee_id = null, currency = 'USD', metadata = {}, milestones = [] } = body;
  const id = newId();
  const ids = milestones.map(newId);
  const projectId = encodeId('project', id);
  const bodies = milestones.map(({ title, amount }, i) => {
    const milestoneId = encodeId('milestone', ids[i] as string);
    return JSON.stringify({ event: 'milestone.created', data: { projectId, milestoneId, title, amount, currency } });
  });
  bodies.unshift(JSON.stringify({ event: 'project.created', data: { projectId, name, clientId: client_id } }));
  const types = ['project.created', ...milestones.map(() => 'milestone.created')];
  const columns = [
    ids,
    milestones.map(({ title }) => title),
    milestones.map(({ description = null }) => description),
    milestones.map(({ amount }) => amount),
    milestones.map(({ due_date = null }) => due_date),
  ];
  const client = await pool.connect();
  try {
    // In one go (pg's pipeline mode): when one statement fails, PostgreSQL refuses those after it and the COMMIT rolls back.
    await Promise.all([
      client.query('BEGIN'),
      client.query({ ...insertProject, values: [workspaceId, id, name, client_id, payee_id, currency, JSON.stringify(metadata), now] }),
      client.query({ ...insertMilestones, values: [workspaceId, id, currency, payee_id, ...columns, now] }),
      client.query({ ...tell, values: [workspaceId, id, types.map(newId), types, bodies, hash, types.length, now] }),
      client.query('COMMIT'),
    ]);
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
  const state = { release: 'on_approval', status: 'active', version: 1, created_at: now, updated_at: now };
  return { id, name, client_id, payee_id, currency, metadata, ...state };
}
