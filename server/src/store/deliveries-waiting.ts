// Which endpoints have something to send, and when the next moment is at which one has: the first look of every pass.
// Reads only, without a lock, and costs a look-up for each endpoint, whatever waits for it.

import type { Queryable } from './database.ts';
import { ORDER } from './deliveries-in-order.ts';
import { type FlowingEndpoint, type FlowRow, flowColumns, readFlow } from './endpoint-flows.ts';

/** An endpoint with something to send, or one that is closed and whose deliveries are to be cancelled. */
export interface WaitingEndpoint extends FlowingEndpoint {
  /** Since when its first delivery that needs no order has been due; null when none is. */
  readonly dueAt: Date | null;
  /** Whether it has deliveries that wait for their turn. */
  readonly hasOrdered: boolean;
}

// Leaps from endpoint to endpoint along an index, one look-up each, so that an endpoint with a million deliveries costs as much as one
// with a single one. The first row of an endpoint says all: first attempts come first in the index, and they are due whatever the clock
// says; otherwise it is the repetition that is due next.
const leap = (name: string, condition: string, order: string): string => `
  ${name} as (
    (select workspace_id, endpoint_id, is_repeat, next_attempt_at from deliveries where ${condition} order by ${order} limit 1)
    union all
    select n.* from ${name} w cross join lateral (
      select workspace_id, endpoint_id, is_repeat, next_attempt_at from deliveries
      where ${condition} and (workspace_id, endpoint_id) > (w.workspace_id, w.endpoint_id) order by ${order} limit 1) n
  )`;

export const freeCondition = `status = 'pending' and lease_token is null and order_key is null`;
const freeOrder = 'workspace_id, endpoint_id, is_repeat, next_attempt_at, id';
export const orderedCondition = `status = 'pending' and order_key is not null`;

// Indexes deliveries_due and deliveries_in_order; then primary keys.
const waitingText = `
  with recursive ${leap('free', freeCondition, freeOrder)},
  ${leap('ordered', orderedCondition, `workspace_id, endpoint_id, ${ORDER}`)}
  select ${flowColumns}, w.due_at, w.has_ordered, n.next_due_at
  from (select min(next_attempt_at) filter (where is_repeat and next_attempt_at > $1) as next_due_at from free) n left join ((
    select workspace_id, endpoint_id, min(due_at) as due_at, bool_or(has_ordered) as has_ordered
    from (
      select workspace_id, endpoint_id, case when not is_repeat or next_attempt_at <= $1 then next_attempt_at end as due_at, false as has_ordered from free
      union all
      select workspace_id, endpoint_id, null, true from ordered
    ) x group by workspace_id, endpoint_id
  ) w
  join webhook_flows f on f.workspace_id = w.workspace_id and f.endpoint_id = w.endpoint_id
  join webhook_endpoints e on e.workspace_id = w.workspace_id and e.id = w.endpoint_id)
  on w.due_at is not null or w.has_ordered or e.status <> 'enabled' or e.deleted_at is not null`;

interface WaitingRow extends FlowRow {
  due_at: Date | null;
  has_ordered: boolean;
  next_due_at: Date | null;
}

export interface Waiting {
  readonly endpoints: readonly WaitingEndpoint[];
  /** When the next of those is due that need no order and wait for a later attempt; null when none is found. */
  readonly nextDueAt: Date | null;
}

/** Every endpoint that has something due, or perhaps has. One statement, without a lock; it returns a row though there be no endpoint. */
export async function findWaiting(queryable: Queryable, now: Date): Promise<Waiting> {
  const rows = await queryable.query<WaitingRow>(waitingText, [now]);
  const endpoints = rows
    .filter((row) => row.endpoint_id !== null)
    .map((row) => ({ ...readFlow(row), dueAt: row.due_at, hasOrdered: row.has_ordered }));
  return { endpoints, nextDueAt: rows[0]?.next_due_at ?? null };
}
