// Turns new events into deliveries, one per endpoint that asked for the event: every event once, in the order of its sequence.
// Never touches a workspace's head, and sends nothing.

import { defaultEventTypes, type EventType } from '../domain/event.ts';
import type { Uuid } from '../domain/ids.ts';
import type { EndpointOrdering } from '../domain/webhook-endpoint.ts';
import { defineSentRows } from './column-encoding.ts';
import type { Database, Queryable } from './database.ts';

/** Workspaces of one pass, which is one transaction. */
const MAX_WORKSPACES = 32;
/** Deliveries of one pass. Workspaces take turns, an event each; one that would go beyond it waits for the next pass, unless it is the first. */
const MAX_DELIVERIES = 2_000;

export interface FanOutOptions {
  /** The workspaces to look at; null looks at all, which reads every head and is meant for the safety net. */
  readonly workspaceIds: readonly Uuid[] | null;
  /** How many events a pass reads. */
  readonly limit: number;
  readonly newId: () => Uuid;
  readonly now: Date;
}

export interface FanOutResult {
  readonly events: number;
  readonly deliveries: number;
  /** Workspaces that may have more: the pass was full, or another worker was at them. */
  readonly unfinished: readonly Uuid[];
  /** Whether looking at all workspaces found as many as a pass takes, so that there may be others. */
  readonly more: boolean;
}

interface Behind {
  workspace_id: Uuid;
  is_new: boolean;
}

interface FreshEvent {
  workspace_id: Uuid;
  seq: bigint;
  type: EventType;
  project_id: Uuid | null;
}

interface Subscriber {
  workspace_id: Uuid;
  id: Uuid;
  event_types: EventType[] | null;
  ordering: EndpointOrdering;
  after_seq: bigint;
  position: bigint | null;
}

/**
 * One bounded pass. Sequence numbers are gapless and become visible in order, so whatever lies after a workspace's cursor is new and
 * nothing is missed. The cursor's row lock lets one worker at a time at a workspace; the others pass it by.
 */
export async function fanOut(database: Database, { workspaceIds, limit, newId, now }: FanOutOptions): Promise<FanOutResult> {
  const behind = await findBehind(database, workspaceIds);
  const found = behind.map((row) => row.workspace_id);
  if (found.length === 0) return { events: 0, deliveries: 0, unfinished: [], more: false };
  const quota = Math.max(1, Math.floor(limit / found.length));
  return database.transaction(async (transaction) => {
    // What a crash of the database loses of it is fanned out again; nobody has to wait for the disk.
    transaction.query(`select set_config('synchronous_commit', 'off', true)`).catch(() => undefined);
    const held = new Set(await lockCursors(transaction, behind));
    const locked = found.filter((id) => held.has(id));
    // Sent together and run in this order: an endpoint that was committed before an event is then certainly seen.
    const [events, subscribers] = await Promise.all([readEvents(transaction, locked, quota), readSubscribers(transaction, locked)]);
    const plan = match(inTurn(events, locked), subscribers, newId, now);
    // Not awaited, so that COMMIT travels with it; its failure fails the whole.
    write(transaction, plan).catch(() => undefined);
    const counts = Map.groupBy(events, (event) => event.workspace_id);
    const finished = locked.filter((id) => !plan.left.has(id) && (counts.get(id)?.length ?? 0) < quota);
    return {
      events: plan.events,
      deliveries: plan.deliveries.length,
      unfinished: found.filter((id) => !finished.includes(id)),
      more: workspaceIds === null && found.length === MAX_WORKSPACES,
    };
  });
}

/** Events up to this one are nobody's: every endpoint that takes webhooks asked for later ones only. Null without such an endpoint. */
export const floorText = `
  select w.workspace_id, min(w.after_seq) as floor from webhook_endpoints w
  where w.status = 'enabled' and w.deleted_at is null`;

/**
 * Heads are read without a lock, and only of workspaces that have somebody to send to: the others cost nothing, and their cursors stay
 * where they are. Given ids: primary key look-ups. Without: a scan of the endpoints. The random order keeps workers off each other's
 * workspaces and a busy workspace from being first every time.
 */
