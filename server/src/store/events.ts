// Every SQL statement on the event log. The table takes inserts only; the database refuses anything else.

import type { Event } from '../domain/event.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Queryable } from './database.ts';
import { type Page, tableSource } from './lists.ts';
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
