// What a command is: plain data about one write, the records it needs, and the pure functions that decide it and word its answer.
// Types only; knows no SQL and no HTTP.

import type { ApiKey } from '../domain/api-key.ts';
import type { Context, Decision } from '../domain/decision.ts';
import type { LockedDelivery } from '../domain/delivery-repair.ts';
import type { Refusal } from '../domain/errors.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Invoice } from '../domain/invoice.ts';
import type { Milestone } from '../domain/milestone.ts';
import type { Payment } from '../domain/payment.ts';
import type { Project } from '../domain/project.ts';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import type { WebhookRepair } from '../domain/webhook-repair.ts';

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

/** Who asks and how the answer is worded: the same for every command, told by the route. */
export interface Envelope<Result> {
  readonly workspaceId: Uuid;
  /** The key that asks; null for the operator at the command line. */
  readonly keyId: Uuid | null;
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

export type Outcome = StoredAnswer | Refusal;

/** Defaults of a small command: a handful of rows. */
export const SMALL = { secretAnswer: false, rows: 8 } as const;

/** The envelope of a write that nobody sent over HTTP: the operator's at the command line, or the service's own. */
export function ownEnvelope<Result>(workspaceId: Uuid, render: (result: Result) => StoredAnswer): Envelope<Result> {
  return { workspaceId, keyId: null, idempotency: null, bytes: 4096, render };
}
