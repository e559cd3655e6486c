// The route that lists the deliveries of a workspace, and what every list of deliveries shares.
// Decides nothing; how much of the table a page may look at is the business of the store.

import type { DeliveryStatus } from '../../domain/delivery.ts';
import type { EventType } from '../../domain/event.ts';
import { encodeId, type Uuid } from '../../domain/ids.ts';
import { deliveryExample, deliveryList, presentDelivery, workspaceDeliveryListQuery } from '../../schemas/deliveries.ts';
import type { DeliveryFilters, DeliveryPage } from '../../store/delivery-lists.ts';
import type { PageRequest } from '../../store/lists.ts';
import { listAnswer, listEnvelope, listExample, pageOf, type Reads } from '../reads.ts';
import { type Answer, defineRoute, type Route } from '../route.ts';

export const SHORT_PAGES =
  'Each page takes a bounded time: where few deliveries match the filters it may hold fewer than `limit`, or none, while `has_more` is true; go on with `next_cursor`.';

interface FilterQuery {
  status?: DeliveryStatus | undefined;
  event_type?: EventType | undefined;
  project_id?: Uuid | undefined;
}

export const deliveryFiltersOf = (query: FilterQuery, endpointId: Uuid | undefined): DeliveryFilters => ({
  endpointId,
  status: query.status,
  eventType: query.event_type,
  projectId: query.project_id,
});

/** A page that ended early goes on where it stopped looking, which need not be at a delivery that it shows. */
export function deliveryListAnswer(page: DeliveryPage, request: PageRequest): Answer {
  if (page.resumeAt === null || request.endingBefore !== undefined) return listAnswer('delivery', page, request, presentDelivery);
  return listEnvelope(page, presentDelivery, encodeId('delivery', page.resumeAt));
}

const NOTHING: DeliveryPage = { records: [], hasMore: false, resumeAt: null };

export function deliveryListRoutes(reads: Reads): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/deliveries',
      operationId: 'listDeliveries',
      tag: 'Webhooks',
      summary: 'List deliveries',
      description: `What was, is being or will be sent to any endpoint, newest first. ${SHORT_PAGES}`,
      scope: 'webhooks:read',
      query: workspaceDeliveryListQuery,
      success: { status: 200, description: 'A page of deliveries.', schema: deliveryList, example: listExample(deliveryExample) },
      errors: [],
      async handle({ caller, query }) {
        const page = pageOf(query);
        const found = await reads.listDeliveries(caller.workspaceId, deliveryFiltersOf(query, query.endpoint_id), page);
        return deliveryListAnswer(found ?? NOTHING, page);
      },
    }),
  ];
}
