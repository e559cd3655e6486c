// How much waits to be delivered, for how long, and which endpoints are held back: what an operator looks at.
// Reads only, and stays cheap whatever the backlog. Claims nothing; the queue itself is deliveries-queue.ts and fan-out.ts.

import type { Uuid } from '../domain/ids.ts';
import type { Queryable } from './database.ts';
import { floorText } from './fan-out.ts';

/** Counted one by one up to here in each index; beyond it the statistics of the index say roughly how many there are. */
export const MAX_COUNTED = 10_000;
/** Endpoints, and projects of ordered endpoints, that are looked at for something due. */
export const MAX_LEAPS = 10_000;
/** Endpoints whose breakers are counted. */
export const MAX_BREAKERS = 100_000;
/** Workers give a sign of life every few seconds. By the database's clock, since that is whose time they note. */
const WORKER_ALIVE_S = 15;

export type Breaker = 'closed' | 'open' | 'half_open';

export interface DeliveryBacklog {
  /** Pending deliveries, those under way and those that wait for a later attempt included. */
  readonly pending: number;
  /** Whether `pending` is an estimate, because there are too many to count. */
  readonly isEstimate: boolean;
  /** Since when the delivery has been due that has been due for longest; null when none is. Endpoints that are held back do not count. */
  readonly oldestDueAt: Date | null;
  /** Where that one goes to. */
  readonly oldestEndpointId: Uuid | null;
  /** Events that have not been made deliveries of yet, of workspaces that have endpoints; and since when the oldest waits for it. */
  readonly unspread: number;
  readonly oldestUnspreadAt: Date | null;
  /** Endpoints that have something due. */
  readonly dueEndpoints: number;
  /** Endpoints that have had something due since before `lateBefore`. */
  readonly lateEndpoints: number;
  /** Processes that deliver and have given a sign of life lately. */
  readonly workers: number;
  /** Enabled endpoints by the state of their circuit breaker. */
  readonly breakers: Readonly<Record<Breaker, number>>;
}

/** The parts of the queue, each with the partial index that holds it and nothing else. */
const parts = [
  { index: 'deliveries_due', holds: `status = 'pending' and lease_token is null and order_key is null` },
  { index: 'deliveries_in_order', holds: `status = 'pending' and order_key is not null` },
  // Those of ordered endpoints are in the index before.
  { index: 'deliveries_leased', holds: `status = 'pending' and lease_token is not null and order_key is null` },
] as const;
const [unordered, ordered] = parts;

// A count ends at its bound. `waiting` and `heads` leap from endpoint to endpoint and from project to project, one look-up of the index
// each, so that an endpoint with a million deliveries costs what one with a single one does. A lease that has ended is due again.
// Endpoints whose breaker is open or that asked for a pause are held back on purpose, and so not late. There are as many rows of
// webhook_workers as processes.
const queueText = `
  with recursive waiting as (
    (select workspace_id, endpoint_id, is_repeat, next_attempt_at from deliveries
     where ${unordered.holds} order by workspace_id, endpoint_id, is_repeat, next_attempt_at limit 1)
    union all
    select n.* from waiting w cross join lateral (
      select workspace_id, endpoint_id, is_repeat, next_attempt_at from deliveries
      where ${unordered.holds} and (workspace_id, endpoint_id, is_repeat) > (w.workspace_id, w.endpoint_id, w.is_repeat)
      order by workspace_id, endpoint_id, is_repeat, next_attempt_at limit 1) n
  ), heads as (
    (select workspace_id, endpoint_id, order_key, next_attempt_at, lease_token from deliveries
     where ${ordered.holds} order by workspace_id, endpoint_id, order_key, (lease_token is null), event_seq limit 1)
    union all
    select n.* from heads h cross join lateral (
      select workspace_id, endpoint_id, order_key, next_attempt_at, lease_token from deliveries
      where ${ordered.holds} and (workspace_id, endpoint_id, order_key) > (h.workspace_id, h.endpoint_id, h.order_key)
      order by workspace_id, endpoint_id, order_key, (lease_token is null), event_seq limit 1) n
  ), candidate as (
    (select workspace_id, endpoint_id, next_attempt_at as due_at from waiting limit ${MAX_LEAPS})
    union all
    (select workspace_id, endpoint_id, next_attempt_at from (select * from heads limit ${MAX_LEAPS}) h where lease_token is null)
    union all
    (select workspace_id, endpoint_id, next_attempt_at from deliveries where status = 'pending' and lease_token is not null and next_attempt_at <= $1
     order by next_attempt_at limit ${MAX_LEAPS})
  ), due as (
    select c.endpoint_id, min(c.due_at) as due_at from candidate c
    join webhook_endpoints e on e.workspace_id = c.workspace_id and e.id = c.endpoint_id
    join webhook_flows f on f.workspace_id = c.workspace_id and f.endpoint_id = c.endpoint_id
    where c.due_at <= $1 and e.status = 'enabled' and e.deleted_at is null
      and (f.breaker <> 'open' or f.probe_at <= $1) and (f.resume_at is null or f.resume_at <= $1)
    group by c.endpoint_id
  )
  select (select count(*)::integer from due) as due_endpoints, (select count(*)::integer from due where due_at <= $2) as late_endpoints,
    (select count(*)::integer from webhook_workers where seen_at > clock_timestamp() - interval '${WORKER_ALIVE_S} seconds') as workers,
    oldest.due_at as oldest_due_at, oldest.endpoint_id as oldest_endpoint_id
  from (select) one left join (select * from due order by due_at limit 1) oldest on true`;

