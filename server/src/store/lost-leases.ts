// Leases whose holder is gone, and the signs of life by which that is known before the lease ends.
// Sends nothing, and judges by the database's clock alone who is alive.

import type { Uuid } from '../domain/ids.ts';
import type { Database, Queryable } from './database.ts';
import { type EndpointKey, lockFlows } from './endpoint-flows.ts';

/** Lost leases that one statement looks for; the next round goes on. */
const MAX_LOST = 1_000;
/** After so long without a sign of life the row of a worker goes; its leases have long been free. */
const FORGET_WORKER = `interval '1 hour'`;

/** Says that a worker lives. Returns the database's time. Primary key. */
export async function beat(database: Queryable, workerId: Uuid): Promise<Date> {
  const rows = await database.query<{ seen_at: Date }>(
    `insert into webhook_workers (id, started_at, seen_at) values ($1, clock_timestamp(), clock_timestamp())
     on conflict (id) do update set seen_at = clock_timestamp() returning seen_at`,
    [workerId],
  );
  return (rows[0] as { seen_at: Date }).seen_at;
}

/** The database's time. */
export async function databaseTime(database: Queryable): Promise<Date> {
  const rows = await database.query<{ time: Date }>('select clock_timestamp() as time');
  return (rows[0] as { time: Date }).time;
}

export interface LostLease extends EndpointKey {
  readonly deliveryId: Uuid;
  readonly leaseToken: Uuid;
  /** Leases of this attempt that were lost before this one. */
  readonly lostBefore: number;
  readonly tries: number;
}

export interface LostOptions {
  readonly now: Date;
  /** A lease that ends later than this from now was given by a clock that has been put back since. */
  readonly leaseMs: number;
  /** Without a sign of life for so long a worker is dead; null: workers give none. */
  readonly deadAfterMs: number | null;
}

// All leases there are, along the index deliveries_leased: no more than what is under way. Workers by primary key.
const lostText = `
  select d.workspace_id, d.endpoint_id, d.id, d.lease_token, d.lost_leases, d.tries
  from deliveries d left join webhook_workers w on w.id = d.lease_owner
  where d.status = 'pending' and d.lease_token is not null and (d.next_attempt_at <= $1 or d.next_attempt_at > $2
    or ($3::integer is not null and (w.seen_at is null or w.seen_at < clock_timestamp() - $3 * interval '1 millisecond')))
  limit ${MAX_LOST}`;

interface LostRow {
  workspace_id: Uuid;
  endpoint_id: Uuid;
  id: Uuid;
  lease_token: Uuid;
  lost_leases: number;
  tries: number;
}

/** Leases that are over, or whose holder is dead. */
export async function findLostLeases(queryable: Queryable, { now, leaseMs, deadAfterMs }: LostOptions): Promise<LostLease[]> {
  const rows = await queryable.query<LostRow>(lostText, [now, new Date(now.getTime() + 2 * leaseMs), deadAfterMs]);
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    endpointId: row.endpoint_id,
    deliveryId: row.id,
    leaseToken: row.lease_token,
    lostBefore: row.lost_leases,
    tries: row.tries,
  }));
}

/** What the end of a lease without a result does to a row `d`: what was asked for while it was under way follows now. */
const releaseAssignments = (now: string, lost: string): string => `
  lease_token = null, lease_owner = null, asked = null,
  tries = case when d.asked = 'replay' then 0 else d.tries end,
  lost_leases = case when d.asked = 'replay' then 0 else d.lost_leases + ${lost} end,
  status = case when d.asked = 'cancel' then 'cancelled' else d.status end,
  next_attempt_at = case when d.asked is distinct from 'cancel' then ${now}::timestamptz(3) end,
  completed_at = case when d.asked = 'cancel' then ${now}::timestamptz(3) end`;

// By primary key and token: a lease that was settled meanwhile is left alone. Flows are locked before, in order.
const releaseText = `
  with released as (
    update deliveries d set ${releaseAssignments('$4', '$5')}
    from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as n(workspace_id, id, lease_token)
    where d.workspace_id = n.workspace_id and d.id = n.id and d.lease_token = n.lease_token and d.status = 'pending'
    returning d.workspace_id, d.endpoint_id
  ), flowed as (
    update webhook_flows f set in_flight = greatest(0, f.in_flight - n.released)
    from (select workspace_id, endpoint_id, count(*)::integer as released from released group by workspace_id, endpoint_id) n
    where f.workspace_id = n.workspace_id and f.endpoint_id = n.endpoint_id
  )
  select count(*)::integer as released from released`;

/** Makes deliveries due again whose lease was lost; their lost leases are counted. Returns how many. */
export function releaseLostLeases(database: Database, lost: readonly LostLease[], now: Date): Promise<number> {
  return release(database, lost, now, 1);
}

