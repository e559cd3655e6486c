// Edits, enables, disables or deletes a webhook endpoint, or gives it a new secret. Scope: webhooks:write.

import { type Context, type Decision, rejectMissing } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import {
  decideEndpointDeletion,
  decideEndpointGone,
  decideEndpointUpdate,
  decideSecretRotation,
  type EndpointGone,
  type WebhookEndpoint,
  type WebhookEndpointUpdate,
} from '../domain/webhook-endpoint.ts';
import { type Command, type Envelope, SMALL } from './command.ts';

type Decide = (endpoint: WebhookEndpoint, context: Context) => Decision<WebhookEndpoint>;

/** A deleted endpoint is as absent as one that never was. */
function onEndpoint(name: string, envelope: Envelope<WebhookEndpoint>, webhookEndpointId: Uuid, decide: Decide): Command<WebhookEndpoint> {
  return {
    ...envelope,
    ...SMALL,
    name,
    needs: { webhookEndpointId },
    decide(state, context) {
      const endpoint = state.webhookEndpoint(webhookEndpointId);
      return endpoint === undefined || endpoint.deletedAt !== null ? rejectMissing() : decide(endpoint, context);
    },
  };
}

export function updateWebhookEndpoint(
  envelope: Envelope<WebhookEndpoint>,
  id: Uuid,
  update: WebhookEndpointUpdate,
  expectedVersion: number | null,
): Command<WebhookEndpoint> {
  return onEndpoint('update-webhook-endpoint', envelope, id, (endpoint, context) =>
    decideEndpointUpdate(update, expectedVersion, endpoint, context),
  );
}

/** Disables an endpoint that said it is gone or that has failed for days, unless it has been renewed since, and records that as an event. */
export function disableGoneEndpoint(envelope: Envelope<WebhookEndpoint>, id: Uuid, gone: EndpointGone): Command<WebhookEndpoint> {
  return onEndpoint('disable-gone-endpoint', envelope, id, (endpoint, context) => decideEndpointGone(gone, endpoint, context));
}

export function deleteWebhookEndpoint(envelope: Envelope<WebhookEndpoint>, id: Uuid): Command<WebhookEndpoint> {
  return onEndpoint('delete-webhook-endpoint', envelope, id, decideEndpointDeletion);
}

export function rotateWebhookSecret(
  envelope: Envelope<WebhookEndpoint>,
  id: Uuid,
  fresh: Parameters<typeof decideSecretRotation>[1],
  overlapMs: number,
): Command<WebhookEndpoint> {
  const command = onEndpoint('rotate-webhook-secret', envelope, id, (endpoint, context) =>
    decideSecretRotation(endpoint, fresh, overlapMs, context),
  );
  return { ...command, secretAnswer: true };
}
