// The routes of repairs: sending deliveries again, one or many, making up for missed events, cancelling, and how far that has come.
// They turn requests into commands and records into answers; what a dry run counts is counted by the function they are handed.

import { cancelDelivery, replayDelivery } from '../../commands/repair-delivery.ts';
import { createWebhookRepair, stopWebhookRepair } from '../../commands/repair-webhooks.ts';
import type { Delivery, DeliveryStatus } from '../../domain/delivery.ts';
import { encodeId, type Uuid } from '../../domain/ids.ts';
import { NO_PROGRESS, type RepairFilter, type WebhookRepair } from '../../domain/webhook-repair.ts';
import { deliveryExample, deliveryResource, presentDelivery } from '../../schemas/deliveries.ts';
import {
  presentWebhookRepair,
  webhookRepairCreate,
  webhookRepairCreateExample,
  webhookRepairExample,
  webhookRepairList,
  webhookRepairListQuery,
  webhookRepairResource,
  webhookRequest,
} from '../../schemas/webhook-repairs.ts';
import { listAnswer, listExample, pageOf, type Reads, readsOne } from '../reads.ts';
import { defineRoute, isRefusal, type Route } from '../route.ts';
import { serializerOf } from '../serialize.ts';
import { audited, envelope, submit, type Writes } from '../writes.ts';

const serializeRepair = serializerOf(webhookRepairResource);
const serializeDelivery = serializerOf(deliveryResource);

const delivered = (delivery: Delivery) => ({ status: 200, headers: {}, body: serializeDelivery(presentDelivery(delivery)) });
const stopped = (repair: WebhookRepair) => ({ status: 200, headers: {}, body: serializeRepair(presentWebhookRepair(repair)) });
const created = (repair: WebhookRepair) => ({
  status: 201,
  headers: { location: `/v1/webhook_repairs/${encodeId('webhook_repair', repair.id)}` },
  body: serializeRepair(presentWebhookRepair(repair)),
});

export function webhookRepairRoutes(reads: Reads, writes: Writes): Route[] {
  return [...deliveryRoutes(writes), ...repairReadRoutes(reads), ...repairWriteRoutes(writes)];
}

function deliveryRoutes({ lane, repairs }: Writes): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/deliveries/:id/replay',
      operationId: 'replayDelivery',
      tag: 'Webhooks',
      summary: 'Send a delivery again',
      description:
        'From any status, at once, and as often as you ask: the same event with the same `webhook-id` and body, and the schedule of attempts ' +
        'begins anew. While an attempt is under way it is let finish; the delivery is then sent again at once unless that attempt was acknowledged.',
      scope: 'webhooks:write',
      ids: { id: 'delivery' },
      body: webhookRequest,
      success: { status: 200, description: 'The delivery, due now.', schema: deliveryResource, example: replayedExample },
      errors: ['endpoint_disabled'],
      idempotent: true,
      async handle(request) {
        const answer = await submit(lane, replayDelivery(envelope(request, delivered), request.ids.id as Uuid));
        if (!isRefusal(answer)) repairs.announceDue();
        return answer;
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/deliveries/:id/cancel',
      operationId: 'cancelDelivery',
      tag: 'Webhooks',
      summary: 'Cancel a delivery',
      description:
        'A pending delivery is not sent any more. An attempt that is under way ends first: the delivery is then what that attempt made of it, ' +
        'and if it failed, cancelled.',
      scope: 'webhooks:write',
      ids: { id: 'delivery' },
      body: webhookRequest,
      success: { status: 200, description: 'The delivery, cancelled.', schema: deliveryResource, example: cancelledExample },
      errors: ['invalid_transition'],
      idempotent: true,
      handle: (request) => submit(lane, cancelDelivery(envelope(request, delivered), request.ids.id as Uuid)),
    }),
  ];
}

const replayedExample = {
  ...deliveryExample,
  status: 'pending' as const,
  next_attempt_at: '2026-03-21T09:00:00.000Z',
  completed_at: null,
};
const cancelledExample = { ...deliveryExample, status: 'cancelled' as const };