async function findBehind(database: Queryable, workspaceIds: readonly Uuid[] | null): Promise<Behind[]> {
  const rows = await database.query<Behind>(
    `select h.workspace_id, c.seq is null as is_new
     from (${floorText} ${workspaceIds === null ? '' : 'and w.workspace_id = any($2::uuid[])'} group by w.workspace_id) f
     join workspace_heads h on h.workspace_id = f.workspace_id
     left join webhook_cursors c on c.workspace_id = f.workspace_id
     where h.event_seq > greatest(c.seq, f.floor)
     order by random() limit $1`,
    workspaceIds === null ? [MAX_WORKSPACES] : [MAX_WORKSPACES, workspaceIds],
  );
  return rows;
}

/** Locks the cursors by primary key and returns the workspaces of those that no other worker holds. */
async function lockCursors(transaction: Queryable, behind: readonly Behind[]): Promise<Uuid[]> {
  const fresh = behind.filter((row) => row.is_new).map((row) => row.workspace_id);
  if (fresh.length > 0) {
    // In id order: two workers that insert the same rows wait for each other in one direction only.
    await transaction.query(
      'insert into webhook_cursors (workspace_id, seq) select id, 0 from unnest($1::uuid[]) as id order by id on conflict do nothing',
      [fresh],
    );
  }
  const rows = await transaction.query<{ workspace_id: Uuid }>(
    'select workspace_id from webhook_cursors where workspace_id = any($1::uuid[]) order by workspace_id for update skip locked',
    [behind.map((row) => row.workspace_id)],
  );
  return rows.map((row) => row.workspace_id);
}

/** The next events of each workspace, a primary key range each. The cursor is read anew: it may have moved before it was locked. */
function readEvents(transaction: Queryable, workspaceIds: readonly Uuid[], quota: number): Promise<FreshEvent[]> {
  return transaction.query<FreshEvent>(
    `select c.workspace_id, e.seq, e.type, e.project_id
     from webhook_cursors c
     left join lateral (${floorText} and w.workspace_id = c.workspace_id group by w.workspace_id) f on true
     cross join lateral (
       select seq, type, project_id from events where workspace_id = c.workspace_id and seq > greatest(c.seq, f.floor) order by seq limit $2
     ) e
     where c.workspace_id = any($1::uuid[])
     order by c.workspace_id, e.seq`,
    [workspaceIds, quota],
  );
}

/** The endpoints that take webhooks, by primary key prefix, each with the sequence number it was last given. */
function readSubscribers(transaction: Queryable, workspaceIds: readonly Uuid[]): Promise<Subscriber[]> {
  return transaction.query<Subscriber>(
    `select w.workspace_id, w.id, w.event_types, w.ordering, w.after_seq, p.seq as position
     from webhook_endpoints w
     left join webhook_positions p on p.workspace_id = w.workspace_id and p.endpoint_id = w.id
     where w.workspace_id = any($1::uuid[]) and w.status = 'enabled' and w.deleted_at is null
     order by w.workspace_id, w.id`,
    [workspaceIds],
  );
}

interface NewDelivery {
  readonly workspace_id: Uuid;
  readonly id: Uuid;
  readonly endpoint_id: Uuid;
  readonly event_seq: bigint;
  readonly previous_seq: bigint | null;
  readonly order_key: Uuid | null;
  readonly created_at: Date;
}

interface Position {
  readonly workspace_id: Uuid;
  readonly endpoint_id: Uuid;
  readonly seq: bigint;
}

type Cursor = Omit<Position, 'endpoint_id'>;

interface Plan {
  readonly deliveries: readonly NewDelivery[];
  readonly positions: readonly Position[];
  readonly cursors: readonly Cursor[];
  readonly events: number;
  /** Workspaces of which events were left for the next pass. */
  readonly left: ReadonlySet<Uuid>;
}

