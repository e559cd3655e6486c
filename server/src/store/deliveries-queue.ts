// The deliveries as a queue: claiming those that are due under a lease, and writing back what came of them.
// Decides nothing about an attempt; reading deliveries for people is the business of deliveries.ts.

import type { EventType } from '../domain/event.ts';
import type { Uuid } from '../domain/ids.ts';
import type { SealedSecret } from '../domain/webhook-endpoint.ts';
import type { Queryable } from './database.ts';
import { readSecrets } from './webhook-endpoints.ts';

/** Deliveries of a disabled or deleted endpoint that one claim cancels; the next one goes on. */
const MAX_CANCELLED = 1_000;

export interface ClaimOptions {
  /** Deliveries to claim at most. */
  readonly limit: number;
  /** How many of those may go to endpoints that have attempts under way already, or take several at once. All of them by default. */
  readonly shared?: number;
  /** Attempts under way to one endpoint at most, those of `inFlight` included. */
  readonly perEndpoint: number;
  /** Attempts that this process has under way, by endpoint. */
  readonly inFlight: ReadonlyMap<Uuid, number>;
  /** After this time without a result the delivery is due again: the process that claimed it is taken for dead. */
  readonly leaseMs: number;
  readonly now: Date;
  readonly newToken: () => Uuid;
}

export interface ClaimedDelivery {
  readonly workspaceId: Uuid;
  readonly id: Uuid;
  readonly leaseToken: Uuid;
  /** Since when it has been due. */
  readonly dueAt: Date;
  /** Attempts made before this one. */
  readonly attempts: number;
  readonly eventSeq: number;
  /** The sequence number given to this endpoint before it; null for the first. */
  readonly previousSeq: number | null;
  readonly event: { readonly id: Uuid; readonly type: EventType; readonly body: string; readonly createdAt: Date };
  readonly endpoint: { readonly id: Uuid; readonly url: string; readonly secrets: readonly SealedSecret[] };
}

interface ClaimedRow {
  workspace_id: Uuid;
  id: Uuid;
  due_at: Date;
  attempts: number;
  event_seq: bigint;
  previous_seq: bigint | null;
  event_id: Uuid;
  type: EventType;
  body: string;
  event_created_at: Date;
  endpoint_id: Uuid;
  url: string;
  secrets: Parameters<typeof readSecrets>[0];
}

// `waiting` leaps from endpoint to endpoint along the index deliveries_due, one look-up each, so that an endpoint with a million
// deliveries costs as much as one with a single one. From each endpoint that has some due, the oldest are taken, up to its room; rows
// that another worker holds are passed by. A lease is the next attempt time itself, so a claimed row is simply not due.
const claimText = `
  with recursive waiting as (
    (select workspace_id, endpoint_id, next_attempt_at as due_at from deliveries
     where status = 'pending' order by workspace_id, endpoint_id, next_attempt_at limit 1)
    union all
    select n.workspace_id, n.endpoint_id, n.next_attempt_at
    from waiting w cross join lateral (
      select workspace_id, endpoint_id, next_attempt_at from deliveries
      where status = 'pending' and (workspace_id, endpoint_id) > (w.workspace_id, w.endpoint_id)
      order by workspace_id, endpoint_id, next_attempt_at limit 1) n
  ), endpoint as (
    select w.workspace_id, w.endpoint_id, w.due_at, e.url, e.secrets, e.status = 'enabled' and e.deleted_at is null as is_open,
      $3::integer - coalesce(b.attempts, 0) as room, coalesce(b.attempts, 0) as busy
    from waiting w
    join webhook_endpoints e on e.workspace_id = w.workspace_id and e.id = w.endpoint_id
    left join json_to_recordset($4) as b(endpoint_id uuid, attempts integer) on b.endpoint_id = w.endpoint_id
  ), cancelled as (
    update deliveries d set status = 'cancelled', next_attempt_at = null, lease_token = null, completed_at = $1
    from (
      select x.workspace_id, x.id from endpoint e cross join lateral (
        select workspace_id, id from deliveries
        where status = 'pending' and workspace_id = e.workspace_id and endpoint_id = e.endpoint_id
          and (lease_token is null or next_attempt_at <= $1)
        limit ${MAX_CANCELLED} for update skip locked) x
      where not e.is_open limit ${MAX_CANCELLED}) x
    where d.workspace_id = x.workspace_id and d.id = x.id
  ), candidate as (
    select d.*, e.url, e.secrets,
      e.busy + row_number() over (partition by d.workspace_id, d.endpoint_id order by d.due_at, d.id) as turn
    from (select * from endpoint where is_open and room > 0 and due_at <= $1 order by busy, due_at limit $2) e
    cross join lateral (
      select workspace_id, endpoint_id, id, next_attempt_at as due_at from deliveries
      where status = 'pending' and workspace_id = e.workspace_id and endpoint_id = e.endpoint_id and next_attempt_at <= $1
      order by next_attempt_at, id limit e.room for update skip locked) d
  ), chosen as (
    select * from (select c.*, row_number() over (order by turn, due_at, id) as place from candidate c) c
    where turn = 1 or place <= $7
    order by place limit $2
  ), claimed as (
    update deliveries d set next_attempt_at = $5, lease_token = $6
    from chosen c where d.workspace_id = c.workspace_id and d.id = c.id
    returning d.workspace_id, d.id, d.endpoint_id, d.attempts, d.event_seq, d.previous_seq, c.due_at, c.url, c.secrets
  )
  select c.*, e.id as event_id, e.type, e.body, e.created_at as event_created_at
  from claimed c join events e on e.workspace_id = c.workspace_id and e.seq = c.event_seq
  order by c.due_at, c.id`;

