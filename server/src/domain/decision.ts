// What every decision is made of: the context it is handed, the changes it asks for, and its two outcomes.
// Pure types and constructors; nothing here writes anything.

import type { ApiKey } from './api-key.ts';
import type { AuditDraft } from './audit.ts';
import type { DeliveryAsk, LockedDelivery } from './delivery-repair.ts';
import type { ErrorCode, FieldError, Refusal } from './errors.ts';
import type { EventDraft } from './event.ts';
import type { Uuid } from './ids.ts';
import type { Invitation } from './invitation.ts';
import type { Invoice } from './invoice.ts';
import type { LedgerEntry } from './ledger.ts';
import type { Member } from './member.ts';
import type { Milestone } from './milestone.ts';
import type { Payment } from './payment.ts';
import type { NewPerson } from './person.ts';
import type { Project } from './project.ts';
import type { WebhookEndpoint } from './webhook-endpoint.ts';
import type { WebhookRepair } from './webhook-repair.ts';
import type { SettingsChange } from './workspace.ts';

export interface Workspace {
  readonly id: Uuid;
  readonly name: string;
  readonly defaultCurrency: string;
  /** What the numbers of its invoices begin with from here on. */
  readonly invoicePrefix: string;
  readonly createdAt: Date;
  /** Once set, nothing in the workspace changes any more. */
  readonly closedAt: Date | null;
}

export interface Context {
  readonly workspace: Workspace;
  /** Never before the workspace's last commit, whatever the clock says. */
  readonly now: Date;
  readonly newId: () => Uuid;
  /** The number that the next invoice of the workspace takes. */
  readonly nextInvoiceNumber: number;
  /** The sequence number of the workspace's last event. */
  readonly lastSeq: number;
}

/** What an accepted decision writes, all of it or nothing. A record that exists is rewritten, another is inserted. */
export interface Changes {
  readonly projects?: readonly Project[];
  readonly milestones?: readonly Milestone[];
  readonly invoices?: readonly Invoice[];
  readonly payments?: readonly Payment[];
  readonly apiKeys?: readonly ApiKey[];
  readonly webhookEndpoints?: readonly WebhookEndpoint[];
  readonly webhookRepairs?: readonly WebhookRepair[];
  /** People who exist from here on. */
  readonly people?: readonly NewPerson[];
  readonly members?: readonly Member[];
  readonly invitations?: readonly Invitation[];
  /** Deliveries as they are from here on, and what is asked of them; the worker writes them too, so they are not rewritten whole. */
  readonly deliveries?: readonly { readonly delivery: LockedDelivery; readonly ask: DeliveryAsk }[];
  readonly settings?: SettingsChange;
  readonly entries?: readonly LedgerEntry[];
  readonly events?: readonly EventDraft[];
  /** What goes into the audit log with it; whoever asked and from where is added where it is carried out. */
  readonly audit?: readonly AuditDraft[];
  /** Closes the workspace as of this decision. */
  readonly closesWorkspace?: boolean;
}

export type Decision<Result> =
  | { readonly accepted: true; readonly result: Result; readonly changes: Changes }
  | { readonly accepted: false; readonly refusal: Refusal };

export function accept<Result>(result: Result, changes: Changes = {}): Decision<Result> {
  return { accepted: true, result, changes };
}

export function reject(code: ErrorCode, detail: string, errors?: readonly FieldError[]): Decision<never> {
  return { accepted: false, refusal: errors === undefined ? { code, detail } : { code, detail, errors } };
}

/** A field whose value is well-formed by itself and wrong in this situation. */
export function rejectField(pointer: string, code: string, message: string): Decision<never> {
  return reject('validation_failed', message, [{ pointer, code, message }]);
}

/** The refusal of a stale `If-Match`, or null when the version is the expected one or none was given. */
export function rejectStale(expected: number | null, actual: number): Decision<never> | null {
  if (expected === null || expected === actual) return null;
  return reject('precondition_failed', `If-Match names version ${expected}; the current version is ${actual}.`);
}

export function rejectMissing(): Decision<never> {
  return reject('not_found', 'There is no such resource in this workspace.');
}
