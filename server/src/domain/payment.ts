// A payment: the money of one approved milestone. It is released once and never rewritten after.
// Pure: it is handed the time and fresh ids, and touches nothing outside its arguments. Source: DESIGN §2.

import { accept, type Changes, type Context, type Decision } from './decision.ts';
import { type EventDraft, invoiceIssued, paymentReleased } from './event.ts';
import type { Uuid } from './ids.ts';
import type { Invoice } from './invoice.ts';
import { postEntries } from './ledger.ts';
import type { Milestone } from './milestone.ts';
import type { Project } from './project.ts';

export const paymentMoves = {
  pending: ['released'],
  released: [],
} as const satisfies Record<string, readonly string[]>;

export type PaymentStatus = keyof typeof paymentMoves;
export const paymentStatuses = Object.keys(paymentMoves) as [PaymentStatus, ...PaymentStatus[]];

export interface Payment {
  readonly id: Uuid;
  readonly workspaceId: Uuid;
  readonly projectId: Uuid;
  readonly milestoneId: Uuid;
  readonly invoiceId: Uuid;
  readonly clientId: string;
  readonly payeeId: string | null;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly status: PaymentStatus;
  readonly releasedAt: Date | null;
  readonly createdAt: Date;
}

/**
 * What an approval means for money: a payment, its invoice and its ledger entries, released at once where the project says so.
 * Made in the approval's own decision, so that the two can never disagree.
 */
export function payForApproval(
  milestone: Milestone,
  project: Project,
  context: Context,
): Changes & { readonly events: readonly EventDraft[] } {
  const released = project.release === 'on_approval';
  const { workspaceId, amountMinor, currency } = milestone;
  const shared = {
    workspaceId,
    projectId: project.id,
    milestoneId: milestone.id,
    clientId: project.clientId,
    currency,
    createdAt: context.now,
  };
  const paymentId = context.newId();
  const invoice: Invoice = {
    ...shared,
    id: context.newId(),
    number: context.nextInvoiceNumber,
    paymentId,
    status: 'issued',
    paymentStatus: released ? 'paid' : 'unpaid',
    lines: [{ milestoneId: milestone.id, description: milestone.title, amountMinor }],
    subtotalMinor: amountMinor,
    taxMinor: 0n,
    totalMinor: amountMinor,
    paidAt: released ? context.now : null,
  };
  const payment: Payment = {
    ...shared,
    id: paymentId,
    invoiceId: invoice.id,
    payeeId: milestone.payeeId,
    amountMinor,
    status: released ? 'released' : 'pending',
    releasedAt: released ? context.now : null,
  };
  const entries = postEntries(released ? 'released_on_approval' : 'accrued', { ...payment, paymentId }, context.newId(), context.now);
  const issued = invoiceIssued(invoice, context.workspace.invoicePrefix);
  const events = released ? [issued, paymentReleased(payment)] : [issued];
  return { payments: [payment], invoices: [invoice], entries, events };
}

/** Lets a pending payment go. A released one stays as it is: releasing it again changes nothing. */
export function decideRelease(payment: Payment, invoice: Invoice, context: Context): Decision<Payment> {
  if (payment.status === 'released') return accept(payment);
  const released: Payment = { ...payment, status: 'released', releasedAt: context.now };
  const paid: Invoice = { ...invoice, paymentStatus: 'paid', paidAt: context.now };
  const entries = postEntries('released', { ...payment, paymentId: payment.id }, context.newId(), context.now);
  return accept(released, { payments: [released], invoices: [paid], entries, events: [paymentReleased(released)] });
}
