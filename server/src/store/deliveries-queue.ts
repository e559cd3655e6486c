// The deliveries as a queue: claiming what is due under a lease, and cancelling what waits for endpoints that are closed.
// Decides nothing about caps, shares or the breaker: it is handed how many each endpoint is given. Results are in delivery-results.ts.

import { type EndpointFlow, type EndpointHealth, healthAtClaim, paceMs, paidFrom, roomOf } from '../domain/endpoint-flow.ts';
import type { EventType } from '../domain/event.ts';
import type { Uuid } from '../domain/ids.ts';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import { defineSentRows } from './column-encoding.ts';
import type { Database } from './database.ts';
import { type Head, isHead, ORDER } from './deliveries-in-order.ts';
import { freeCondition, orderedCondition } from './deliveries-waiting.ts';
import {
  type EndpointKey,
  type FlowingEndpoint,
  type HealthRow,
  healthRow,
  healthRowTypes,
  lockFlows,
  setHealth,
} from './endpoint-flows.ts';
import { QUEUE_PLANS } from './planner.ts';
import { readSecrets, readSigningKeys } from './webhook-endpoints.ts';

export interface Grant extends EndpointKey {
  /** Deliveries to claim at most, whatever more there is room for. */
  readonly share: number;
  /**
   * Of its leases, those of this process whose answer has arrived and whose result is not being written yet: they burden the endpoint no
   * more. Whoever says so must not write results meanwhile.
   */
  readonly answered?: number;
  /** Deliveries whose turn it is, of an endpoint that asked for order. They come before others and count in the share. */
  readonly heads?: readonly Head[];
}

export interface ClaimOptions {
  readonly grants: readonly Grant[];
  /** After this time without a result the lease is over: the process that claimed it is taken for dead. */
  readonly leaseMs: number;
  readonly owner: Uuid;
  /** Asked once the flows are locked: what others wrote there is then not from later than the time it is judged by. */
  readonly now: () => Date;
  readonly newToken: () => Uuid;
  /** 0, 1, 2, 3 in turn: which of four places is a repetition's while first attempts wait, too. */
  readonly phase?: number;
}

export interface ClaimedDelivery {
  readonly workspaceId: Uuid;
  readonly id: Uuid;
  readonly leaseToken: Uuid;
  /** Since when it has been due. */
  readonly dueAt: Date;
  /** Attempts made before this one. */
  readonly attempts: number;
  /** Of these, those that count in the schedule: all since the last replay. */
  readonly tries: number;
  readonly eventSeq: number;
  /** The sequence number given to this endpoint before it; null for the first. */
  readonly previousSeq: number | null;
  readonly event: { readonly id: Uuid; readonly type: EventType; readonly body: string; readonly createdAt: Date };
  /** What sending asks of the endpoint. */
  readonly endpoint: Pick<WebhookEndpoint, 'id' | 'url' | 'secrets' | 'signatureSchemes' | 'signingKeys' | 'headers'> & {
    readonly generation: number;
  };
}

interface ClaimedRow {
  workspace_id: Uuid;
  id: Uuid;
  due_at: Date;
  attempts: number;
  tries: number;
  event_seq: bigint;
  previous_seq: bigint | null;
  event_id: Uuid;
  type: EventType;
  body: string;
  event_created_at: Date;
  endpoint_id: Uuid;
  url: string;
  secrets: Parameters<typeof readSecrets>[0];
  signature_schemes: WebhookEndpoint['signatureSchemes'];
  signing_keys: Parameters<typeof readSigningKeys>[0];
  headers: WebhookEndpoint['headers'];
  generation: number;
}

/** While both wait, of so many places one is for a repetition and the others are for first attempts. */
const REPEAT_EVERY = 4;

const freeRows = (condition: string): string =>
  `select workspace_id, endpoint_id, id, is_repeat, next_attempt_at from deliveries
   where ${freeCondition} and workspace_id = r.workspace_id and endpoint_id = r.endpoint_id and ${condition}
   order by next_attempt_at, id limit r.room`;

/** What an endpoint is given under its lock, as a row that is sent. */
interface GrantedRow extends HealthRow {
  readonly room: number;
  readonly paid_from: Date | null;
  readonly pace_us: number | null;
}
const sentGrants = defineSentRows<GrantedRow>({ ...healthRowTypes, room: 'integer', paid_from: 'timestamptz(3)', pace_us: 'integer' });
const GRANTS_FROM = 8;

