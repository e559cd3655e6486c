// Webhook endpoints on the wire: the resource, with its secret once, what creates, changes and rotates one, and the presenters.
// A secret is handed in by whoever made it; nothing here can read one.

import { z } from 'zod';
import { signatureSchemes } from '../domain/endpoint-sending.ts';
import { allEventTypes, defaultEventTypes } from '../domain/event.ts';
import { encodeId } from '../domain/ids.ts';
import { disabledCauses, endpointStatuses, type WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import { overlapSeconds } from './api-keys.ts';
import { flowExample, flowFields, flowSettings, presentFlow } from './endpoint-flow.ts';
import { endpointHeaders, endpointHeadersPatch } from './endpoint-headers.ts';
import { eventType } from './events.ts';
import { listOf, listQuery } from './lists.ts';
import { signingKeysPath } from './signing-keys.ts';
import { countField, exampleId, idField, orEmpty, paragraph, setOf, timestamp, wanted, webAddress } from './text.ts';

export const MAX_ENDPOINT_DESCRIPTION_LENGTH = 500;

export const webhookEndpointStatus = z
  .enum(endpointStatuses, wanted(`one of ${endpointStatuses.join(', ')}`))
  .meta({ id: 'WebhookEndpointStatus', description: 'Only an enabled endpoint is sent to.' });

const disabledCause = z.enum(disabledCauses).meta({
  id: 'DisabledCause',
  description:
    'Why it is disabled: `request`: somebody asked for it. `gone`: it answered 410. `failing`: every attempt failed for days. `workspace_closed`: with its workspace.',
});

export const signatureScheme = z.enum(signatureSchemes, wanted(`one of ${signatureSchemes.join(', ')}`)).meta({
  id: 'SignatureScheme',
  description:
    'By the names of Standard Webhooks: `v1` is HMAC-SHA256 with the secret, `v1a` is ed25519 with a key of the endpoint whose public half anybody may read.',
});

export const webhookEndpointExample = {
  id: exampleId('webhook_endpoint', 8),
  object: 'webhook_endpoint' as const,
  url: 'https://example.com/hooks/tranche',
  description: 'Bookkeeping',
  event_types: [...defaultEventTypes],
  status: 'enabled' as const,
  disabled_reason: null,
  disabled_cause: null,
  signature_schemes: ['v1' as const],
  public_key: null,
  jwks_path: null,
  header_names: [] as string[],
  ...flowExample,
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
  disabled_reason: z.string().nullable().meta({ description: 'Why it is disabled, for people; null while it is enabled.' }),
  disabled_cause: disabledCause.nullable(),
  signature_schemes: z.array(signatureScheme).meta({ description: 'How deliveries are signed: a signature by each.' }),
  public_key: z.string().nullable().meta({
    description: 'The ed25519 public key that verifies `v1a` signatures, as Standard Webhooks writes it; null without that scheme.',
    example: 'whpk_4PkIYcdZcgIFgqQEjjEHOwCVNdYVO1nGbXsl8oBtt0c=',
  }),
  jwks_path: z.string().nullable().meta({
    description: 'Where all current public keys are, as a JWK set that needs no key of ours to read; null without `v1a`.',
  }),
  header_names: z.array(z.string()).meta({ description: 'The headers of your own that deliveries carry. Their values are not shown.' }),
  ...flowFields,
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
  const id = encodeId('webhook_endpoint', endpoint.id);
  const key = endpoint.signatureSchemes.includes('v1a') ? endpoint.signingKeys.find(({ expiresAt }) => expiresAt === null) : undefined;
  return {
    id,
    object: 'webhook_endpoint',
    url: endpoint.url,
    description: endpoint.description,
    event_types: [...(endpoint.eventTypes ?? defaultEventTypes)],
    status: endpoint.status,
    disabled_reason: endpoint.disabledReason,
    disabled_cause: endpoint.disabledCause,
    signature_schemes: [...endpoint.signatureSchemes],
    public_key: key?.publicKey ?? null,
    jwks_path: key === undefined ? null : signingKeysPath(id),
    header_names: endpoint.headers.map(({ name }) => name),
    ...presentFlow(endpoint),
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
const schemeList = setOf(signatureScheme, signatureSchemes.length, 'signature scheme');
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
    signature_schemes: schemeList.optional().meta({
      description: 'How to sign: with `v1`, `v1a` or both. Default: `v1`. With both, a receiver is content with the one it knows.',
    }),
    headers: endpointHeaders.optional(),
    ...flowSettings,
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
    signature_schemes: schemeList.optional().meta({ description: 'How to sign from now on. A first `v1a` makes a key.' }),
    headers: endpointHeadersPatch.optional(),
    ...flowSettings,
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
