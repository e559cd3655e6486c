// The routes that register, change and delete webhook endpoints. A secret is made here and leaves in the answer; it is stored sealed.

import { createWebhookEndpoint } from '../../commands/create-webhook-endpoint.ts';
import { deleteWebhookEndpoint, rotateWebhookSecret, updateWebhookEndpoint } from '../../commands/update-webhook-endpoint.ts';
import type { Refusal } from '../../domain/errors.ts';
import { encodeId, type Uuid } from '../../domain/ids.ts';
import { DEFAULT_MAX_CONCURRENCY, type WebhookEndpoint } from '../../domain/webhook-endpoint.ts';
import {
  presentWebhookEndpoint,
  presentWebhookEndpointWithSecret,
  webhookEndpointCreate,
  webhookEndpointCreateExample,
  webhookEndpointExample,
  webhookEndpointResource,
  webhookEndpointUpdate,
  webhookEndpointUpdateExample,
  webhookEndpointWithSecretExample,
  webhookEndpointWithSecretResource,
  webhookSecretRotate,
} from '../../schemas/webhook-endpoints.ts';
import { defineRoute, type Route } from '../route.ts';
import { serializerOf } from '../serialize.ts';
import { validationFailed } from '../validation.ts';
import { audited, etag, submit, type Writes } from '../writes.ts';

const serialize = serializerOf(webhookEndpointResource);
const serializeWithSecret = serializerOf(webhookEndpointWithSecretResource);

const updated = (endpoint: WebhookEndpoint) => ({
  status: 200,
  headers: etag(endpoint.version),
  body: serialize(presentWebhookEndpoint(endpoint)),
});
const deleted = () => ({ status: 204, headers: {}, body: '' });
const withSecret = (status: 200 | 201, secret: string) => (endpoint: WebhookEndpoint) => ({
  status,
  headers: {
    ...(status === 201 ? { location: `/v1/webhook_endpoints/${encodeId('webhook_endpoint', endpoint.id)}` } : {}),
    ...etag(endpoint.version),
  },
  body: serializeWithSecret(presentWebhookEndpointWithSecret(endpoint, secret)),
});

/** A URL that can never be sent to is refused when it is given, rather than at every delivery. */
function refuseUrl(writes: Writes, url: string | undefined): Refusal | null {
  const message = url === undefined ? null : writes.refuseReceiver(url);
  return message === null ? null : validationFailed([{ pointer: '/url', code: 'blocked_address', message }]);
}

/** Values are encrypted before anything else sees them. */
const sealed = (writes: Writes, endpointId: Uuid, name: string, value: string) => ({
  name,
  sealed: writes.sealHeader(name, value, endpointId),
});