/**
 * Claims deliveries that are due and cancels those whose endpoint takes none any more. One statement. Endpoints take turns, those with
 * the fewest attempts under way first, and within one the longest due first; the last places go only to endpoints with none under way,
 * so that receivers that hang cannot hold them all.
 */
export async function claimDue(database: Queryable, options: ClaimOptions): Promise<ClaimedDelivery[]> {
  const { limit, shared = limit, perEndpoint, inFlight, leaseMs, now } = options;
  const leaseToken = options.newToken();
  const busy = [...inFlight].map(([endpointId, attempts]) => ({ endpoint_id: endpointId, attempts }));
  const leaseEnds = new Date(now.getTime() + leaseMs);
  const rows = await database.query<ClaimedRow>(claimText, [now, limit, perEndpoint, JSON.stringify(busy), leaseEnds, leaseToken, shared]);
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    id: row.id,
    leaseToken,
    dueAt: row.due_at,
    attempts: row.attempts,
    eventSeq: Number(row.event_seq),
    previousSeq: row.previous_seq === null ? null : Number(row.previous_seq),
    event: { id: row.event_id, type: row.type, body: row.body, createdAt: row.event_created_at },
    endpoint: { id: row.endpoint_id, url: row.url, secrets: readSecrets(row.secrets) },
  }));
}

/**
 * Makes every claimed delivery due again, at the start of a process that has the database to itself: whoever claimed them is gone, and
 * their leases need not be waited for. Reads what is pending, through the index deliveries_due.
 */
export async function releaseLeases(database: Queryable, now: Date): Promise<number> {
  const rows = await database.query(
    `update deliveries set next_attempt_at = $1, lease_token = null where status = 'pending' and lease_token is not null returning 1`,
    [now],
  );
  return rows.length;
}

/** What came of one attempt. */
export interface DeliveryResult {
  readonly workspaceId: Uuid;
  readonly deliveryId: Uuid;
  readonly leaseToken: Uuid;
  readonly status: 'pending' | 'succeeded' | 'failed';
  /** Set when and only when the delivery is still pending. */
  readonly nextAttemptAt: Date | null;
  readonly startedAt: Date;
  readonly endedAt: Date;
  /** Null when no answer arrived; then `error` says why. */
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly responseBody: string | null;
}

/**
 * Writes results back, attempt and status in one statement by primary key. A result whose lease was lost (another worker has claimed the
 * delivery, or it is no longer pending) writes neither. Returns how many were written.
 */
export async function recordResults(database: Queryable, results: readonly DeliveryResult[]): Promise<number> {
  if (results.length === 0) return 0;
  const rows = results.map((result) => ({
    workspace_id: result.workspaceId,
    delivery_id: result.deliveryId,
    lease_token: result.leaseToken,
    status: result.status,
    next_attempt_at: result.nextAttemptAt,
    completed_at: result.status === 'pending' ? null : result.endedAt,
    started_at: result.startedAt,
    duration_ms: Math.max(0, result.endedAt.getTime() - result.startedAt.getTime()),
    status_code: result.statusCode,
    error: result.error,
    response_body: result.responseBody,
  }));
  const written = await database.query<{ delivery_id: Uuid }>(
    `with result as materialized (
       select * from json_to_recordset($1) as r(
         workspace_id uuid, delivery_id uuid, lease_token uuid, status text, next_attempt_at timestamptz(3), completed_at timestamptz(3),
         started_at timestamptz(3), duration_ms integer, status_code smallint, error text, response_body text)
     ), settled as (
       update deliveries d
       set status = r.status, attempts = d.attempts + 1, next_attempt_at = r.next_attempt_at, lease_token = null, completed_at = r.completed_at
       from result r
       where d.workspace_id = r.workspace_id and d.id = r.delivery_id and d.lease_token = r.lease_token and d.status = 'pending'
       returning d.workspace_id, d.id, d.attempts
     )
     insert into delivery_attempts (workspace_id, delivery_id, number, started_at, duration_ms, status_code, error, response_body)
     select s.workspace_id, s.id, s.attempts, r.started_at, r.duration_ms, r.status_code, r.error, r.response_body
     from settled s join result r on r.workspace_id = s.workspace_id and r.delivery_id = s.id
     returning delivery_id`,
    [JSON.stringify(rows)],
  );
  return written.length;
}
