// Events: what happened, in the order it happened. The kinds, their payloads and the exact bytes that are hashed, signed and sent.
// Pure. The webhook body is exactly {"event","data"}, with camelCase data, as the given interface shows. Source: DESIGN §1, §4.5.

import { hash } from 'node:crypto';
import { decimal } from './decimal.ts';
import { encodeId, type Uuid } from './ids.ts';
import type { Invoice } from './invoice.ts';
import { formatInvoiceNumber } from './invoice.ts';
import type { Milestone } from './milestone.ts';
import type { Payment } from './payment.ts';
import type { Project } from './project.ts';
import { formatTimestamp } from './timestamp.ts';

export const eventTypes = {
  'project.created': 'A project was created.',
  'milestone.submitted': 'A milestone was submitted.',
  'milestone.approved': 'A milestone was approved.',
  'payment.released': 'A payment was released.',
  'milestone.created': 'A milestone was created.',
  'milestone.changes_requested': 'Changes were requested on a submitted milestone.',
  'milestone.cancelled': 'A milestone was cancelled.',
  'invoice.issued': 'An invoice was issued.',
  'project.archived': 'A project was archived.',
  'webhook_endpoint.disabled': 'A webhook endpoint was disabled, because it had failed for days or said that it is gone.',
} as const;

export type EventType = keyof typeof eventTypes;
export const allEventTypes = Object.keys(eventTypes) as [EventType, ...EventType[]];

/** What an endpoint without `event_types` of its own gets: exactly the four kinds of the given interface. */
export const defaultEventTypes = [
  'project.created',
  'milestone.submitted',
  'milestone.approved',
  'payment.released',
] as const satisfies readonly EventType[];

/** An event as a decision makes it; the lane gives it its sequence number and hash. */
export interface EventDraft {
  readonly type: EventType;
  /** Null: it is about the workspace, and no project. */
  readonly projectId: Uuid | null;
  readonly body: string;
}

export interface Event extends EventDraft {
  readonly id: Uuid;
  readonly workspaceId: Uuid;
  /** 1, 2, 3 … within the workspace, in commit order, without a gap. */
  readonly seq: number;
  readonly hash: Buffer;
  readonly createdAt: Date;
}

function draft(type: EventType, projectId: Uuid | null, data: Record<string, string | number | null>): EventDraft {
  return { type, projectId, body: JSON.stringify({ event: type, data }) };
}

export function projectEvent(type: 'project.created' | 'project.archived', project: Project): EventDraft {
  return draft(type, project.id, { projectId: encodeId('project', project.id), name: project.name, clientId: project.clientId });
}

export function milestoneEvent(type: Extract<EventType, `milestone.${string}`>, milestone: Milestone): EventDraft {
  return draft(type, milestone.projectId, {
    projectId: encodeId('project', milestone.projectId),
    milestoneId: encodeId('milestone', milestone.id),
    title: milestone.title,
    amount: Number(milestone.amountMinor),
    currency: milestone.currency,
  });
}

/** Exactly the four fields of the given interface. */
export function paymentReleased(payment: Payment): EventDraft {
  return draft('payment.released', payment.projectId, {
    projectId: encodeId('project', payment.projectId),
    milestoneId: encodeId('milestone', payment.milestoneId),
    amount: Number(payment.amountMinor),
    currency: payment.currency,
  });
}

/** `prefix`: what the workspace's invoice numbers begin with at this moment. */
export function invoiceIssued(invoice: Invoice, prefix: string): EventDraft {
  return draft('invoice.issued', invoice.projectId, {
    projectId: encodeId('project', invoice.projectId),
    milestoneId: encodeId('milestone', invoice.milestoneId),
    invoiceId: encodeId('invoice', invoice.id),
    number: formatInvoiceNumber(invoice.number, prefix),
    total: Number(invoice.totalMinor),
    currency: invoice.currency,
  });
}

export function endpointDisabled(
  endpoint: { readonly id: Uuid; readonly url: string; readonly disabledReason: string | null },
  failingSince: Date | null,
): EventDraft {
  return draft('webhook_endpoint.disabled', null, {
    endpointId: encodeId('webhook_endpoint', endpoint.id),
    url: endpoint.url,
    reason: endpoint.disabledReason,
    failingSince: failingSince?.toISOString() ?? null,
  });
}

/** Of SHA-256. */
const HASH_BYTES = 32;

/** The hash before the first event of a workspace. */
export const GENESIS_HASH = Buffer.alloc(HASH_BYTES);

/** SHA-256 of the previous hash and of each field with its length in front, so that no two logs share a hash. */
export function chainHash(previous: Buffer, event: { workspaceId: Uuid; seq: number; id: Uuid; createdAt: Date; body: string }): Buffer {
  let text = '';
  for (const part of [event.workspaceId, decimal(event.seq), event.id, formatTimestamp(event.createdAt)]) text += `${part.length}:${part}`;
  const bodyLength = Buffer.byteLength(event.body);
  text += `${bodyLength}:`;
  const input = Buffer.allocUnsafe(previous.length + text.length + bodyLength);
  previous.copy(input);
  input.write(text, previous.length, 'latin1');
  input.write(event.body, previous.length + text.length);
  // By way of a string: measured as two thirds of the time of asking for a buffer. Its bytes one by one, for memory of its own (store/values.ts).
  const bytes = hash('sha256', input, 'binary');
  const digest = Buffer.alloc(HASH_BYTES);
  for (let i = 0; i < HASH_BYTES; i++) digest[i] = bytes.charCodeAt(i);
  return digest;
}
