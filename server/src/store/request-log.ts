// Every SQL statement on the request log. Each says which index it relies on.
// Written in bulk and outside the lane, into an unlogged table: it tells what happened and decides nothing.

import type { Uuid } from '../domain/ids.ts';
import type { LoggedMethod, RequestLogEntry, StatusClass } from '../domain/request-log.ts';
import type { Queryable } from './database.ts';
import { defineList, equals, oneOf, tableSource } from './lists.ts';
import { columnTypes, defineTable } from './tables.ts';

export const requestLogTable = defineTable<RequestLogEntry>('request_log', {
  workspaceId: columnTypes.fixedUuid('workspace_id'),
  id: columnTypes.fixedUuid('id'),
  requestId: { column: 'request_id', type: 'text', fixed: true },
  method: { column: 'method', type: 'text', fixed: true },
  path: { column: 'path', type: 'text', fixed: true },
  status: { column: 'status', type: 'smallint', fixed: true },
  durationMs: {
    column: 'duration_us',
    type: 'integer',
    fixed: true,
    write: (ms) => Math.min(Math.round(ms * 1000), 2 ** 31 - 1),
    read: ((us: number) => us / 1000) as (value: never) => number,
  },
  keyId: columnTypes.fixedUuid('key_id'),
  bySession: { column: 'by_session', type: 'boolean', fixed: true },
  count: { column: 'request_count', type: 'integer', fixed: true },
  createdAt: columnTypes.createdAt,
});

export interface RequestLogFilters {
  readonly keyId?: Uuid | undefined;
  readonly statusClass?: StatusClass | undefined;
  readonly method?: LoggedMethod | undefined;
  readonly path?: string | undefined;
}

/**
 * The requests of a workspace: the primary key (workspace_id, id); of a key request_log_by_key (workspace_id, key_id, id); failures
 * request_log_failures (workspace_id, id). The other filters are looked at row by row, over the days that are kept.
 */
export const listRequestLog = defineList<RequestLogEntry, RequestLogFilters>({
  source: tableSource(requestLogTable),
  conditions: {
    keyId: equals('t.key_id'),
    statusClass: oneOf({
      '2xx': 't.status between 200 and 299',
      '3xx': 't.status between 300 and 399',
      '4xx': 't.status >= 400 and t.status < 500',
      '5xx': 't.status >= 400 and t.status >= 500',
    }),
    method: equals('t.method'),
    path: equals('t.path'),
  },
});

/** Adds answered requests. */
export async function insertRequestLog(queryable: Queryable, entries: readonly RequestLogEntry[]): Promise<void> {
  await queryable.query(requestLogTable.insert.text, requestLogTable.insert.parameters(entries));
}
