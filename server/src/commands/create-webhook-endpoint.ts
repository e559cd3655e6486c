// Registers a webhook endpoint with a secret that the caller made and sealed. Scope: webhooks:write.

import { decideEndpointCreation, type WebhookEndpoint, type WebhookEndpointDraft } from '../domain/webhook-endpoint.ts';
import { type Command, type Envelope, SMALL } from './command.ts';

export function createWebhookEndpoint(envelope: Envelope<WebhookEndpoint>, draft: WebhookEndpointDraft): Command<WebhookEndpoint> {
  return {
    ...envelope,
    ...SMALL,
    name: 'create-webhook-endpoint',
    needs: {},
    secretAnswer: true,
    decide: (_state, context) => decideEndpointCreation(draft, context),
  };
}
