// The routes that try an endpoint out: a sample of any kind of event, and a diagnosis.
// They turn a request into a call and what came of it into an answer; what is sent and looked at is the business of webhooks.

import type { Refusal } from '../../domain/errors.ts';
import type { Uuid } from '../../domain/ids.ts';
import {
  webhookDiagnose,
  webhookDiagnosisExample,
  webhookDiagnosisResource,
  webhookTestCreate,
  webhookTestExample,
  webhookTestResource,
} from '../../schemas/webhook-tests.ts';
import { ABSENT } from '../mount.ts';
import { createOnce } from '../once.ts';
import type { Reads } from '../reads.ts';
import { defineRoute, type Route } from '../route.ts';
import { serializerOf } from '../serialize.ts';
import type { Writes } from '../writes.ts';

const serializeTest = serializerOf(webhookTestResource);
const serializeDiagnosis = serializerOf(webhookDiagnosisResource);
const BUSY: Refusal = {
  code: 'overloaded',
  detail: 'As many tests and diagnoses are under way as this server takes on at once; nothing was sent. Wait for those of yours to end.',
};

export function webhookTestRoutes(reads: Reads, writes: Writes): Route[] {
  const once = createOnce({ lane: writes.lane, hasAnswer: (...place) => writes.hasAnswer(...place) });
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/webhook_endpoints/:id/test',
      operationId: 'testWebhookEndpoint',
      tag: 'Webhooks',
      summary: 'Send a sample to a webhook endpoint',
      description:
        'Sends a sample of any kind of event once, at once and signed, to an enabled or a disabled endpoint, and answers with what came of it. ' +
        'Its body is exactly as that of a real one; the header `Tranche-Test: true` marks it, and without `Tranche-Seq` it leaves no gap. It is ' +
        'no event: nothing is stored, retried or counted against the endpoint.',
      scope: 'webhooks:write',
      ids: { id: 'webhook_endpoint' },
      body: webhookTestCreate,
      bodyExample: { event_type: 'payment.released' },
      success: { status: 200, description: 'What came of it.', schema: webhookTestResource, example: webhookTestExample },
      errors: ['idempotency_key_reused'],
      idempotent: true,
      async handle(request) {
        const id = request.ids.id as Uuid;
        const endpoint = await reads.getWebhookEndpoint(request.caller.workspaceId, id);
        if (endpoint === null) return ABSENT;
        const act = async () => (await writes.tests.sendTest(endpoint, request.body.event_type ?? 'payment.released')) ?? BUSY;
        return once(request, id, act, (result) => ({ status: 200, headers: {}, body: serializeTest(result) }));
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/webhook_endpoints/:id/diagnose',
      operationId: 'diagnoseWebhookEndpoint',
      tag: 'Webhooks',
      summary: 'Find out why a webhook endpoint does not work',
      description:
        'Goes the way of a delivery step by step and says where it ends: the name, its addresses and whether webhooks are sent there, the ' +
        'connection, the certificate with its chain and expiry, and the answer to a signed ping, each with its time; and what to do. The ping is ' +
        'a webhook `{"event":"ping","data":{}}` with the header `Tranche-Test: true`. It takes at most 30 s, and changes nothing.',
      scope: 'webhooks:write',
      ids: { id: 'webhook_endpoint' },
      body: webhookDiagnose,
      success: { status: 200, description: 'What was found.', schema: webhookDiagnosisResource, example: webhookDiagnosisExample },
      errors: ['idempotency_key_reused'],
      idempotent: true,
      async handle(request) {
        const id = request.ids.id as Uuid;
        const endpoint = await reads.getWebhookEndpoint(request.caller.workspaceId, id);
        if (endpoint === null) return ABSENT;
        const act = async () => (await writes.tests.diagnose(endpoint)) ?? BUSY;
        return once(request, id, act, (result) => ({ status: 200, headers: {}, body: serializeDiagnosis(result) }));
      },
    }),
  ];
}
