// The routes that read webhook endpoints, their deliveries and the attempts of a delivery. No route reads a secret.
// They turn a query into a read and a record into an answer, and decide nothing.

import type { Uuid } from '../../domain/ids.ts';
import {
  deliveryAttemptExample,
  deliveryAttemptList,
  deliveryAttemptListQuery,
  deliveryExample,
  deliveryList,
  deliveryListQuery,
  deliveryResource,
  presentDelivery,
  presentDeliveryAttempt,
} from '../../schemas/deliveries.ts';
import {
  presentWebhookEndpoint,
  webhookEndpointExample,
  webhookEndpointList,
  webhookEndpointListQuery,
  webhookEndpointResource,
} from '../../schemas/webhook-endpoints.ts';
import { ABSENT } from '../mount.ts';
import { listAnswer, listEnvelope, listExample, pageOf, type Reads, readsOne } from '../reads.ts';
import { defineRoute, type Route } from '../route.ts';
import { etag } from '../writes.ts';
import { deliveryFiltersOf, deliveryListAnswer, SHORT_PAGES } from './deliveries.ts';

export function webhookEndpointReadRoutes(reads: Reads): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/webhook_endpoints',
      operationId: 'listWebhookEndpoints',
      tag: 'Webhooks',
      summary: 'List webhook endpoints',
      description: 'The endpoints of the workspace, newest first. Deleted ones are not listed.',
      scope: 'webhooks:read',
      query: webhookEndpointListQuery,
      success: {
        status: 200,
        description: 'A page of endpoints.',
        schema: webhookEndpointList,
        example: listExample(webhookEndpointExample),
      },
      errors: [],
      async handle({ caller, query }) {
        const page = pageOf(query);
        return listAnswer('webhook_endpoint', await reads.listWebhookEndpoints(caller.workspaceId, page), page, presentWebhookEndpoint);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/webhook_endpoints/:id',
      operationId: 'getWebhookEndpoint',
      tag: 'Webhooks',
      summary: 'Read a webhook endpoint',
      scope: 'webhooks:read',
      ids: { id: 'webhook_endpoint' },
      success: {
        status: 200,
        description: 'The endpoint, without its secret.',
        schema: webhookEndpointResource,
        example: webhookEndpointExample,
      },
      errors: [],
      versioned: true,
      handle: readsOne(reads.getWebhookEndpoint, (endpoint) => ({
        headers: etag(endpoint.version),
        body: presentWebhookEndpoint(endpoint),
      })),
    }),
    ...deliveryReadRoutes(reads),
  ];
}

function deliveryReadRoutes(reads: Reads): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/webhook_endpoints/:id/deliveries',
      operationId: 'listWebhookEndpointDeliveries',
      tag: 'Webhooks',
      summary: 'List the deliveries to a webhook endpoint',
      description: `What was, is being or will be sent to the endpoint, newest first. ${SHORT_PAGES}`,
      scope: 'webhooks:read',
      ids: { id: 'webhook_endpoint' },
      query: deliveryListQuery,
      success: { status: 200, description: 'A page of deliveries.', schema: deliveryList, example: listExample(deliveryExample) },
      errors: [],
      async handle({ caller, ids, query }) {
        const page = pageOf(query);
        const found = await reads.listDeliveries(caller.workspaceId, deliveryFiltersOf(query, ids.id as Uuid), page);
        return found === null ? ABSENT : deliveryListAnswer(found, page);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/deliveries/:id',
      operationId: 'getDelivery',
      tag: 'Webhooks',
      summary: 'Read a delivery',
      scope: 'webhooks:read',
      ids: { id: 'delivery' },
      success: { status: 200, description: 'The delivery.', schema: deliveryResource, example: deliveryExample },
      errors: [],
      handle: readsOne(reads.getDelivery, (delivery) => ({ body: presentDelivery(delivery) })),
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/deliveries/:id/attempts',
      operationId: 'listDeliveryAttempts',
      tag: 'Webhooks',
      summary: 'List the attempts of a delivery',
      description:
        'Each request that was made and its outcome, latest first. Attempts have no id of their own: the cursor is their number.',
      scope: 'webhooks:read',
      ids: { id: 'delivery' },
      query: deliveryAttemptListQuery,
      success: {
        status: 200,
        description: 'A page of attempts.',
        schema: deliveryAttemptList,
        example: listExample(deliveryAttemptExample),
      },
      errors: [],
      async handle({ caller, ids, query }) {
        const found = await reads.listAttempts(caller.workspaceId, ids.id as Uuid, { limit: query.limit, before: query.starting_after });
        if (found === null) return ABSENT;
        const last = found.hasMore ? found.records.at(-1) : undefined;
        return listEnvelope(found, presentDeliveryAttempt, last === undefined ? null : String(last.number));
      },
    }),
  ];
}