/** The first event of each workspace, then the second of each, and so on: no backlog is worked off before another has begun. */
function inTurn(events: readonly FreshEvent[], workspaceIds: readonly Uuid[]): FreshEvent[] {
  const queues = Map.groupBy(events, (event) => event.workspace_id);
  const turns: FreshEvent[] = [];
  for (let nth = 0; turns.length < events.length; nth += 1) {
    for (const id of workspaceIds) {
      const event = queues.get(id)?.[nth];
      if (event !== undefined) turns.push(event);
    }
  }
  return turns;
}

/** Pairs events with those who asked for them. */
function match(events: readonly FreshEvent[], subscribers: readonly Subscriber[], newId: () => Uuid, now: Date): Plan {
  const defaults: readonly EventType[] = defaultEventTypes;
  const byWorkspace = Map.groupBy(subscribers, (subscriber) => subscriber.workspace_id);
  const positions = new Map<Subscriber, bigint>();
  const cursors = new Map<Uuid, bigint>();
  const deliveries: NewDelivery[] = [];
  const left = new Set<Uuid>();
  let handled = 0;
  for (const event of events) {
    // A cursor passes over nothing: once one event of a workspace waits, those after it do.
    if (left.has(event.workspace_id)) continue;
    const takers = (byWorkspace.get(event.workspace_id) ?? []).filter(
      (subscriber) => subscriber.after_seq < event.seq && (subscriber.event_types ?? defaults).includes(event.type),
    );
    if (handled > 0 && deliveries.length + takers.length > MAX_DELIVERIES) {
      left.add(event.workspace_id);
      continue;
    }
    for (const taker of takers) {
      const previous = positions.get(taker) ?? taker.position;
      deliveries.push({
        workspace_id: event.workspace_id,
        id: newId(),
        endpoint_id: taker.id,
        event_seq: event.seq,
        previous_seq: previous,
        // What belongs to no project is in order among itself.
        order_key: taker.ordering === 'project' ? (event.project_id ?? event.workspace_id) : null,
        created_at: now,
      });
      positions.set(taker, event.seq);
    }
    cursors.set(event.workspace_id, event.seq);
    handled += 1;
  }
  return {
    deliveries,
    positions: [...positions].map(([taker, seq]) => ({ workspace_id: taker.workspace_id, endpoint_id: taker.id, seq })),
    cursors: [...cursors].map(([workspaceId, seq]) => ({ workspace_id: workspaceId, seq })),
    events: handled,
    left,
  };
}

const sentDeliveries = defineSentRows<NewDelivery>({
  workspace_id: 'uuid',
  id: 'uuid',
  endpoint_id: 'uuid',
  event_seq: 'bigint',
  previous_seq: 'bigint',
  order_key: 'uuid',
  created_at: 'timestamptz(3)',
});
const sentPositions = defineSentRows<Position>({ workspace_id: 'uuid', endpoint_id: 'uuid', seq: 'bigint' });
const sentCursors = defineSentRows<Cursor>({ workspace_id: 'uuid', seq: 'bigint' });

/** One statement for the three tables. The unique index on (workspace, endpoint, event) is the last line against a second delivery. */
async function write(transaction: Queryable, plan: Plan): Promise<void> {
  if (plan.events === 0) return;
  await transaction.query(
    `with delivered as (
       insert into deliveries (workspace_id, id, endpoint_id, event_seq, previous_seq, order_key, status, next_attempt_at, created_at)
       select r.workspace_id, r.id, r.endpoint_id, r.event_seq, r.previous_seq, r.order_key, 'pending', r.created_at, r.created_at
       from ${sentDeliveries.from(1)} r
       on conflict (workspace_id, endpoint_id, event_seq) do nothing
     ), positioned as (
       insert into webhook_positions (workspace_id, endpoint_id, seq)
       select r.workspace_id, r.endpoint_id, r.seq from ${sentPositions.from(8)} r
       on conflict (workspace_id, endpoint_id) do update set seq = excluded.seq
     )
     update webhook_cursors c set seq = r.seq from ${sentCursors.from(11)} r
     where c.workspace_id = r.workspace_id`,
    [...sentDeliveries.parameters(plan.deliveries), ...sentPositions.parameters(plan.positions), ...sentCursors.parameters(plan.cursors)],
  );
}
