// Begins a repair, or stops one. Scope: webhooks:write. What a repair changes is done step by step outside the lane.

import { type Decision, rejectMissing } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import { decideRepairCreation, decideRepairStop, type RepairDraft, type WebhookRepair } from '../domain/webhook-repair.ts';
import { type Command, type Envelope, SMALL } from './command.ts';

export function createWebhookRepair(envelope: Envelope<WebhookRepair>, draft: RepairDraft): Command<WebhookRepair> {
  const { endpointId } = draft;
  return {
    ...envelope,
    ...SMALL,
    name: 'create-webhook-repair',
    needs: endpointId === null ? {} : { webhookEndpointId: endpointId },
    decide: (state, context) => decideRepairCreation(draft, endpointId === null ? undefined : state.webhookEndpoint(endpointId), context),
  };
}

export function stopWebhookRepair(envelope: Envelope<WebhookRepair>, webhookRepairId: Uuid): Command<WebhookRepair> {
  return {
    ...envelope,
    ...SMALL,
    name: 'stop-webhook-repair',
    needs: { webhookRepairId },
    decide(state, context): Decision<WebhookRepair> {
      const repair = state.webhookRepair(webhookRepairId);
      return repair === undefined ? rejectMissing() : decideRepairStop(repair, context);
    },
  };
}