const countText = parts
  .map(
    ({ index, holds }) =>
      `select (select count(*)::integer from (select from deliveries where ${holds} limit ${MAX_COUNTED + 1}) p) as counted, ` +
      `(select greatest(reltuples, 0)::float8 from pg_class where oid = '${index}'::regclass) as estimate`,
  )
  .join(' union all ');

// By the primary keys of heads, cursors and, for the first event of each workspace that is behind, events: what fan-out itself looks at.
const unspreadText = `
  select coalesce(sum(h.event_seq - b.seq), 0)::float8 as events, min(e.created_at) as oldest_at
  from (select f.workspace_id, greatest(c.seq, f.floor) as seq
        from (${floorText} group by w.workspace_id) f left join webhook_cursors c on c.workspace_id = f.workspace_id
        limit ${MAX_LEAPS}) b
  join workspace_heads h on h.workspace_id = b.workspace_id
  join events e on e.workspace_id = b.workspace_id and e.seq = b.seq + 1
  where h.event_seq > b.seq`;

// Through the primary keys of both, which are the same. An endpoint that has just been made is closed.
const breakersText = `
  select f.breaker, count(*)::integer as endpoints
  from (select workspace_id, id from webhook_endpoints where status = 'enabled' and deleted_at is null
        order by workspace_id, id limit ${MAX_BREAKERS}) e
  join webhook_flows f on f.workspace_id = e.workspace_id and f.endpoint_id = e.id
  group by f.breaker`;

interface QueueRow {
  due_endpoints: number;
  late_endpoints: number;
  workers: number;
  oldest_due_at: Date | null;
  oldest_endpoint_id: Uuid | null;
}

export async function readBacklog(queryable: Queryable, now: Date, lateBefore: Date): Promise<DeliveryBacklog> {
  const [queue, counts, states, [unspread]] = await Promise.all([
    queryable.query<QueueRow>(queueText, [now, lateBefore]),
    queryable.query<{ counted: number; estimate: number }>(countText),
    queryable.query<{ breaker: Breaker; endpoints: number }>(breakersText),
    queryable.query<{ events: number; oldest_at: Date | null }>(unspreadText),
  ]);
  const [row] = queue;
  if (row === undefined || unspread === undefined) throw new Error('The backlog is always one row.');
  const pendingOf = ({ counted, estimate }: { counted: number; estimate: number }): number =>
    counted > MAX_COUNTED ? Math.max(counted, Math.round(estimate)) : counted;
  const breakers = { closed: 0, open: 0, half_open: 0 };
  for (const { breaker, endpoints } of states) breakers[breaker] = endpoints;
  return {
    pending: counts.reduce((sum, count) => sum + pendingOf(count), 0),
    isEstimate: counts.some(({ counted }) => counted > MAX_COUNTED),
    oldestDueAt: row.oldest_due_at,
    oldestEndpointId: row.oldest_endpoint_id,
    unspread: unspread.events,
    oldestUnspreadAt: unspread.oldest_at,
    dueEndpoints: row.due_endpoints,
    lateEndpoints: row.late_endpoints,
    workers: row.workers,
    breakers,
  };
}
