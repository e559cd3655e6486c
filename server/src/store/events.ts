// Every SQL statement on the event log. The table takes inserts only; the database refuses anything else.
// Filters have no index of their own, which every event would pay for: numbers have no gap, so a look through the log has a bound by itself.

import type { Event, EventType } from '../domain/event.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Queryable } from './database.ts';
import { findLastSeqs } from './heads.ts';
import { CLOCK_SLACK_MS, firstIdOf, type Page, tableSource } from './lists.ts';
import { columnTypes, defineTable } from './tables.ts';

export const eventTable = defineTable<Event>('events', {
  workspaceId: columnTypes.fixedUuid('workspace_id'),
  seq: columnTypes.count('seq'),
  id: columnTypes.fixedUuid('id'),
  type: { column: 'type', type: 'text' },
  projectId: { column: 'project_id', type: 'uuid', fixed: true },
  body: { column: 'body', type: 'text' },
  hash: columnTypes.bytes('hash'),
  createdAt: columnTypes.createdAt,
});

/** Found by id through the unique index events_by_id (workspace_id, id). */
export const eventSource = tableSource(eventTable);

const eventsAfterText = `select ${eventTable.select('t')} from events t where t.workspace_id = $1 and t.seq > $2 order by t.seq limit $3`;

/** Events after a sequence number, oldest first: the primary key (workspace_id, seq). */
export async function listEvents(queryable: Queryable, workspaceId: Uuid, afterSeq: number, limit: number): Promise<Page<Event>> {
  const rows = await queryable.query<Record<string, unknown>>(eventsAfterText, [workspaceId, afterSeq, limit + 1]);
  const hasMore = rows.length > limit;
  if (hasMore) rows.length = limit;
  return { records: rows.map(eventTable.fromRow), hasMore };
}

export interface EventChoice {
  /** Only later ones than this … */
  readonly afterSeq: number;
  /** … and earlier ones than this. */
  readonly beforeSeq?: number | undefined;
  readonly order: 'asc' | 'desc';
  readonly types?: ReadonlySet<EventType> | undefined;
  readonly projectId?: Uuid | undefined;
}

export interface EventPage {
  readonly records: Event[];
  /** Where the next page goes on: after this number, or before it with `desc`. Null: there is no more. */
  readonly next: number | null;
}

/** How many events one page looks through for those that match: some milliseconds. A page that finds few, or none, still leads on. */
export const LOOKED_THROUGH_EVENTS = 5_000;

export const isFiltered = ({ types, projectId }: EventChoice): boolean => types !== undefined || projectId !== undefined;

/** A page of the log in either direction: a stretch of the primary key (workspace_id, seq), of which what matches is kept. */
export async function searchEvents(queryable: Queryable, workspaceId: Uuid, choice: EventChoice, limit: number): Promise<EventPage> {
  const { afterSeq, beforeSeq, types, projectId, order } = choice;
  if (order === 'asc' && beforeSeq === undefined && !isFiltered(choice)) {
    const page = await listEvents(queryable, workspaceId, afterSeq, limit);
    return { records: page.records, next: page.hasMore ? (page.records.at(-1) as Event).seq : null };
  }
  const head = (await findLastSeqs(queryable, [workspaceId])).get(workspaceId) ?? 0;
  const before = projectId === undefined ? 0 : await seqBefore(queryable, workspaceId, projectId);
  const low = Math.max(afterSeq, before) + 1;
  const high = Math.min((beforeSeq ?? head + 1) - 1, head);
  const length = isFiltered(choice) ? LOOKED_THROUGH_EVENTS : limit;
  const from = order === 'asc' ? low : Math.max(low, high - length + 1);
  const to = order === 'desc' ? high : Math.min(high, low + length - 1);
  if (from > to) return { records: [], next: null };
  const parameters: unknown[] = [workspaceId, from, to];
  const bind = (value: unknown): string => `$${parameters.push(value)}`;
  const where = ['t.workspace_id = $1 and t.seq between $2 and $3'];
  if (types !== undefined) where.push(`t.type = any(${bind([...types])}::text[])`);
  if (projectId !== undefined) where.push(`t.project_id = ${bind(projectId)}`);
  const rows = await queryable.query<Record<string, unknown>>(
    `select ${eventTable.select('t')} from events t where ${where.join(' and ')} order by t.seq ${order} limit ${bind(limit + 1)}`,
    parameters,
  );
  const records = rows.slice(0, limit).map(eventTable.fromRow);
  if (rows.length > limit) return { records, next: (records.at(-1) as Event).seq };
  if (order === 'asc') return { records, next: to < high ? to : null };
  return { records, next: from > low ? from : null };
}

/** A number that comes before every event of the project, by the time in its id: events_by_id (workspace_id, id), backwards. */
async function seqBefore(queryable: Queryable, workspaceId: Uuid, projectId: Uuid): Promise<number> {
  const madeAtMs = Number.parseInt(projectId.replaceAll('-', '').slice(0, 12), 16);
  const rows = await queryable.query<{ seq: bigint }>(
    'select t.seq from events t where t.workspace_id = $1 and t.id < $2 order by t.id desc limit 1',
    [workspaceId, firstIdOf(madeAtMs - CLOCK_SLACK_MS)],
  );
  return Number(rows[0]?.seq ?? 0);
}
