// Deliveries and their attempts on the wire: the resources, the queries of the lists, and the presenters.
// Read only: deliveries are made and driven by the webhook worker.

import { z } from 'zod';
import { attemptErrorKinds, type Delivery, type DeliveryAttempt, deliveryStatuses } from '../domain/delivery.ts';
import { encodeId } from '../domain/ids.ts';
import { eventType } from './events.ts';
import { limitField, listOf, listQuery } from './lists.ts';
import { countField, exampleId, idField, idFilter, timestamp, wanted } from './text.ts';

export const deliveryStatus = z
  .enum(deliveryStatuses, wanted(`one of ${deliveryStatuses.join(', ')}`))
  .meta({ id: 'DeliveryStatus', description: 'A pending delivery will be tried again; the others are over.' });

export const deliveryExample = {
  id: exampleId('delivery', 9),
  object: 'delivery' as const,
  endpoint_id: exampleId('webhook_endpoint', 8),
  event_id: exampleId('event', 6),
  event_type: 'payment.released' as const,
  event_seq: 4,
  previous_event_seq: 3,
  status: 'succeeded' as const,
  attempts: 1,
  next_attempt_at: null,
  created_at: '2026-03-21T08:00:00.010Z',
  completed_at: '2026-03-21T08:00:00.150Z',
};

export const deliveryResource = z
  .object({
    id: idField('delivery'),
    object: z.literal('delivery'),
    endpoint_id: idField('webhook_endpoint'),
    event_id: idField('event', 'The `webhook-id` header of every attempt.'),
    event_type: eventType,
    event_seq: countField('The `seq` of the event, also the `Tranche-Seq` header.', 1),
    previous_event_seq: countField(
      'The `Tranche-Prev-Seq` header: the `seq` of the event before it for this endpoint; null for its first.',
      1,
    ).nullable(),
    status: deliveryStatus,
    attempts: countField('How many attempts have been made.'),
    next_attempt_at: timestamp('When the next attempt is due; null once it is over.').nullable(),
    created_at: timestamp('When it was created.'),
    completed_at: timestamp('When it was over; null before.').nullable(),
  })
  .meta({ id: 'Delivery', description: 'One event on its way to one endpoint.', example: deliveryExample });

export function presentDelivery(delivery: Delivery): z.output<typeof deliveryResource> {
  return {
    id: encodeId('delivery', delivery.id),
    object: 'delivery',
    endpoint_id: encodeId('webhook_endpoint', delivery.endpointId),
    event_id: encodeId('event', delivery.eventId),
    event_type: delivery.eventType,
    event_seq: delivery.eventSeq,
    previous_event_seq: delivery.previousSeq,
    status: delivery.status,
    attempts: delivery.attempts,
    next_attempt_at: delivery.nextAttemptAt === null ? null : delivery.nextAttemptAt.toISOString(),
    created_at: delivery.createdAt.toISOString(),
    completed_at: delivery.completedAt === null ? null : delivery.completedAt.toISOString(),
  };
}

export const deliveryList = listOf('DeliveryList', deliveryResource, deliveryExample);

const deliveryFilters = {
  status: deliveryStatus.optional(),
  event_type: eventType.optional().meta({ description: 'Only deliveries of events of this kind.' }),
  project_id: idFilter('project').optional().meta({ description: 'Only deliveries of events of this project.' }),
};

export const deliveryListQuery = listQuery('delivery', deliveryFilters);

export const workspaceDeliveryListQuery = listQuery('delivery', {
  ...deliveryFilters,
  endpoint_id: idFilter('webhook_endpoint').optional().meta({ description: 'Only deliveries to this endpoint.' }),
});

export const deliveryAttemptExample = {
  object: 'delivery_attempt' as const,
  number: 1,
  started_at: '2026-03-21T08:00:00.020Z',
  duration_ms: 130,
  remote_address: '203.0.113.10',
  status_code: 200,
  error_kind: null,
  error: null,
  response_headers: { 'content-type': 'text/plain' },
  response_body: 'ok',
  response_truncated: false,
};

export const deliveryAttemptResource = z
  .object({
    object: z.literal('delivery_attempt'),
    number: countField('1, 2, 3 … within the delivery.', 1),
    started_at: timestamp('When it was sent.'),
    duration_ms: countField('Until the answer had arrived, in milliseconds.'),
    remote_address: z.string().nullable().meta({
      description: 'The IP address that was connected to, or tried last; null when there was none, or when webhooks are not sent to it.',
    }),
    status_code: countField('The HTTP status of the answer; null when none arrived.').nullable(),
    error_kind: z
      .enum(attemptErrorKinds)
      .nullable()
      .meta({ description: 'Why no answer arrived, as a word for programs; null when one did.' }),
    error: z.string().nullable().meta({ description: 'The same as a sentence, with the code of the operating system or of TLS.' }),
    response_headers: z
      .record(z.string(), z.string())
      .nullable()
      .meta({ description: 'The headers of the answer, cut to 8 KiB and without cookies; null when none arrived.' }),
    response_body: z.string().nullable().meta({ description: 'The first 16 KiB of the answer, as text.' }),
    response_truncated: z.boolean().meta({ description: 'Whether the answer went on after that, or was cut off.' }),
  })
  .meta({ id: 'DeliveryAttempt', description: 'One request to the endpoint and its outcome.', example: deliveryAttemptExample });

export function presentDeliveryAttempt(attempt: DeliveryAttempt): z.output<typeof deliveryAttemptResource> {
  return {
    object: 'delivery_attempt',
    number: attempt.number,
    started_at: attempt.startedAt.toISOString(),
    duration_ms: attempt.durationMs,
    remote_address: attempt.remoteAddress,
    status_code: attempt.statusCode,
    error_kind: attempt.errorKind,
    error: attempt.error,
    response_headers: attempt.responseHeaders === null ? null : { ...attempt.responseHeaders },
    response_body: attempt.responseBody,
    response_truncated: attempt.responseTruncated,
  };
}

export const deliveryAttemptList = listOf('DeliveryAttemptList', deliveryAttemptResource, deliveryAttemptExample, {
  description: 'The attempts of a delivery, latest first.',
});

const NUMBER = 'the number of an attempt';

export const deliveryAttemptListQuery = z.strictObject({
  limit: limitField,
  starting_after: z
    .string({ error: `Must be ${NUMBER}, given once.` })
    .transform((text, context): number => {
      if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
      context.issues.push({ code: 'invalid_format', format: 'number', input: text, message: `Must be ${NUMBER}.` });
      return z.NEVER;
    })
    .optional()
    .meta({ type: 'integer', minimum: 1, description: 'Return the attempts made before this one, by its number.' }),
});
