// Every SQL statement that deletes what was kept for a time only: deliveries that have ended, their attempts, and repairs that have ended.
// A bite at a time along primary keys, past rows that somebody holds, so that nobody ever waits for it. Events are never deleted.

import type { Uuid } from '../domain/ids.ts';
import type { Queryable } from './database.ts';

/** Where a walk through one workspace goes on; null at its beginning. */
export type Position = Uuid | null;

export interface Bite {
  readonly workspaceId: Uuid;
  /** The id of the delivery up to which the walk has come. */
  readonly after: Position;
  /** What ended or was attempted before this time goes. */
  readonly before: Date;
  /** Rows looked at, at most, and deliveries of those that go, with their attempts. */
  readonly look: number;
  readonly limit: number;
}

export interface Bitten {
  readonly deliveries: number;
  readonly attempts: number;
  /** Where to go on; null when the walk is through. */
  readonly next: Position;
}

interface BittenRow {
  looked_at: number;
  last_looked_at: Uuid | null;
  taken: number;
  last_taken: Uuid | null;
  deliveries: number;
  attempts: number;
}

// Ids are UUIDv7, so the primary key (workspace_id, id) is in the order of creation: no index of its own is needed, and no delivery pays for
// one. A delivery ends after it was created, so the walk stops at the first that was created too late. What is pending, has ended too
// lately or is locked is passed by; the next round comes by again. Attempts go along, through their primary key (workspace_id,
// delivery_id, number), and in the same statement, since no foreign key would speak up for those left behind.
const deliveriesText = `
  with page as (
    select id, status, completed_at from deliveries
    where workspace_id = $1 and id > $2 and id < $3 order by id limit $5
  ), old as (
    select d.workspace_id, d.id from page p join deliveries d on d.workspace_id = $1 and d.id = p.id
    where p.status <> 'pending' and p.completed_at < $4 and d.status <> 'pending' and d.completed_at < $4
    order by d.id limit $6 for update of d skip locked
  ), gone_attempts as (
    delete from delivery_attempts a using old where a.workspace_id = old.workspace_id and a.delivery_id = old.id returning 1
  ), gone as (
    delete from deliveries d using old where d.workspace_id = old.workspace_id and d.id = old.id returning 1
  )
  select (select count(*)::integer from page) as looked_at, (select id from page order by id desc limit 1) as last_looked_at,
    (select count(*)::integer from old) as taken, (select id from old order by id desc limit 1) as last_taken,
    (select count(*)::integer from gone) as deliveries, (select count(*)::integer from gone_attempts) as attempts`;

// The same walk along the primary key of the attempts, which skips the deliveries that have none left. Of a delivery all attempts go at
// once, those past the end of the page too.
const attemptsText = `
  with page as (
    select delivery_id, number, started_at from delivery_attempts
    where workspace_id = $1 and delivery_id > $2 and delivery_id < $3 order by delivery_id, number limit $5
  ), old as (
    select d.workspace_id, d.id from (select distinct delivery_id from page where started_at < $4) p
    join deliveries d on d.workspace_id = $1 and d.id = p.delivery_id
    where d.status <> 'pending' order by d.id limit $6 for update of d skip locked
  ), gone as (
    delete from delivery_attempts a using old
    where a.workspace_id = old.workspace_id and a.delivery_id = old.id and a.started_at < $4 returning 1
  )
  select (select count(*)::integer from page) as looked_at, (select delivery_id from page order by delivery_id desc limit 1) as last_looked_at,
    (select count(*)::integer from old) as taken, (select id from old order by id desc limit 1) as last_taken,
    0 as deliveries, (select count(*)::integer from gone) as attempts`;

// The same walk along the primary key of the repairs, whose ids are in the order of creation too.
const repairsText = `
  with page as (
    select id from webhook_repairs where workspace_id = $1 and id > $2 and id < $3 order by id limit $5
  ), old as (
    select r.workspace_id, r.id from page p join webhook_repairs r on r.workspace_id = $1 and r.id = p.id
    where r.status in ('completed', 'stopped') and r.completed_at < $4 order by r.id limit $6 for update of r skip locked
  ), gone as (
    delete from webhook_repairs r using old where r.workspace_id = old.workspace_id and r.id = old.id returning 1
  )
  select (select count(*)::integer from page) as looked_at, (select id from page order by id desc limit 1) as last_looked_at,
    (select count(*)::integer from old) as taken, (select id from old order by id desc limit 1) as last_taken,
    0 as deliveries, 0 as attempts`;

/** Deletes repairs that ended before a time. */
export const pruneRepairs = (queryable: Queryable, bite: Bite): Promise<Bitten> => prune(queryable, repairsText, bite);

/** Deletes deliveries that ended before a time, with their attempts. */
export const pruneDeliveries = (queryable: Queryable, bite: Bite): Promise<Bitten> => prune(queryable, deliveriesText, bite);

/** Deletes attempts that began before a time, but those of pending deliveries. */
export const pruneAttempts = (queryable: Queryable, bite: Bite): Promise<Bitten> => prune(queryable, attemptsText, bite);

async function prune(queryable: Queryable, text: string, { workspaceId, after, before, look, limit }: Bite): Promise<Bitten> {
  const [row] = await queryable.query<BittenRow>(text, [workspaceId, after ?? NIL, firstIdAt(before), before, look, limit]);
  if (row === undefined) throw new Error('A bite always tells what it did.');
  const { deliveries, attempts } = row;
  // When the bite was full, what follows the last one taken has not been dealt with.
  if (row.taken === limit) return { deliveries, attempts, next: row.last_taken };
  return { deliveries, attempts, next: row.looked_at < look ? null : row.last_looked_at };
}

const NIL: Uuid = '00000000-0000-0000-0000-000000000000';

/** Not above any UUIDv7 that is made at this time or later. */
function firstIdAt(time: Date): Uuid {
  const hex = Math.max(0, time.getTime()).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** Workspaces in the order of their ids, along the primary key. */
export async function workspacesAfter(queryable: Queryable, after: Position, limit: number): Promise<Uuid[]> {
  const rows = await queryable.query<{ id: Uuid }>('select id from workspaces where id > $1 order by id limit $2', [after ?? NIL, limit]);
  return rows.map((row) => row.id);
}