async function release(database: Database, lost: readonly LostLease[], now: Date, count: 0 | 1): Promise<number> {
  if (lost.length === 0) return 0;
  const inOrder = lost.toSorted((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1));
  return database.transaction(async (transaction) => {
    const locking = lockFlows(transaction, inOrder, 'wait');
    const keys = [
      inOrder.map((lease) => lease.workspaceId),
      inOrder.map((lease) => lease.deliveryId),
      inOrder.map((lease) => lease.leaseToken),
    ];
    const rows = transaction.query<{ released: number }>(releaseText, [...keys, now, count]);
    await locking;
    return (await rows)[0]?.released ?? 0;
  });
}

/**
 * Ends a worker in good order: what it holds is due again at once, and nobody waits for signs of life. Along the index deliveries_leased.
 */
export async function retireWorker(database: Database, workerId: Uuid, now: Date): Promise<number> {
  const rows = await database.query<LostRow>(
    `select workspace_id, endpoint_id, id, lease_token, lost_leases, tries from deliveries
     where status = 'pending' and lease_token is not null and lease_owner = $1`,
    [workerId],
  );
  const held = rows.map((row) => ({
    workspaceId: row.workspace_id,
    endpointId: row.endpoint_id,
    deliveryId: row.id,
    leaseToken: row.lease_token,
    lostBefore: row.lost_leases,
    tries: row.tries,
  }));
  const released = await release(database, held, now, 0);
  await database.query(`delete from webhook_workers where id = $1 or seen_at < clock_timestamp() - ${FORGET_WORKER}`, [workerId]);
  return released;
}

/** Leases that an attempt may lose. One more and it counts as failed: what ends its process every time is not sent for ever. */
export const MAX_LOST_LEASES = 2;

/**
 * Makes every claimed delivery due again, at the start of a process that has the database to itself: whoever claimed them is gone, and
 * their leases need not be waited for. A delivery that has lost too many keeps its lease, which is over: it is looked at like any other lost
 * one. Through the index deliveries_leased; flows by primary key.
 */
export async function releaseLeases(database: Queryable, now: Date): Promise<number> {
  const rows = await database.query(
    `with released as (
       update deliveries d set ${releaseAssignments('$1', '1')}
       where d.status = 'pending' and d.lease_token is not null and d.lost_leases < ${MAX_LOST_LEASES} returning 1
     ), ended as (
       update deliveries set next_attempt_at = $1
       where status = 'pending' and lease_token is not null and lost_leases >= ${MAX_LOST_LEASES} returning workspace_id, endpoint_id
     ), flowed as (
       update webhook_flows f set in_flight =
         (select count(*)::integer from ended n where n.workspace_id = f.workspace_id and n.endpoint_id = f.endpoint_id)
       where f.in_flight <> 0
     )
     select * from released`,
    [now],
  );
  return rows.length;
}

const leased = `select workspace_id, endpoint_id, count(*)::integer as leased from deliveries
  where status = 'pending' and lease_token is not null group by workspace_id, endpoint_id`;

/**
 * Flows whose count of attempts under way is not the number of leases: somebody ended a leased delivery without saying so. Counted along
 * deliveries_leased in one snapshot, in which the two agree otherwise; then counted again under the lock. Returns how many were set right.
 */
export async function recountInFlight(database: Database): Promise<number> {
  const wrong = await database.query<{ workspace_id: Uuid; endpoint_id: Uuid }>(
    `select f.workspace_id, f.endpoint_id from webhook_flows f left join (${leased}) l
       on l.workspace_id = f.workspace_id and l.endpoint_id = f.endpoint_id
     where f.in_flight <> coalesce(l.leased, 0) limit ${MAX_LOST}`,
  );
  if (wrong.length === 0) return 0;
  const keys = wrong.map((row) => ({ workspaceId: row.workspace_id, endpointId: row.endpoint_id }));
  return database.transaction(async (transaction) => {
    const locking = lockFlows(transaction, keys, 'wait');
    const rows = transaction.query(
      `update webhook_flows f set in_flight = x.leased
       from (select n.workspace_id, n.endpoint_id, coalesce(l.leased, 0) as leased
             from unnest($1::uuid[], $2::uuid[]) as n(workspace_id, endpoint_id)
             left join (${leased}) l on l.workspace_id = n.workspace_id and l.endpoint_id = n.endpoint_id) x
       where f.workspace_id = x.workspace_id and f.endpoint_id = x.endpoint_id and f.in_flight <> x.leased returning 1`,
      [keys.map((key) => key.workspaceId), keys.map((key) => key.endpointId)],
    );
    await locking;
    return (await rows).length;
  });
}
