// Every SQL statement on what keys used of their limit. Each says which index it relies on.
// Not through the lane, and never on the road of a request: it is written from leases that are over.

import type { Uuid } from '../domain/ids.ts';
import type { HourUsage, KeyUsage } from '../domain/usage.ts';
import type { Queryable } from './database.ts';

/** What one process spent of a key's minute. */
export interface MinuteUse {
  readonly workspaceId: Uuid;
  readonly keyId: Uuid;
  /** Minutes since 1970. */
  readonly minute: number;
  readonly requests: number;
}

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;

/** Adds minutes to their hours, by the primary key (workspace_id, key_id, hour). Keys in order, so that two processes cannot deadlock. */
export async function addKeyUsage(queryable: Queryable, uses: readonly MinuteUse[]): Promise<void> {
  const byHour = Map.groupBy(uses, ({ workspaceId, keyId, minute }) => `${workspaceId}:${keyId}:${Math.floor(minute / HOUR_MINUTES)}`);
  const rows = [...byHour]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, own]) => {
      const { workspaceId, keyId, minute } = own[0] as MinuteUse;
      const hour = new Date(Math.floor(minute / HOUR_MINUTES) * HOUR_MINUTES * MINUTE_MS);
      const requests = own.map((use) => use.requests);
      return { workspaceId, keyId, hour, requests: requests.reduce((a, b) => a + b, 0), busiest: Math.max(...requests) };
    });
  await queryable.query(
    `insert into key_usage as u (workspace_id, key_id, hour, requests, busiest_minute)
     select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::integer[], $5::integer[])
     on conflict (workspace_id, key_id, hour) do update
     set requests = u.requests + excluded.requests, busiest_minute = greatest(u.busiest_minute, excluded.busiest_minute)`,
    [
      rows.map((row) => row.workspaceId),
      rows.map((row) => row.keyId),
      rows.map((row) => row.hour),
      rows.map((row) => row.requests),
      rows.map((row) => row.busiest),
    ],
  );
}

interface UsageRow {
  id: Uuid;
  name: string;
  hint: string;
  used: number | null;
  hour: Date | null;
  requests: number;
  busiest_minute: number;
}

/** Keys of one answer. */
const MAX_KEYS = 100;

/**
 * The newest keys that were used lately: primary keys of api_keys, rate_leases and key_usage, all of which begin with the workspace.
 * `minute` is the current one, `since` where the hours begin.
 */
export async function findKeyUsage(queryable: Queryable, workspaceId: Uuid, minute: number, since: Date): Promise<KeyUsage[]> {
  const rows = await queryable.query<UsageRow>(
    `with used as (
       select k.id, k.name, k.hint, r.used
       from api_keys k left join rate_leases r on r.workspace_id = k.workspace_id and r.key_id = k.id and r.minute = $2
       where k.workspace_id = $1 and (r.used is not null or exists (
         select from key_usage u where u.workspace_id = k.workspace_id and u.key_id = k.id and u.hour >= $3))
       order by k.id desc limit $4
     )
     select used.*, u.hour, u.requests, u.busiest_minute
     from used left join key_usage u on u.workspace_id = $1 and u.key_id = used.id and u.hour >= $3
     order by used.id desc, u.hour desc`,
    [workspaceId, minute, since, MAX_KEYS],
  );
  return Array.from(
    Map.groupBy(rows, ({ id }) => id),
    ([keyId, own]) => {
      const { name, hint, used } = own[0] as UsageRow;
      const hours = own.flatMap(({ hour, requests, busiest_minute: busiestMinute }): HourUsage[] =>
        hour === null ? [] : [{ hour, requests, busiestMinute }],
      );
      return { keyId, name, hint, used: used ?? 0, hours };
    },
  );
}

/** Deletes hours before a time, a bounded number of rows: a walk over a small table, without an index for it. */
export async function pruneKeyUsage(queryable: Queryable, before: Date, limit: number): Promise<number> {
  const rows = await queryable.query(
    `delete from key_usage where ctid = any(array(select ctid from key_usage where hour < $1 limit $2)) returning 1`,
    [before, limit],
  );
  return rows.length;
}
