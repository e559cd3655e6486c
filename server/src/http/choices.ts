// A query without pages as what the store takes: which payments or invoices are chosen, and from when.
// Shared by totals and exports, so that both are of exactly what the list shows.

import type { z } from 'zod';
import type { invoiceChoiceQuery } from '../schemas/invoices.ts';
import type { paymentChoiceQuery } from '../schemas/payments.ts';
import type { InvoiceFilters } from '../store/invoices.ts';
import type { TimeRange } from '../store/lists.ts';
import type { PaymentFilters } from '../store/payments.ts';

interface Choice<Filters> {
  readonly filters: Filters;
  readonly times: TimeRange;
}

export function paymentChoiceOf(query: z.output<typeof paymentChoiceQuery>): Choice<PaymentFilters> {
  const { status, project_id: projectId, client_id: clientId, milestone_id: milestoneId } = query;
  return { filters: { status, projectId, clientId, milestoneId }, times: timesOf(query) };
}

export function invoiceChoiceOf(query: z.output<typeof invoiceChoiceQuery>): Choice<InvoiceFilters> {
  const { status, payment_status: paymentStatus, project_id: projectId, client_id: clientId, milestone_id: milestoneId } = query;
  return { filters: { status, paymentStatus, projectId, clientId, milestoneId }, times: timesOf(query) };
}

const timesOf = (query: { created_after?: Date | undefined; created_before?: Date | undefined }): TimeRange => ({
  createdAfter: query.created_after,
  createdBefore: query.created_before,
});
