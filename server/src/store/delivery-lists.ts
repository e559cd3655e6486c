// Lists of deliveries with any combination of filters, each page in bounded time however few deliveries match.
// Reads only. A page that has looked at enough ends early and says where to go on.

import type { Delivery, DeliveryStatus } from '../domain/delivery.ts';
import type { EventType } from '../domain/event.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Queryable } from './database.ts';
import { deliverySource } from './deliveries.ts';
import { type Page, type PageRequest, positions } from './lists.ts';

/** Deliveries that one page looks at: some tens of milliseconds at the worst. */
export const MAX_LOOKED_AT = 20_000;
/** Walks of one page towards the newer ones, which has no cursor to go on from but a record: it walks on until it has found one. */
const MAX_WALKS = 50;

export interface DeliveryFilters {
  /** Left out: every endpoint of the workspace. */
  readonly endpointId?: Uuid | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly eventType?: EventType | undefined;
  readonly projectId?: Uuid | undefined;
}

export interface DeliveryPage extends Page<Delivery> {
  /** Where the page ended before it was full, having looked at enough; null when it did not. */
  readonly resumeAt: Uuid | null;
}

/** Newest first. */
export async function listDeliveries(
  queryable: Queryable,
  workspaceId: Uuid,
  filters: DeliveryFilters,
  page: PageRequest,
  maxLookedAt: number = MAX_LOOKED_AT,
): Promise<DeliveryPage> {
  let found = await walkOn(queryable, workspaceId, filters, page, maxLookedAt);
  for (
    let walks = 1;
    page.endingBefore !== undefined && found.records.length === 0 && found.resumeAt !== null && walks < MAX_WALKS;
    walks++
  ) {
    found = await walkOn(queryable, workspaceId, filters, { ...page, endingBefore: found.resumeAt }, maxLookedAt);
  }
  return found;
}

/**
 * Walks deliveries_by_endpoint (workspace_id, endpoint_id, id), deliveries_failed of the same columns, or the primary key
 * (workspace_id, id), and looks each one up with its event by primary key, until the page is full or enough was looked at.
 */
async function walkOn(
  queryable: Queryable,
  workspaceId: Uuid,
  filters: DeliveryFilters,
  page: PageRequest,
  maxLookedAt: number,
): Promise<DeliveryPage> {
  const { endpointId, status, eventType, projectId } = filters;
  const parameters: unknown[] = [workspaceId];
  const bind = (value: unknown): string => `$${parameters.push(value)}`;
  const along = ['t.workspace_id = $1'];
  if (endpointId !== undefined) along.push(`t.endpoint_id = ${bind(endpointId)}`);
  const hasIndex = status === 'failed' && endpointId !== undefined;
  // Written into the text, because the partial index serves only a condition that the planner can see.
  if (hasIndex) along.push(`t.status = 'failed'`);
  along.push(...positions(page, bind));
  const order = `order by t.id ${page.endingBefore === undefined ? 'desc' : 'asc'}`;
  const walk = `from deliveries t where ${along.join(' and ')} ${order}`;
  const walkParameters = parameters.length;
  const wanted: string[] = [];
  if (status !== undefined && !hasIndex) wanted.push(`t.status = ${bind(status)}`);
  if (eventType !== undefined) wanted.push(`e.type = ${bind(eventType)}`);
  if (projectId !== undefined) wanted.push(`e.project_id = ${bind(projectId)}`);
  const rows = await queryable.query<Record<string, unknown>>(
    `select ${deliverySource.select} from (select t.* ${walk} limit ${maxLookedAt}) t
     cross join lateral (select x.id, x.type, x.project_id from events x where x.workspace_id = t.workspace_id and x.seq = t.event_seq limit 1) e
     ${wanted.length === 0 ? '' : `where ${wanted.join(' and ')}`} ${order} limit ${bind(page.limit + 1)}`,
    parameters,
  );
  const isFull = rows.length > page.limit;
  if (isFull) rows.length = page.limit;
  const resumeAt =
    isFull || wanted.length === 0 ? null : await lastLookedAt(queryable, walk, parameters.slice(0, walkParameters), maxLookedAt);
  if (page.endingBefore !== undefined) rows.reverse();
  return { records: rows.map(deliverySource.fromRow), hasMore: isFull || resumeAt !== null, resumeAt };
}

/** The delivery at which a walk that is cut short ends; null when it ends by itself. The same index as the walk's. */
async function lastLookedAt(queryable: Queryable, walk: string, parameters: readonly unknown[], maxLookedAt: number): Promise<Uuid | null> {
  const [row] = await queryable.query<{ id: Uuid }>(`select t.id ${walk} offset ${maxLookedAt - 1} limit 1`, parameters);
  return row?.id ?? null;
}
