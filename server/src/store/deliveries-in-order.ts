// The deliveries of endpoints that asked for order: of each project, the one whose turn it is.
// Reads only. The turn is derived from what is pending and under way, every time, so there is no state of it that could be wrong.

import type { Uuid } from '../domain/ids.ts';
import type { Database } from './database.ts';
import type { EndpointKey } from './endpoint-flows.ts';
import { QUEUE_PLANS } from './planner.ts';

/** Projects of one endpoint that one look passes; the next look goes on after them. */
const MAX_LOOKED_AT = 500;

/** The earliest pending delivery of a project, when it may be claimed: nothing of the project is under way, and it is due. */
export interface Head {
  readonly id: Uuid;
  readonly isRepeat: boolean;
  readonly dueAt: Date;
}

export interface Heads extends EndpointKey {
  readonly heads: readonly Head[];
  /** When the next of those is due that wait for a later attempt; null when none does. */
  readonly nextDueAt: Date | null;
  /** Where the next look goes on; null when this one came to the end. */
  readonly next: Uuid | null;
}

interface HeadRow {
  endpoint_id: Uuid;
  order_key: Uuid;
  id: Uuid;
  is_repeat: boolean;
  next_attempt_at: Date;
  is_leased: boolean;
}

/**
 * The order of the index deliveries_in_order within an endpoint: by project, and in it what is under way before the others. That need not be
 * the earliest pending one: an earlier event may have been sent again since.
 */
export const ORDER = 'order_key, (lease_token is null), event_seq';

const columns = 'order_key, id, is_repeat, next_attempt_at, lease_token is not null as is_leased';
const from = (after: string): string => `deliveries
  where status = 'pending' and order_key is not null and workspace_id = n.workspace_id and endpoint_id = n.endpoint_id and order_key > ${after}
  order by ${ORDER} limit 1`;

/** Whether a row `h` is the one whose turn it is at `now`, unless it is under way itself. One look-up of the index deliveries_in_order. */
export const isHead = (now: string): string => `(not h.is_repeat or h.next_attempt_at <= ${now}) and h.id = (
  select x.id from deliveries x where x.status = 'pending' and x.order_key is not null
    and x.workspace_id = h.workspace_id and x.endpoint_id = h.endpoint_id and x.order_key = h.order_key
  order by x.workspace_id, x.endpoint_id, x.order_key, (x.lease_token is null), x.event_seq limit 1)`;

// Leaps from project to project along the index deliveries_in_order, one look-up each, however much waits behind a project's first.
const headsText = `
  select n.endpoint_id, h.* from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as n(workspace_id, endpoint_id, after_key)
  cross join lateral (
    with recursive head as (
      (select ${columns} from ${from('n.after_key')})
      union all
      select x.* from head h cross join lateral (select ${columns} from ${from('h.order_key')}) x
    )
    select * from head limit ${MAX_LOOKED_AT}
  ) h`;

const BEFORE_ALL: Uuid = '00000000-0000-0000-0000-000000000000';

/**
 * Whose turn it is, first attempts before repetitions and the longest due first. What is under way, or a first whose next attempt is not
 * due, holds its project and no other.
 */
export async function findHeads(
  database: Database,
  endpoints: readonly (EndpointKey & { readonly after: Uuid | null })[],
  now: Date,
): Promise<Heads[]> {
  if (endpoints.length === 0) return [];
  const parameters = [
    endpoints.map((endpoint) => endpoint.workspaceId),
    endpoints.map((endpoint) => endpoint.endpointId),
    endpoints.map((endpoint) => endpoint.after ?? BEFORE_ALL),
  ];
  const rows = await database.transaction((transaction) => {
    transaction.query(`select ${QUEUE_PLANS}`).catch(() => undefined);
    return transaction.query<HeadRow>(headsText, parameters);
  });
  const byEndpoint = Map.groupBy(rows, (row) => row.endpoint_id);
  return endpoints.map(({ workspaceId, endpointId }) => {
    const looked = byEndpoint.get(endpointId) ?? [];
    const heads = looked
      .filter((row) => !row.is_leased && (!row.is_repeat || row.next_attempt_at <= now))
      .map((row) => ({ id: row.id, isRepeat: row.is_repeat, dueAt: row.next_attempt_at }))
      .sort((a, b) => Number(a.isRepeat) - Number(b.isRepeat) || a.dueAt.getTime() - b.dueAt.getTime());
    const laterMs = looked
      .filter((row) => !row.is_leased && row.is_repeat && row.next_attempt_at > now)
      .map((row) => row.next_attempt_at.getTime());
    const nextDueAt = laterMs.length === 0 ? null : new Date(Math.min(...laterMs));
    return { workspaceId, endpointId, heads, nextDueAt, next: looked.length < MAX_LOOKED_AT ? null : (looked.at(-1) as HeadRow).order_key };
  });
}
