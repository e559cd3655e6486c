// What a command is: plain data about one write, the records it needs, and the pure functions that decide it and word its answer.
// Types and bounds; knows no SQL and no HTTP.

import type { ApiKey } from '../domain/api-key.ts';
import type { AuditActor } from '../domain/audit.ts';
import type { Context, Decision } from '../domain/decision.ts';
import type { LockedDelivery } from '../domain/delivery-repair.ts';
import type { Refusal } from '../domain/errors.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Invitation } from '../domain/invitation.ts';
import { MAX_PENDING_INVITATIONS } from '../domain/inviting.ts';
import type { Invoice } from '../domain/invoice.ts';
import type { Member } from '../domain/member.ts';
import type { Milestone } from '../domain/milestone.ts';
import type { Payment } from '../domain/payment.ts';
import type { Origin } from '../domain/person.ts';
import type { Project } from '../domain/project.ts';
import type { Role } from '../domain/roles.ts';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import type { WebhookRepair } from '../domain/webhook-repair.ts';
import type { WorkspaceSettings } from '../domain/workspace.ts';

/** Ids of the records that a decision looks at. A milestone brings its project along, a payment its invoice. */
export interface Needs {
  readonly projectId?: Uuid;
  readonly milestoneId?: Uuid;
  readonly paymentId?: Uuid;
  readonly apiKeyId?: Uuid;
  readonly webhookEndpointId?: Uuid;
  readonly webhookRepairId?: Uuid;
  /** Brings its endpoint along. */
  readonly deliveryId?: Uuid;
  readonly invitationId?: Uuid;
  /** The settings of the workspace, in full. */
  readonly settings?: true;
  /** All members of the workspace, those who left included. */
  readonly members?: true;
  /** All invitations of the workspace that wait. */
  readonly pendingInvitations?: true;
  /** All keys that still hold and all endpoints that are enabled. */
  readonly holdings?: true;
}

/** The workspace's records as they are at this point of the batch: loaded, or as an earlier command of the batch left them. */
export interface State {
  project(id: Uuid): Project | undefined;
  milestone(id: Uuid): Milestone | undefined;
  payment(id: Uuid): Payment | undefined;
  invoice(id: Uuid): Invoice | undefined;
  apiKey(id: Uuid): ApiKey | undefined;
  webhookEndpoint(id: Uuid): WebhookEndpoint | undefined;
  webhookRepair(id: Uuid): WebhookRepair | undefined;
  delivery(id: Uuid): LockedDelivery | undefined;
  /** Loaded only where a command of the batch needs them. */
  settings(): WorkspaceSettings | undefined;
  invitation(id: Uuid): Invitation | undefined;
  members(): readonly Member[];
  /** Those that were loaded for it: all that wait, and perhaps some that an earlier command of the batch has ended. */
  pendingInvitations(): readonly Invitation[];
  liveKeys(): readonly ApiKey[];
  liveEndpoints(): readonly WebhookEndpoint[];
}

/** The answer to a write: stored with its idempotency key, so that a repetition gets it to the letter. */
export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Idempotency {
  readonly key: string;
  /** SHA-256 of method, path and the raw JSON with sorted keys. */
  readonly fingerprint: Buffer;
}

/** Somebody who asks with a session, as the request was admitted: the lane looks again, under the lock, whether that still holds. */
export interface MemberCaller {
  readonly sessionId: Uuid;
  readonly personId: Uuid;
  /** Null where no member is asked for, because the command makes one. */
  readonly role: Role | null;
}

/** What entries of the audit log say of who asked and from where. */
export interface AuditStamp {
  readonly actor: AuditActor;
  readonly origin: Origin | null;
}

/** Who asks and how the answer is worded: the same for every command, told by the route. */
export interface Envelope<Result> {
  readonly workspaceId: Uuid;
  /** The key that asks; null for a person and for the operator at the command line. */
  readonly keyId: Uuid | null;
  /** Who asks with a session; null for a key, the operator, and somebody who signs up. */
  readonly member: MemberCaller | null;
  /** Where a decision has entries for the audit log and this is null, they name the key, or else the service. */
  readonly stamp: AuditStamp | null;
  readonly idempotency: Idempotency | null;
  /** A rough size of its data: what waits and what one batch holds is limited by it. */
  readonly bytes: number;
  /** Pure; called inside the transaction, before the answer is stored. */
  readonly render: (result: Result) => StoredAnswer;
}

export interface Command<Result> extends Envelope<Result> {
  /** `create-project`: for logs. */
  readonly name: string;
  readonly needs: Needs;
  readonly decide: (state: State, context: Context) => Decision<Result>;
  /** Whether the answer carries a secret and must be encrypted where it is stored. */
  readonly secretAnswer: boolean;
  /** An upper bound of the rows it writes: what a batch is limited by. */
  readonly rows: number;
}

// biome-ignore lint/suspicious/noExplicitAny: a batch mixes commands whose results differ; each is decided and rendered by itself.
export type AnyCommand = Command<any>;

export type Outcome = StoredAnswer | Refusal;

/** Defaults of a small command: a handful of rows. */
export const SMALL = { secretAnswer: false, rows: 8 } as const;

/** Of a command that may revoke every invitation that waits, each with its entry in the audit log. */
export const REVOKING = { secretAnswer: false, rows: SMALL.rows + 2 * MAX_PENDING_INVITATIONS } as const;

/** The envelope of a write that nobody sent over HTTP: the operator's at the command line, or the service's own; `name` is for the audit log. */
export function ownEnvelope<Result>(
  workspaceId: Uuid,
  render: (result: Result) => StoredAnswer,
  name: 'Tranche' | 'Command line' = 'Tranche',
): Envelope<Result> {
  const stamp = { actor: { type: 'system', id: null, name }, origin: null } as const;
  return { workspaceId, keyId: null, member: null, stamp, idempotency: null, bytes: 4096, render };
}
