// Every SQL statement on payments. Each says which index or lock it relies on.

import type { Uuid } from '../domain/ids.ts';
import type { Payment, PaymentStatus } from '../domain/payment.ts';
import type { PaymentTotals } from '../domain/totals.ts';
import type { Queryable } from './database.ts';
import { defineList, defineSums, equals, oneOf, type TimeRange, tableSource } from './lists.ts';
import { columnTypes, defineTable } from './tables.ts';
import { byCurrency } from './totals.ts';

export const paymentTable = defineTable<Payment>('payments', {
  workspaceId: columnTypes.fixedUuid('workspace_id'),
  id: columnTypes.fixedUuid('id'),
  projectId: columnTypes.fixedUuid('project_id'),
  milestoneId: columnTypes.fixedUuid('milestone_id'),
  invoiceId: columnTypes.fixedUuid('invoice_id'),
  clientId: { column: 'client_id', type: 'text', fixed: true },
  payeeId: { column: 'payee_id', type: 'text', fixed: true },
  amountMinor: { column: 'amount_minor', type: 'bigint', fixed: true },
  currency: { column: 'currency', type: 'text', fixed: true },
  status: { column: 'status', type: 'text' },
  releasedAt: { column: 'released_at', type: 'timestamptz(3)' },
  createdAt: columnTypes.createdAt,
});

export const paymentSource = tableSource(paymentTable);

export interface PaymentFilters {
  readonly status?: PaymentStatus | undefined;
  readonly projectId?: Uuid | undefined;
  readonly clientId?: string | undefined;
  readonly milestoneId?: Uuid | undefined;
}

/**
 * The payments of a workspace: the primary key (workspace_id, id); of a project payments_by_project, of a client payments_by_client, both
 * with the id at their end; of a milestone payments_one_per_milestone; the pending ones payments_pending (workspace_id, id).
 */
const conditions = {
  status: oneOf({ pending: "t.status = 'pending'", released: "t.status = 'released'" }),
  projectId: equals('t.project_id'),
  clientId: equals('t.client_id'),
  milestoneId: equals('t.milestone_id'),
};

export const listPayments = defineList<Payment, PaymentFilters>({ source: paymentSource, conditions });

const sums = defineSums<PaymentFilters>({ table: 'payments', amount: 't.amount_minor', group: 't.status', conditions });

/** Payments added up by currency and status, along the indexes of the list. */
export async function sumPayments(queryable: Queryable, ...choice: [Uuid, PaymentFilters, TimeRange]): Promise<PaymentTotals[]> {
  const rows = await sums<{ status: PaymentStatus }>(queryable, ...choice);
  return byCurrency(rows, (of) => ({
    pending: of(({ status }) => status === 'pending'),
    released: of(({ status }) => status === 'released'),
  }));
}
