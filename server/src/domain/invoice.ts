// An invoice: the document of one approved milestone. Its number is taken at issue, gapless in its workspace, never reused.
// Pure: it is handed the time and fresh ids, and touches nothing outside its arguments. Source: DESIGN §2.

import { decimal } from './decimal.ts';
import type { Uuid } from './ids.ts';

/** The document itself. */
export const invoiceMoves = {
  issued: ['void'],
  void: [],
} as const satisfies Record<string, readonly string[]>;

/** Apart from the document: whether it has been paid. Only the release of its payment moves this. */
export const invoicePaymentMoves = {
  unpaid: ['paid'],
  paid: [],
} as const satisfies Record<string, readonly string[]>;

export type InvoiceStatus = keyof typeof invoiceMoves;
export type InvoicePaymentStatus = keyof typeof invoicePaymentMoves;
export const invoiceStatuses = Object.keys(invoiceMoves) as [InvoiceStatus, ...InvoiceStatus[]];
export const invoicePaymentStatuses = Object.keys(invoicePaymentMoves) as [InvoicePaymentStatus, ...InvoicePaymentStatus[]];

export interface InvoiceLine {
  readonly milestoneId: Uuid;
  readonly description: string;
  readonly amountMinor: bigint;
}

export interface Invoice {
  readonly id: Uuid;
  readonly workspaceId: Uuid;
  /** 1, 2, 3 … within the workspace, without a gap. */
  readonly number: number;
  readonly projectId: Uuid;
  readonly milestoneId: Uuid;
  readonly paymentId: Uuid;
  readonly clientId: string;
  readonly status: InvoiceStatus;
  readonly paymentStatus: InvoicePaymentStatus;
  readonly lines: readonly InvoiceLine[];
  readonly subtotalMinor: bigint;
  readonly taxMinor: bigint;
  readonly totalMinor: bigint;
  readonly currency: string;
  readonly paidAt: Date | null;
  readonly createdAt: Date;
}

/** An invoice with what its number begins with: the workspace's prefix when it was issued. */
export interface IssuedInvoice extends Invoice {
  readonly prefix: string;
}

/** `INV-000042`: the number as people read it. It grows past six digits by itself. */
export function formatInvoiceNumber(number: number, prefix: string): string {
  return `${prefix}${decimal(number).padStart(6, '0')}`;
}
