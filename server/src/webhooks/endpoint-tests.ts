// Tests and diagnoses of endpoints on request: a sample that is sent once, and a look at every step on the way to a receiver.
// Bounded in number and time; stores nothing, retries nothing, and goes nowhere that a delivery would not go.

import type { EventType } from '../domain/event.ts';
import { encodeId, type Uuid } from '../domain/ids.ts';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import type { WebhookDiagnosis, WebhookTest } from '../schemas/webhook-tests.ts';
import { createDiagnose, type DiagnoseOptions } from './diagnose.ts';
import type { Send } from './safe-fetch.ts';
import { makeSample, PING_BODY, sampleBody } from './sample.ts';
import type { Seals } from './seals.ts';

/** At once in this process; each may take as long as a receiver lets it. */
const MAX_AT_ONCE = 16;
/** Of these for one workspace, so that its receivers that hang leave places to others. */
export const MAX_AT_ONCE_EACH = 4;

export interface EndpointTestsOptions extends DiagnoseOptions {
  readonly send: Send;
  readonly seals: Seals;
  readonly now: () => Date;
  readonly newId: () => Uuid;
  readonly version: string;
}

export interface EndpointTests {
  /** Null: as many are under way as this process takes on, of this workspace or of all together. */
  sendTest(endpoint: WebhookEndpoint, type: EventType): Promise<WebhookTest | null>;
  diagnose(endpoint: WebhookEndpoint): Promise<WebhookDiagnosis | null>;
}

export function createEndpointTests(options: EndpointTestsOptions): EndpointTests {
  const { send, seals, now, newId, version } = options;
  const look = createDiagnose(options);
  let underWay = 0;
  const byWorkspace = new Map<Uuid, number>();

  async function bounded<Result>({ workspaceId }: WebhookEndpoint, act: () => Promise<Result>): Promise<Result | null> {
    const own = byWorkspace.get(workspaceId) ?? 0;
    if (underWay >= MAX_AT_ONCE || own >= MAX_AT_ONCE_EACH) return null;
    underWay += 1;
    byWorkspace.set(workspaceId, own + 1);
    try {
      return await act();
    } finally {
      underWay -= 1;
      const left = (byWorkspace.get(workspaceId) as number) - 1;
      if (left === 0) byWorkspace.delete(workspaceId);
      else byWorkspace.set(workspaceId, left);
    }
  }

  async function sendTest(endpoint: WebhookEndpoint, type: EventType): Promise<WebhookTest> {
    const sentAt = now();
    const sample = makeSample(endpoint, sampleBody(type), sentAt, newId, seals, version);
    const sent = await send({ url: endpoint.url, headers: { ...sample.ownHeaders, ...sample.headers }, body: sample.body });
    const answer = sent.kind === 'answered' ? sent : null;
    return {
      object: 'webhook_test',
      endpoint_id: encodeId('webhook_endpoint', endpoint.id),
      event_id: sample.eventId,
      event_type: type,
      sent_at: sentAt.toISOString(),
      duration_ms: Math.max(0, now().getTime() - sentAt.getTime()),
      acknowledged: answer !== null && answer.statusCode >= 200 && answer.statusCode < 300,
      remote_address: sent.remoteAddress,
      status_code: answer?.statusCode ?? null,
      error_kind: sent.kind === 'failed' ? sent.error : null,
      error: sent.kind === 'failed' ? sent.detail : null,
      response_headers: answer === null ? null : { ...answer.headers },
      response_body: answer?.body ?? null,
      response_truncated: answer?.truncated ?? false,
      request_headers: { ...sample.headers },
      request_body: sample.body,
    };
  }

  async function diagnose(endpoint: WebhookEndpoint): Promise<WebhookDiagnosis> {
    const checkedAt = now();
    const ping = makeSample(endpoint, PING_BODY, checkedAt, newId, seals, version);
    const found = await look(endpoint.url, { headers: { ...ping.ownHeaders, ...ping.headers }, body: ping.body }, checkedAt);
    return {
      object: 'webhook_diagnosis',
      endpoint_id: encodeId('webhook_endpoint', endpoint.id),
      url: endpoint.url,
      checked_at: checkedAt.toISOString(),
      ...found,
    };
  }

  return {
    sendTest: (endpoint, type) => bounded(endpoint, () => sendTest(endpoint, type)),
    diagnose: (endpoint) => bounded(endpoint, () => diagnose(endpoint)),
  };
}
