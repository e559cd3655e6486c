// The steps of repairs: each looks at a bounded number of deliveries or events in their order and changes those that match.
// Sends nothing: what is made due here is claimed like everything else, after first attempts.

import { defaultEventTypes } from '../domain/event.ts';
import type { Uuid } from '../domain/ids.ts';
import type { RepairFilter, RepairProgress, WebhookRepair } from '../domain/webhook-repair.ts';
import type { Queryable } from './database.ts';
import { CLOCK_SLACK_MS, firstIdOf } from './lists.ts';

/** Deliveries or events that a step looks at: some ten milliseconds of the database. */
export const STEP_ROWS = 1_000;

/**
 * What sending again does to a row `d`, at `$now`, or at the database's time where whoever asks has a clock that is ahead of it. While an attempt is under way its row is left to it, and the wish is noted. `tries` counts
 * for the schedule, so it begins anew; as a repetition it waits behind first attempts.
 */
export const replayAssignments = (now: string, orderKey: string): string => `
  status = 'pending', completed_at = null, is_repeat = true,
  asked = case when d.lease_token is null then null else 'replay' end,
  next_attempt_at = case when d.lease_token is null then least(${now}::timestamptz(3), clock_timestamp()) else d.next_attempt_at end,
  tries = case when d.lease_token is null then 0 else d.tries end,
  lost_leases = case when d.lease_token is null then 0 else d.lost_leases end,
  order_key = case when d.lease_token is null then ${orderKey} else d.order_key end`;

/** What cancelling does to a row `d` that is pending. */
export const cancelAssignments = (now: string): string => `
  asked = case when d.lease_token is null then null else 'cancel' end,
  status = case when d.lease_token is null then 'cancelled' else d.status end,
  next_attempt_at = case when d.lease_token is null then null else d.next_attempt_at end,
  completed_at = case when d.lease_token is null then ${now}::timestamptz(3) end`;

/** The key of an endpoint `w` that asked for order, of an event `e`: what belongs to no project is in order among itself. */
export const orderKeyOf = `case when w.ordering = 'project' then coalesce(e.project_id, e.workspace_id) end`;

type Step = Pick<WebhookRepair, keyof RepairFilter | 'workspaceId' | 'id' | 'dryRun' | 'throughSeq'>;

interface StepRow {
  scanned: number;
  matched: number;
  changed: number;
  last: Uuid | null;
}

// Along deliveries_by_endpoint, deliveries_failed or the primary key; events and endpoints by primary key; rows locked in id order.
function walkText({ action, endpointId, statuses, dryRun }: Step): string {
  const within = endpointId === null ? '$4::uuid is null' : 'd.endpoint_id = $4';
  const failedOnly = statuses.length === 1 && statuses[0] === 'failed' ? `and d.status = 'failed'` : '';
  const takes = action === 'cancel' ? 'true' : `w.status = 'enabled' and w.deleted_at is null`;
  const assignments = action === 'cancel' ? cancelAssignments('$10') : replayAssignments('$10', 'm.order_key');
  return `
    with scanned as materialized (
      select d.workspace_id, d.id, d.endpoint_id, d.event_seq, d.status from deliveries d
      where d.workspace_id = $1 and ${within} and d.id > $2 and d.id < $3 ${failedOnly} order by d.id limit ${STEP_ROWS}
    ), matched as materialized (
      select s.workspace_id, s.id, s.status, ${orderKeyOf} as order_key from scanned s
      join events e on e.workspace_id = s.workspace_id and e.seq = s.event_seq
      join webhook_endpoints w on w.workspace_id = s.workspace_id and w.id = s.endpoint_id
      where s.status = any($5) and ($6::text[] is null or e.type = any($6)) and ($7::uuid is null or e.project_id = $7)
        and ($8::timestamptz is null or e.created_at >= $8) and ($9::timestamptz is null or e.created_at < $9) and ${takes}
    )${
      dryRun
        ? ''
        : `, locked as (
      select d.workspace_id, d.id, m.order_key from matched m
      join deliveries d on d.workspace_id = m.workspace_id and d.id = m.id where d.status = m.status order by d.id for no key update of d
    ), changed as (
      update deliveries d set ${assignments}
      from locked m where d.workspace_id = m.workspace_id and d.id = m.id returning 1
    )`
    }
    select (select count(*)::integer from scanned) as scanned, (select count(*)::integer from matched) as matched,
      ${dryRun ? '0' : '(select count(*)::integer from changed)'} as changed,
      (select id from scanned order by id desc limit 1) as last`;
}

const NIL: Uuid = '00000000-0000-0000-0000-000000000000';

/** Deliveries by id, oldest first, up to those that were made after the repair itself: what it sends again is never met twice. */
async function walkDeliveries(transaction: Queryable, step: Step, before: RepairProgress, now: Date): Promise<RepairProgress> {
  const begin = step.since === null ? NIL : firstIdOf(step.since.getTime() - CLOCK_SLACK_MS);
  const [row] = await transaction.query<StepRow>(walkText(step), [
    step.workspaceId,
    before.atDelivery ?? begin,
    step.id,
    step.endpointId,
    step.statuses,
    step.eventTypes,
    step.projectId,
    step.since,
    step.until,
    ...(step.dryRun ? [] : [now]),
  ]);
  const { scanned, matched, changed, last } = row as StepRow;
  return {
    matched: before.matched + matched,
    changed: before.changed + changed,
    atDelivery: last ?? before.atDelivery,
    atSeq: null,
    isDone: scanned < STEP_ROWS,
  };
}

