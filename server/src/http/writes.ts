// What every write route shares: handing a command to the lane and wording its answer. Decides nothing.

import type { IncomingMessage } from 'node:http';
import type { AuditStamp, Command, Envelope, Outcome, StoredAnswer } from '../commands/command.ts';
import type { Lane } from '../commands/lane.ts';
import type { NewSigningKey } from '../domain/endpoint-sending.ts';
import type { Refusal } from '../domain/errors.ts';
import type { EventType } from '../domain/event.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Origin, SessionCaller } from '../domain/person.ts';
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
  /** Where a request came from, for the audit log. */
  readonly originOf: (request: IncomingMessage) => Origin;
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
  const bytes = ROW_BYTES + BYTES_PER_SENT * bodyBytes;
  const { workspaceId, keyId, session } = caller;
  if (session === null) return { workspaceId, keyId, member: null, stamp: null, idempotency, bytes, render };
  return { workspaceId, keyId: null, member: memberOf(session), stamp: stampOf(session, null), idempotency, bytes, render };
}

/** For what goes into the audit log: the envelope, and where the request came from. */
export function audited<Result>(
  { originOf }: Pick<Writes, 'originOf'>,
  request: RouteRequest<unknown, unknown>,
  render: (result: Result) => StoredAnswer,
): Envelope<Result> {
  const { keyId, session } = request.caller;
  const origin = originOf(request.raw);
  const stamp: AuditStamp = session === null ? { actor: { type: 'key', id: keyId, name: null }, origin } : stampOf(session, origin);
  return { ...envelope(request, render), stamp };
}

function memberOf({ sessionId, person, membership }: SessionCaller): Envelope<unknown>['member'] {
  if (membership === null) throw new Error('a session of no workspace has got as far as a write in one');
  return { sessionId, personId: person.id, role: membership.role };
}

const stampOf = ({ person }: SessionCaller, origin: Origin | null): AuditStamp => ({
  actor: { type: 'person', id: person.id, name: person.name },
  origin,
});

export async function submit<Result>(lane: Lane, command: Command<Result>): Promise<Answer | Refusal> {
  const outcome: Outcome = await lane.submit(command);
  if ('code' in outcome) return outcome;
  return { status: outcome.status, headers: outcome.headers, body: outcome.body === '' ? null : outcome.body };
}

export function etag(version: number): Record<string, string> {
  return { etag: `"${version}"` };
}
