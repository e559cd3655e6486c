// Edits, enables, disables or deletes a webhook endpoint, or gives it a new secret. Scope: webhooks:write.

import { accept, type Context, type Decision, rejectMissing } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import {
  decideEndpointDeletion,
  decideEndpointUpdate,
  decideSecretRotation,
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

/** Disables an endpoint whose address said that it is gone, unless it has another address by now. */
export function disableGoneEndpoint(
  envelope: Envelope<WebhookEndpoint>,
  id: Uuid,
  url: string,
  disabledReason: string,
): Command<WebhookEndpoint> {
  return onEndpoint('disable-gone-endpoint', envelope, id, (endpoint, context) =>
    endpoint.url === url ? decideEndpointUpdate({ status: 'disabled', disabledReason }, null, endpoint, context) : accept(endpoint),
  );
}

export function deleteWebhookEndpoint(envelope: Envelope<WebhookEndpoint>, id: Uuid): Command<WebhookEndpoint> {
  return onEndpoint('delete-webhook-endpoint', envelope, id, decideEndpointDeletion);
}

export function rotateWebhookSecret(
  envelope: Envelope<WebhookEndpoint>,
  id: Uuid,
  sealedSecret: string,
  overlapMs: number,
): Command<WebhookEndpoint> {
  const command = onEndpoint('rotate-webhook-secret', envelope, id, (endpoint, context) =>
    decideSecretRotation(endpoint, sealedSecret, overlapMs, context),
  );
  return { ...command, secretAnswer: true };
}