// Events along the primary key; deliveries by the unique index on (workspace, endpoint, event), which is also what makes a second one
// impossible. Those it has are locked in id order. `previous_seq` is the event before it that the endpoint has, or gets here.
const wantedText = `
  scanned as materialized (
    select e.workspace_id, e.seq, e.type, e.project_id, e.created_at from events e
    where e.workspace_id = $1 and e.seq > $2 and e.seq <= $3 order by e.seq limit ${STEP_ROWS}
  ), wanted as materialized (
    select e.seq, ${orderKeyOf} as order_key, d.id as delivery_id, d.status
    from scanned e join webhook_endpoints w on w.workspace_id = $1 and w.id = $4
    left join deliveries d on d.workspace_id = $1 and d.endpoint_id = $4 and d.event_seq = e.seq
    where e.type = any(coalesce(w.event_types, $5)) and ($6::text[] is null or e.type = any($6)) and ($7::uuid is null or e.project_id = $7)
      and ($8::timestamptz is null or e.created_at < $8)
  ), missing as (
    select * from wanted where delivery_id is null or status in ('failed', 'cancelled')
  )`;
const counts = `select (select count(*)::integer from scanned) as scanned, (select count(*)::integer from missing) as matched`;

const countRecoverText = `with ${wantedText} ${counts}, 0 as changed`;
const recoverText = `
  with ${wantedText}, locked as (
    select d.workspace_id, d.id, m.order_key from missing m join deliveries d on d.workspace_id = $1 and d.id = m.delivery_id
    where d.status in ('failed', 'cancelled') order by d.id for no key update of d
  ), again as (
    update deliveries d set ${replayAssignments('$9', 'm.order_key')}
    from locked m where d.workspace_id = m.workspace_id and d.id = m.id returning 1
  ), before as (
    select w.seq, greatest(lag(w.seq) over (order by w.seq),
      (select d.event_seq from deliveries d where d.workspace_id = $1 and d.endpoint_id = $4 and d.event_seq < w.seq order by d.event_seq desc limit 1)
    ) as previous_seq
    from wanted w
  ), added as (
    insert into deliveries (workspace_id, id, endpoint_id, event_seq, previous_seq, status, is_repeat, next_attempt_at, created_at, order_key)
    select $1, n.id, $4, m.seq, b.previous_seq, 'pending', true, $9, $9, m.order_key
    from (select *, row_number() over (order by seq) as place from missing where delivery_id is null) m
    join unnest($10::uuid[]) with ordinality as n(id, place) on n.place = m.place
    join before b on b.seq = m.seq
    on conflict (workspace_id, endpoint_id, event_seq) do nothing returning 1
  )
  ${counts}, (select count(*)::integer from again) + (select count(*)::integer from added) as changed`;

/** Events by sequence, oldest first, up to the last one there was when the repair was asked for. */
async function walkEvents(
  transaction: Queryable,
  step: Step,
  before: RepairProgress,
  now: Date,
  newId: () => Uuid,
): Promise<RepairProgress> {
  const from = before.atSeq ?? (await seqBefore(transaction, step.workspaceId, step.since ?? new Date(0), step.throughSeq));
  const parameters = [
    step.workspaceId,
    from,
    step.throughSeq,
    step.endpointId,
    defaultEventTypes,
    step.eventTypes,
    step.projectId,
    step.until,
  ];
  const room = Math.min(STEP_ROWS, Math.max(0, step.throughSeq - from));
  const [row] = await transaction.query<StepRow>(
    step.dryRun ? countRecoverText : recoverText,
    step.dryRun ? parameters : [...parameters, now, Array.from({ length: room }, newId)],
  );
  const { scanned, matched, changed } = row as StepRow;
  const atSeq = from + scanned;
  return {
    matched: before.matched + matched,
    changed: before.changed + changed,
    atDelivery: null,
    atSeq,
    isDone: atSeq >= step.throughSeq || scanned === 0,
  };
}

/** Times never fall along the sequence, which has no gap: the place is found by halving. At most 53 look-ups by primary key. */
async function seqBefore(queryable: Queryable, workspaceId: Uuid, since: Date, throughSeq: number): Promise<number> {
  let [low, high] = [0, throughSeq];
  while (low < high) {
    const middle = Math.floor((low + high) / 2) + 1;
    const [row] = await queryable.query<{ created_at: Date }>('select created_at from events where workspace_id = $1 and seq = $2', [
      workspaceId,
      middle,
    ]);
    if (row === undefined || row.created_at >= since) high = middle - 1;
    else low = middle;
  }
  return low;
}

/** Takes one step. With `dryRun` it counts and changes nothing. */
export function takeStep(
  transaction: Queryable,
  step: Step,
  before: RepairProgress,
  now: Date,
  newId: () => Uuid,
): Promise<RepairProgress> {
  return step.action === 'recover' ? walkEvents(transaction, step, before, now, newId) : walkDeliveries(transaction, step, before, now);
}

/** Why an endpoint cannot be sent to at this moment, in words for people; null when it can. Primary key. */
export async function closedReason(queryable: Queryable, workspaceId: Uuid, endpointId: Uuid): Promise<string | null> {
  const [row] = await queryable.query<{ status: string; deleted_at: Date | null }>(
    'select status, deleted_at from webhook_endpoints where workspace_id = $1 and id = $2',
    [workspaceId, endpointId],
  );
  if (row === undefined || row.deleted_at !== null) return 'The webhook endpoint was deleted.';
  return row.status === 'enabled' ? null : 'The webhook endpoint was disabled.';
}