function repairReadRoutes(reads: Reads): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/webhook_repairs',
      operationId: 'listWebhookRepairs',
      tag: 'Webhooks',
      summary: 'List repairs',
      description: 'What was asked for in bulk, dry runs included, newest first.',
      scope: 'webhooks:read',
      query: webhookRepairListQuery,
      success: { status: 200, description: 'A page of repairs.', schema: webhookRepairList, example: listExample(webhookRepairExample) },
      errors: [],
      async handle({ caller, query }) {
        const page = pageOf(query);
        return listAnswer('webhook_repair', await reads.listWebhookRepairs(caller.workspaceId, page), page, presentWebhookRepair);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/webhook_repairs/:id',
      operationId: 'getWebhookRepair',
      tag: 'Webhooks',
      summary: 'Read a repair',
      description: '`matched` and `changed` grow while it is carried out.',
      scope: 'webhooks:read',
      ids: { id: 'webhook_repair' },
      success: {
        status: 200,
        description: 'The repair, as far as it has come.',
        schema: webhookRepairResource,
        example: webhookRepairExample,
      },
      errors: [],
      handle: readsOne(reads.getWebhookRepair, (repair) => ({ body: presentWebhookRepair(repair) })),
    }),
  ];
}

/** What each action looks at, where the request does not say. */
const statusesOf = (action: RepairFilter['action'], asked: readonly DeliveryStatus[] | undefined): readonly DeliveryStatus[] =>
  action === 'recover' ? [] : action === 'cancel' ? ['pending'] : (asked ?? ['failed']);

function repairWriteRoutes(writes: Writes): Route[] {
  const { lane, newId, repairs } = writes;
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/webhook_repairs',
      operationId: 'createWebhookRepair',
      tag: 'Webhooks',
      summary: 'Replay, recover or cancel in bulk',
      description:
        'Is accepted at once and carried out step by step, oldest first, behind what is sent for the first time; a restart does not lose it. ' +
        'It looks at what there was when it was asked for. With `dry_run` the answer says in `matched` how many there are; when there are so ' +
        'many that counting takes more than a second, it is `pending` and goes on counting.',
      scope: 'webhooks:write',
      body: webhookRepairCreate,
      bodyExample: webhookRepairCreateExample,
      success: { status: 201, description: 'The repair.', schema: webhookRepairResource, example: webhookRepairExample },
      errors: ['idempotency_key_reused', 'endpoint_disabled'],
      idempotent: true,
      async handle(request) {
        const { workspaceId } = request.caller;
        const { body } = request;
        const filter: RepairFilter = {
          action: body.action,
          endpointId: body.endpoint_id ?? null,
          eventTypes: body.event_types ?? null,
          statuses: statusesOf(body.action, body.statuses),
          projectId: body.project_id ?? null,
          since: body.since ?? null,
          until: body.until ?? null,
        };
        const id = newId();
        const dryRun = body.dry_run ?? false;
        const progress = dryRun ? await repairs.count(workspaceId, id, filter) : NO_PROGRESS;
        const answer = await submit(lane, createWebhookRepair(audited(writes, request, created), { ...filter, id, dryRun, progress }));
        if (!isRefusal(answer) && !progress.isDone) repairs.announceRepair();
        return answer;
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/webhook_repairs/:id/stop',
      operationId: 'stopWebhookRepair',
      tag: 'Webhooks',
      summary: 'Stop a repair',
      description: 'It takes no further step. What it has made due stays due; cancel it if it is not to be sent.',
      scope: 'webhooks:write',
      ids: { id: 'webhook_repair' },
      body: webhookRequest,
      success: {
        status: 200,
        description: 'The repair, stopped.',
        schema: webhookRepairResource,
        example: { ...webhookRepairExample, dry_run: false, status: 'stopped', stopped_reason: 'Stopped by a request.', changed: 500 },
      },
      errors: ['invalid_transition'],
      idempotent: true,
      handle: (request) => submit(lane, stopWebhookRepair(audited(writes, request, stopped), request.ids.id as Uuid)),
    }),
  ];
}