// The flows are locked, so nobody else claims from these endpoints. Heads are looked at again: since the look an attempt may have begun or
// failed, or an earlier event been sent again. A delivery that somebody else has locked (a command, a step of a repair) is passed by: a claim
// waits for nobody, holding flows, and so can be in no circle of those who wait. Reads the front of the index deliveries_due for each endpoint,
// at most twice its room, and heads of order by primary key and deliveries_in_order.
const claimText = `
  with granted as materialized (
    select * from ${sentGrants.from(GRANTS_FROM)} r
  ), candidate as (
    select d.*, r.room, row_number() over (partition by d.workspace_id, d.endpoint_id, d.is_repeat order by d.next_attempt_at, d.id) as nth
    from granted r cross join lateral (
      select * from (${freeRows('is_repeat = false')}) f
      union all
      select * from (${freeRows('is_repeat = true and next_attempt_at <= $2')}) a
    ) d
  ), chosen as (
    select workspace_id, id, next_attempt_at from (
      select c.*, row_number() over (partition by workspace_id, endpoint_id order by
        case when is_repeat then ${REPEAT_EVERY} * nth - $5::integer else nth * ${REPEAT_EVERY}.0 / ${REPEAT_EVERY - 1} end, is_repeat) as place
      from candidate c) c
    where place <= room
    union all
    select h.workspace_id, h.id, h.next_attempt_at
    from unnest($6::uuid[], $7::uuid[]) as n(workspace_id, id) join deliveries h on h.workspace_id = n.workspace_id and h.id = n.id
    where h.status = 'pending' and h.lease_token is null and ${isHead('$2')}
  ), held as materialized (
    select d.workspace_id, d.id, c.next_attempt_at
    from chosen c join deliveries d on d.workspace_id = c.workspace_id and d.id = c.id
    where d.status = 'pending' and d.lease_token is null and (not d.is_repeat or d.next_attempt_at <= $2)
    for no key update of d skip locked
  ), claimed as (
    update deliveries d set next_attempt_at = $3, lease_token = $1, lease_owner = $4
    from held c where d.workspace_id = c.workspace_id and d.id = c.id
    returning d.workspace_id, d.id, d.endpoint_id, d.attempts, d.tries, d.event_seq, d.previous_seq, c.next_attempt_at as due_at
  ), flowed as (
    update webhook_flows f set in_flight = f.in_flight + n.claimed, ${setHealth},
      paid_until = r.paid_from + ceil(n.claimed * r.pace_us / 1000.0) * interval '1 millisecond'
    from (select workspace_id, endpoint_id, count(*)::integer as claimed from claimed group by workspace_id, endpoint_id) n
    join granted r on r.workspace_id = n.workspace_id and r.endpoint_id = n.endpoint_id
    where f.workspace_id = n.workspace_id and f.endpoint_id = n.endpoint_id
  )
  select c.*, e.id as event_id, e.type, e.body, e.created_at as event_created_at,
    p.url, p.secrets, p.signature_schemes, p.signing_keys, p.headers, p.generation
  from claimed c join events e on e.workspace_id = c.workspace_id and e.seq = c.event_seq
  join webhook_endpoints p on p.workspace_id = c.workspace_id and p.id = c.endpoint_id
  order by c.due_at, c.id`;

export interface Claim {
  readonly deliveries: ClaimedDelivery[];
  /** Endpoints that another worker was at, so that it is worth asking again soon. */
  readonly missed: number;
}

/**
 * Claims what is granted, as far as the endpoints' caps and breakers allow at this moment. One transaction: the flows are locked first and
 * what they say holds until the end, so a cap holds over all processes. It need not survive a crash of the database, which ends every
 * attempt's lease anyway; so its commit waits for no disk.
 */
