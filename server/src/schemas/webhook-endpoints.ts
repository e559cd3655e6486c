// Webhook endpoints on the wire: the resource, with its secret once, what creates, changes and rotates one, and the presenters.
// A secret is handed in by whoever made it; nothing here can read one.

import { z } from 'zod';
import { allEventTypes, defaultEventTypes } from '../domain/event.ts';
import { encodeId } from '../domain/ids.ts';
import { endpointStatuses, type WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import { overlapSeconds } from './api-keys.ts';
import { eventType } from './events.ts';
import { listOf, listQuery } from './lists.ts';
import { countField, exampleId, idField, orEmpty, paragraph, setOf, timestamp, wanted, webAddress } from './text.ts';

export const MAX_ENDPOINT_DESCRIPTION_LENGTH = 500;

export const webhookEndpointStatus = z
  .enum(endpointStatuses, wanted(`one of ${endpointStatuses.join(', ')}`))
  .meta({ id: 'WebhookEndpointStatus', description: 'Only an enabled endpoint is sent to.' });

export const webhookEndpointExample = {
  id: exampleId('webhook_endpoint', 8),
  object: 'webhook_endpoint' as const,
  url: 'https://example.com/hooks/tranche',
  description: 'Bookkeeping',
  event_types: [...defaultEventTypes],
  status: 'enabled' as const,
  disabled_reason: null,
  version: 1,
  created_at: '2026-03-02T09:30:00.000Z',
  updated_at: '2026-03-02T09:30:00.000Z',
};

const fields = {
  id: idField('webhook_endpoint'),
  object: z.literal('webhook_endpoint'),
  url: z.string().meta({ format: 'uri' }),
  description: z.string().nullable(),
  event_types: z.array(eventType).meta({ description: 'The kinds of event it is sent.' }),
  status: webhookEndpointStatus,
  disabled_reason: z.string().nullable().meta({ description: 'Why it is disabled; null while it is enabled.' }),
  version: countField('Grows with every change; the ETag.', 1),
  created_at: timestamp('When it was created.'),
  updated_at: timestamp('When it last changed.'),
};

export const webhookEndpointResource = z
  .object(fields)
  .meta({ id: 'WebhookEndpoint', description: 'An address that events are sent to.', example: webhookEndpointExample });

export const webhookEndpointWithSecretExample = { ...webhookEndpointExample, secret: 'whsec_RVhBTVBMRUVYQU1QTEVFWEFNUExFRVhBTVBMRQ==' };

export const webhookEndpointWithSecretResource = z
  .object({
    ...fields,
    secret: z.string().meta({ description: 'Verifies signatures (Standard Webhooks). It is shown this once and cannot be read again.' }),
  })
  .meta({ id: 'WebhookEndpointWithSecret', description: 'An endpoint with its new secret.', example: webhookEndpointWithSecretExample });

export function presentWebhookEndpoint(endpoint: WebhookEndpoint): z.output<typeof webhookEndpointResource> {
  return {
    id: encodeId('webhook_endpoint', endpoint.id),
    object: 'webhook_endpoint',
    url: endpoint.url,
    description: endpoint.description,
    event_types: [...(endpoint.eventTypes ?? defaultEventTypes)],
    status: endpoint.status,
    disabled_reason: endpoint.disabledReason,
    version: endpoint.version,
    created_at: endpoint.createdAt.toISOString(),
    updated_at: endpoint.updatedAt.toISOString(),
  };
}

export function presentWebhookEndpointWithSecret(
  endpoint: WebhookEndpoint,
  secret: string,
): z.output<typeof webhookEndpointWithSecretResource> {
  return { ...presentWebhookEndpoint(endpoint), secret };
}

export const webhookEndpointList = listOf('WebhookEndpointList', webhookEndpointResource, webhookEndpointExample);

export const webhookEndpointListQuery = listQuery('webhook_endpoint', {});

const description = paragraph(MAX_ENDPOINT_DESCRIPTION_LENGTH);
const eventTypeList = setOf(eventType, allEventTypes.length, 'event type');
const DEFAULT_TYPES = defaultEventTypes.map((type) => `\`${type}\``).join(', ');

export const webhookEndpointCreateExample = {
  url: 'https://example.com/hooks/tranche',
  description: 'Bookkeeping',
  event_types: ['payment.released', 'invoice.issued'],
};

export const webhookEndpointCreate = z
  .strictObject({
    url: webAddress.meta({ description: 'Where to send: http or https, without user name and password.' }),
    description: description.optional(),
    event_types: eventTypeList.optional().meta({ description: `The kinds of event to send. Default: ${DEFAULT_TYPES}.` }),
  })
  .meta({ id: 'WebhookEndpointCreate', description: 'A new webhook endpoint.', example: webhookEndpointCreateExample });

export type WebhookEndpointCreate = z.output<typeof webhookEndpointCreate>;

export const webhookEndpointUpdateExample = { status: 'disabled' };

export const webhookEndpointUpdate = z
  .strictObject({
    url: webAddress.optional(),
    description: description.nullable().optional(),
    event_types: eventTypeList
      .nullable()
      .optional()
      .meta({ description: `Null returns to the default: ${DEFAULT_TYPES}.` }),
    status: webhookEndpointStatus.optional(),
  })
  .meta({
    id: 'WebhookEndpointUpdate',
    description: 'A change of a webhook endpoint. Fields not named stay as they are.',
    example: webhookEndpointUpdateExample,
  });

export type WebhookEndpointUpdate = z.output<typeof webhookEndpointUpdate>;

export const webhookSecretRotate = orEmpty(
  z
    .strictObject({ overlap_seconds: overlapSeconds })
    .meta({ id: 'WebhookSecretRotate', description: 'How to rotate; may be left out.', example: { overlap_seconds: 3600 } }),
);

export type WebhookSecretRotate = z.output<typeof webhookSecretRotate>;
