// Writes what a run needs into a database: workspaces with keys and projects, milestones to submit and to approve. Bulk SQL, not the API.
// The same for every server that has a database. Reads only counts back; the long books are in fill.ts.

import { randomFillSync } from 'node:crypto';
import { hashKeySecret, keyHint, makeKeySecret } from '../server/src/domain/api-key.ts';
import { GENESIS_HASH } from '../server/src/domain/event.ts';
import { createIdGenerator, encodeId, type Uuid } from '../server/src/domain/ids.ts';
import type { Milestone } from '../server/src/domain/milestone.ts';
import type { Project } from '../server/src/domain/project.ts';
import { allScopes } from '../server/src/domain/scopes.ts';
import { apiKeyTable } from '../server/src/store/api-keys.ts';
import { milestoneTable } from '../server/src/store/milestones.ts';
import { projectTable } from '../server/src/store/projects.ts';
import { insertRows, type Table } from '../server/src/store/tables.ts';
import { insertWorkspace } from '../server/src/store/workspaces.ts';
import { type Door, openServer } from './doors.ts';
import type { Shot } from './load.ts';

const ROWS_PER_STATEMENT = 5_000;
const AMOUNT_MINOR = 150_000n;

export interface Workspace {
  readonly id: Uuid;
  readonly keys: readonly string[];
  readonly projects: readonly Project[];
}

const random = (bytes: Uint8Array): void => void randomFillSync(bytes);
export const newId = createIdGenerator(Date.now, random);
const count = (length: number): number[] => Array.from({ length }, (_, i) => i);
export const pick = <T>(values: readonly T[], i: number): T => values[i % values.length] as T;

export async function insertAll<Entity>(door: Door, table: Table<Entity>, entities: readonly Entity[]): Promise<void> {
  const sent: Promise<void>[] = [];
  for (let at = 0; at < entities.length; at += ROWS_PER_STATEMENT) {
    sent.push(insertRows(door, table, entities.slice(at, at + ROWS_PER_STATEMENT)));
    // Two under way at once: one is made while the other is written, and memory stays bounded.
    if (sent.length === 2) await sent.shift();
  }
  await Promise.all(sent);
}

export async function addWorkspace(door: Door, keyCount: number, projectCount: number): Promise<Workspace> {
  const now = new Date();
  const workspaceId = newId();
  await insertWorkspace(door, { id: workspaceId, name: 'bench', defaultCurrency: 'USD', createdAt: now }, GENESIS_HASH);
  const keys = count(keyCount).map(() => makeKeySecret(random));
  const rest = { workspaceId, name: 'bench', scopes: allScopes, expiresAt: null, revokedAt: null, createdAt: now };
  const records = keys.map((secret) => ({ ...rest, id: newId(), hash: hashKeySecret(secret), hint: keyHint(secret) }));
  await insertAll(door, apiKeyTable, records);
  const projects = count(projectCount).map((i): Project => {
    const texts = { name: `Website ${i}`, clientId: `client_${i}`, payeeId: 'freelancer_7', currency: 'USD' } as const;
    const state = { release: 'on_approval', status: 'active', metadata: { order: 'A-1001' }, version: 1 } as const;
    return { workspaceId, id: newId(), ...texts, ...state, createdAt: now, updatedAt: now };
  });
  await insertAll(door, projectTable, projects);
  return { id: workspaceId, keys, projects };
}

const submission = { note: 'All three drafts are in the folder.', links: ['https://files.example.com/drafts'] };

export function milestoneOf(project: Project, status: 'pending' | 'submitted' | 'approved', now: Date): Milestone {
  const isPending = status === 'pending';
  return {
    workspaceId: project.workspaceId,
    id: newId(),
    projectId: project.id,
    title: 'Design',
    description: 'Three drafts, one of them worked out.',
    amountMinor: AMOUNT_MINOR,
    currency: 'USD',
    payeeId: project.payeeId,
    dueDate: '2026-12-31',
    status,
    reason: null,
    submission: isPending ? null : submission,
    metadata: {},
    submittedAt: isPending ? null : now,
    approvedAt: status === 'approved' ? now : null,
    version: isPending ? 1 : 2,
    createdAt: now,
    updatedAt: now,
  };
}

/** Milestones to move, spread over the workspaces, their projects and their keys; each stands in one request, without a body yet. */
export async function addMilestones(
  door: Door,
  workspaces: readonly Workspace[],
  status: 'pending' | 'submitted',
  total: number,
): Promise<Shot[]> {
  const now = new Date();
  const turn = (i: number): number => Math.floor(i / workspaces.length);
  const milestones = count(total).map((i) => milestoneOf(pick(pick(workspaces, i).projects, turn(i)), status, now));
  await insertAll(door, milestoneTable, milestones);
  return milestones.map((milestone, i) => {
    const path = `/v1/milestones/${encodeId('milestone', milestone.id)}`;
    return { method: 'PATCH', path, key: pick(pick(workspaces, i).keys, turn(i)) };
  });
}

/** Fresh statistics and no half-written pages, so that no round pays for the one before it. */
export async function settle(door: Door): Promise<void> {
  await door.query('vacuum analyze');
  await door.query('checkpoint');
}

export async function serverVersion(door: Door): Promise<string> {
  const [row] = await door.query<{ server_version: string }>('show server_version');
  return row?.server_version.split(' ')[0] ?? 'unknown';
}

/** Events of all workspaces, by their heads: every work of the benchmark makes a known number of them. */
export async function countEvents(door: Door): Promise<number> {
  const [row] = await door.query<{ events: number }>('select sum(event_seq)::float8 as events from workspace_heads');
  return row?.events ?? 0;
}

/** Read after the figures are taken: a count reads the whole table. */
export async function countRows(url: string): Promise<{ payments: number; events: number }> {
  const door = await openServer(url);
  const [row] = await door.query<{ payments: number }>('select count(*)::float8 as payments from payments');
  const events = await countEvents(door);
  await door.close();
  return { payments: row?.payments ?? 0, events };
}

/** What is wrong with the books, in words; empty when every number is gapless, the ledger is even and every approval paid. */
export async function findFaults(door: Door): Promise<string[]> {
  // Whole tables are read, each once: after the figures are taken nobody waits for it.
  const [row] = await door.query<Record<string, number>>(`
    select
      (select count(*)::int from (select 1 from invoices group by workspace_id having max(number) <> count(*)) g) as "workspaces with a gap in invoice numbers",
      (select count(*)::int from (select 1 from events group by workspace_id having max(seq) <> count(*)) g) as "workspaces with a gap in event numbers",
      (select count(*)::int from (select 1 from ledger_entries group by workspace_id, posting_id having sum(amount_minor) <> 0) g) as "uneven postings",
      (select count(*)::int from milestones m where status = 'approved' and not exists
        (select from payments p where p.workspace_id = m.workspace_id and p.milestone_id = m.id)) as "approved milestones without payment",
      (select count(*)::int from payments p where not exists
        (select from ledger_entries l where l.workspace_id = p.workspace_id and l.payment_id = p.id)) as "payments without ledger entries"`);
  return Object.entries(row ?? {}).flatMap(([what, number]) => (number === 0 ? [] : [`${number} ${what}`]));
}