export async function claimDue(database: Database, options: ClaimOptions): Promise<Claim> {
  const { grants, leaseMs, owner, phase = 0 } = options;
  if (grants.length === 0) return { deliveries: [], missed: 0 };
  const leaseToken = options.newToken();
  const claiming = await database.transaction(async (transaction) => {
    const locking = lockFlows(transaction, grants, 'skip');
    const relaxing = transaction.query(`select set_config('synchronous_commit', 'off', true), ${QUEUE_PLANS}`);
    const [locked] = await Promise.all([locking, relaxing]);
    const now = options.now();
    const byEndpoint = new Map(grants.map((grant) => [grant.endpointId, grant]));
    const heads: { workspaceId: Uuid; id: Uuid }[] = [];
    const granted = locked.flatMap((endpoint) => {
      const { share, answered = 0, heads: turns = [] } = byEndpoint.get(endpoint.flow.endpointId) as Grant;
      const room = Math.min(share, endpoint.isOpen ? roomOf(lessAnswered(endpoint.flow, answered), endpoint.caps, now) : 0);
      if (room <= 0) return [];
      const taken = turns.slice(0, room);
      heads.push(...taken.map(({ id }) => ({ workspaceId: endpoint.flow.workspaceId, id })));
      return [grantedRow(endpoint, healthAtClaim(endpoint.flow.health), room - taken.length, now)];
    });
    const missed = byEndpoint.size - locked.length;
    if (granted.length === 0) return { rows: Promise.resolve([]), missed };
    const leaseEnds = new Date(now.getTime() + leaseMs);
    const turns = [heads.map((head) => head.workspaceId), heads.map((head) => head.id)];
    const parameters = [leaseToken, now, leaseEnds, owner, phase % REPEAT_EVERY, ...turns, ...sentGrants.parameters(granted)];
    // Not awaited, so that COMMIT travels with it; its failure fails the whole.
    const rows = transaction.query<ClaimedRow>(claimText, parameters);
    rows.catch(() => undefined);
    return { rows, missed };
  });
  return { deliveries: (await claiming.rows).map((row) => readClaimed(row, leaseToken)), missed: claiming.missed };
}

function grantedRow(endpoint: FlowingEndpoint, health: EndpointHealth, room: number, now: Date): GrantedRow {
  const perSecond = endpoint.caps.rateLimitPerSecond;
  return {
    ...healthRow(endpoint, health),
    room,
    paid_from: perSecond === null ? null : paidFrom(endpoint.flow.paidUntil, perSecond, now),
    pace_us: perSecond === null ? null : Math.floor(1000 * paceMs(perSecond)),
  };
}

function readClaimed(row: ClaimedRow, leaseToken: Uuid): ClaimedDelivery {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    leaseToken,
    dueAt: row.due_at,
    attempts: row.attempts,
    tries: row.tries,
    eventSeq: Number(row.event_seq),
    previousSeq: row.previous_seq === null ? null : Number(row.previous_seq),
    event: { id: row.event_id, type: row.type, body: row.body, createdAt: row.event_created_at },
    endpoint: {
      id: row.endpoint_id,
      url: row.url,
      secrets: readSecrets(row.secrets),
      signatureSchemes: row.signature_schemes,
      signingKeys: readSigningKeys(row.signing_keys),
      headers: row.headers,
      generation: row.generation,
    },
  };
}

/** The flow without leases whose attempts are over. */
export const lessAnswered = (flow: EndpointFlow, answered: number): EndpointFlow => ({ ...flow, inFlight: flow.inFlight - answered });

/** Deliveries of one endpoint that one statement cancels; the next pass goes on. */
const MAX_CANCELLED = 1_000;

const pendingOf = (condition: string, order: string): string =>
  `select workspace_id, id from deliveries where ${condition} and lease_token is null and workspace_id = n.workspace_id
   and endpoint_id = n.endpoint_id order by ${order} limit ${MAX_CANCELLED} for update skip locked`;

// Through deliveries_due and deliveries_in_order; endpoints by primary key, since one may have been enabled again since it was looked at. What
// is under way ends first, and its result says whether it is done.
const cancelText = `
  update deliveries d set status = 'cancelled', next_attempt_at = null, completed_at = $3
  from unnest($1::uuid[], $2::uuid[]) as n(workspace_id, endpoint_id)
  join webhook_endpoints e on e.workspace_id = n.workspace_id and e.id = n.endpoint_id and (e.status <> 'enabled' or e.deleted_at is not null)
  cross join lateral (
    select * from (${pendingOf(freeCondition, 'is_repeat, next_attempt_at, id')}) f
    union all select * from (${pendingOf(orderedCondition, ORDER)}) o) x
  where d.workspace_id = x.workspace_id and d.id = x.id returning 1`;

/** Cancels what waits for endpoints that take none any more. Returns how many. */
export async function cancelWaiting(database: Database, endpoints: readonly EndpointKey[], now: Date): Promise<number> {
  if (endpoints.length === 0) return 0;
  const keys = [endpoints.map((endpoint) => endpoint.workspaceId), endpoints.map((endpoint) => endpoint.endpointId)];
  return database.transaction(async (transaction) => {
    transaction.query(`select ${QUEUE_PLANS}`).catch(() => undefined);
    return (await transaction.query(cancelText, [...keys, now])).length;
  });
}
