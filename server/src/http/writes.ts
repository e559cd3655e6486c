// What every write route shares: handing a command to the lane and wording its answer. Decides nothing.

import type { Command, Envelope, Outcome, StoredAnswer } from '../commands/command.ts';
import type { Lane } from '../commands/lane.ts';
import type { NewSigningKey } from '../domain/endpoint-sending.ts';
import type { Refusal } from '../domain/errors.ts';
import type { EventType } from '../domain/event.ts';
import type { Uuid } from '../domain/ids.ts';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import type { WebhookDiagnosis, WebhookTest } from '../schemas/webhook-tests.ts';
import type { Repairs } from './repairs.ts';
import type { Answer, RouteRequest } from './route.ts';

/** What tries an endpoint out; null where this process has no room for another. */
export interface EndpointTests {
  sendTest(endpoint: WebhookEndpoint, type: EventType): Promise<WebhookTest | null>;
  diagnose(endpoint: WebhookEndpoint): Promise<WebhookDiagnosis | null>;
}

/** What write routes are handed by the composition root. */
export interface Writes {
  readonly lane: Lane;
  readonly repairs: Repairs;
  readonly tests: EndpointTests;
  /** Whether an answer is kept under this Idempotency-Key. */
  readonly hasAnswer: (workspaceId: Uuid, key: string) => Promise<boolean>;
  readonly clock: () => Date;
  readonly newId: () => Uuid;
  readonly makeKeySecret: () => string;
  readonly makeSigningSecret: () => string;
  /** Encrypts a signing secret for the endpoint with this id alone. */
  readonly sealSigningSecret: (secret: string, endpointId: Uuid) => string;
  /** An ed25519 key pair for this endpoint alone, its private half encrypted. */
  readonly makeSigningKey: (endpointId: Uuid) => NewSigningKey;
  /** Encrypts the value of a header for this endpoint and name alone. */
  readonly sealHeader: (name: string, value: string, endpointId: Uuid) => string;
  /** Why webhooks cannot be sent to a URL, as what would be right; null when nothing in its text says so. */
  readonly refuseReceiver: (url: string) => string | null;
}

/** What a write takes up while it waits and commits: its rows, and its text once as it came and once in the stored answer. */
const ROW_BYTES = 4096;
const BYTES_PER_SENT = 2;

export function envelope<Result>(request: RouteRequest<unknown, unknown>, render: (result: Result) => StoredAnswer): Envelope<Result> {
  const { caller, idempotency, bodyBytes } = request;
  return { workspaceId: caller.workspaceId, keyId: caller.keyId, idempotency, bytes: ROW_BYTES + BYTES_PER_SENT * bodyBytes, render };
}

export async function submit<Result>(lane: Lane, command: Command<Result>): Promise<Answer | Refusal> {
  const outcome: Outcome = await lane.submit(command);
  if ('code' in outcome) return outcome;
  return { status: outcome.status, headers: outcome.headers, body: outcome.body === '' ? null : outcome.body };
}

export function etag(version: number): Record<string, string> {
  return { etag: `"${version}"` };
}