export function webhookEndpointWriteRoutes(writes: Writes): Route[] {
  const { lane, newId, makeSigningSecret, sealSigningSecret, makeSigningKey } = writes;
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/webhook_endpoints',
      operationId: 'createWebhookEndpoint',
      tag: 'Webhooks',
      summary: 'Register a webhook endpoint',
      description: 'The signing secret is in this answer and nowhere else. The endpoint is sent what happens from now on.',
      scope: 'webhooks:write',
      body: webhookEndpointCreate,
      bodyExample: webhookEndpointCreateExample,
      success: {
        status: 201,
        description: 'The endpoint with its secret.',
        schema: webhookEndpointWithSecretResource,
        example: webhookEndpointWithSecretExample,
      },
      errors: ['idempotency_key_reused'],
      idempotent: true,
      versioned: true,
      async handle(request) {
        const { url, description = null, event_types = null, signature_schemes = ['v1' as const], headers = {} } = request.body;
        const refusal = refuseUrl(writes, url);
        if (refusal !== null) return refusal;
        const id = newId();
        const secret = makeSigningSecret();
        const draft = {
          id,
          url,
          description,
          eventTypes: event_types,
          sealedSecret: sealSigningSecret(secret, id),
          signatureSchemes: signature_schemes,
          signingKey: signature_schemes.includes('v1a') ? makeSigningKey(id) : null,
          headers: Object.entries(headers).map(([name, value]) => sealed(writes, id, name, value)),
          maxConcurrency: request.body.max_concurrency ?? DEFAULT_MAX_CONCURRENCY,
          rateLimitPerSecond: request.body.rate_limit_per_second ?? null,
          ordering: request.body.ordering ?? ('none' as const),
        };
        return submit(lane, createWebhookEndpoint(audited(writes, request, withSecret(201, secret)), draft));
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: '/v1/webhook_endpoints/:id',
      operationId: 'updateWebhookEndpoint',
      tag: 'Webhooks',
      summary: 'Edit, enable or disable a webhook endpoint',
      description: 'An endpoint that is enabled again is sent what happens from then on.',
      scope: 'webhooks:write',
      ids: { id: 'webhook_endpoint' },
      body: webhookEndpointUpdate,
      bodyExample: webhookEndpointUpdateExample,
      success: { status: 200, description: 'The endpoint as it is now.', schema: webhookEndpointResource, example: webhookEndpointExample },
      errors: ['idempotency_key_reused', 'precondition_failed'],
      idempotent: true,
      versioned: true,
      async handle(request) {
        const { event_types, signature_schemes, headers = {}, max_concurrency, rate_limit_per_second, ...fields } = request.body;
        const refusal = refuseUrl(writes, fields.url);
        if (refusal !== null) return refusal;
        const id = request.ids.id as string;
        const update = {
          ...fields,
          eventTypes: event_types,
          maxConcurrency: max_concurrency,
          rateLimitPerSecond: rate_limit_per_second,
          signatureSchemes: signature_schemes,
          signingKey: signature_schemes?.includes('v1a') === true ? makeSigningKey(id) : undefined,
          headers: Object.entries(headers).map(([name, value]) =>
            value === null ? { name, sealed: null } : sealed(writes, id, name, value),
          ),
        };
        return submit(lane, updateWebhookEndpoint(audited(writes, request, updated), id, update, request.ifMatch));
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/v1/webhook_endpoints/:id',
      operationId: 'deleteWebhookEndpoint',
      tag: 'Webhooks',
      summary: 'Delete a webhook endpoint',
      description: 'What is still waiting to be sent to it is dropped.',
      scope: 'webhooks:write',
      ids: { id: 'webhook_endpoint' },
      success: { status: 204, description: 'The endpoint is gone.' },
      errors: [],
      handle: (request) => submit(lane, deleteWebhookEndpoint(audited(writes, request, deleted), request.ids.id as string)),
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/webhook_endpoints/:id/rotate_secret',
      operationId: 'rotateWebhookSecret',
      tag: 'Webhooks',
      summary: 'Give a webhook endpoint a new secret',
      description:
        'Until the overlap ends, deliveries are signed with the old secret too, so that a receiver can change over without a gap. ' +
        'The key of `v1a` signatures is renewed along with it.',
      scope: 'webhooks:write',
      ids: { id: 'webhook_endpoint' },
      body: webhookSecretRotate,
      bodyExample: { overlap_seconds: 3600 },
      success: {
        status: 200,
        description: 'The endpoint with its new secret.',
        schema: webhookEndpointWithSecretResource,
        example: webhookEndpointWithSecretExample,
      },
      errors: ['idempotency_key_reused'],
      idempotent: true,
      versioned: true,
      async handle(request) {
        const id = request.ids.id as string;
        const secret = makeSigningSecret();
        const overlapMs = request.body.overlap_seconds * 1000;
        const fresh = { sealedSecret: sealSigningSecret(secret, id), signingKey: makeSigningKey(id) };
        return submit(lane, rotateWebhookSecret(audited(writes, request, withSecret(200, secret)), id, fresh, overlapMs));
      },
    }),
  ];
}
