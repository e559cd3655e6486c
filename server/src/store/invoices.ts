// Every SQL statement on invoices. Each says which index or lock it relies on.

import type { Uuid } from '../domain/ids.ts';
import type { Invoice, InvoiceLine, InvoicePaymentStatus, InvoiceStatus, IssuedInvoice } from '../domain/invoice.ts';
import type { InvoiceTotals } from '../domain/totals.ts';
import type { Queryable } from './database.ts';
import { type Condition, defineList, defineSums, equals, oneOf, type Source, type TimeRange } from './lists.ts';
import { columnTypes, defineTable } from './tables.ts';
import { byCurrency } from './totals.ts';
import { PREFIX_OF_INVOICE } from './workspace-settings.ts';

/** A line as JSON holds it: the amount as text, since a JSON number would pass through a float. */
interface StoredLine {
  milestone_id: string;
  description: string;
  amount_minor: string;
}

const writeLines = (lines: readonly InvoiceLine[]): StoredLine[] =>
  lines.map((line) => ({ milestone_id: line.milestoneId, description: line.description, amount_minor: line.amountMinor.toString() }));
const readLines = (lines: StoredLine[]): InvoiceLine[] =>
  lines.map((line) => ({ milestoneId: line.milestone_id, description: line.description, amountMinor: BigInt(line.amount_minor) }));

export const invoiceTable = defineTable<Invoice>('invoices', {
  workspaceId: columnTypes.fixedUuid('workspace_id'),
  id: columnTypes.fixedUuid('id'),
  number: { ...columnTypes.count('number'), fixed: true },
  projectId: columnTypes.fixedUuid('project_id'),
  milestoneId: columnTypes.fixedUuid('milestone_id'),
  paymentId: columnTypes.fixedUuid('payment_id'),
  clientId: { column: 'client_id', type: 'text', fixed: true },
  status: { column: 'status', type: 'text' },
  paymentStatus: { column: 'payment_status', type: 'text' },
  lines: { column: 'lines', type: 'jsonb', fixed: true, write: writeLines, read: readLines as (value: never) => InvoiceLine[] },
  subtotalMinor: { column: 'subtotal_minor', type: 'bigint', fixed: true },
  taxMinor: { column: 'tax_minor', type: 'bigint', fixed: true },
  totalMinor: { column: 'total_minor', type: 'bigint', fixed: true },
  currency: { column: 'currency', type: 'text', fixed: true },
  paidAt: { column: 'paid_at', type: 'timestamptz(3)' },
  createdAt: columnTypes.createdAt,
});

/** With what its number begins with, from the letterhead it was issued under. */
export const invoiceSource: Source<IssuedInvoice> = {
  select: `${invoiceTable.select('t')}, ${PREFIX_OF_INVOICE} as prefix`,
  table: invoiceTable.name,
  fromRow: (row) => ({ ...invoiceTable.fromRow(row), prefix: row.prefix as string }),
};

export interface InvoiceFilters {
  readonly status?: InvoiceStatus | undefined;
  readonly paymentStatus?: InvoicePaymentStatus | undefined;
  readonly projectId?: Uuid | undefined;
  readonly clientId?: string | undefined;
  readonly milestoneId?: Uuid | undefined;
}

// No index begins with the milestone: its project is looked up by the primary key, and the invoices of that project are few.
const ofMilestone: Condition<Uuid> = (milestoneId, bind) => {
  const id = bind(milestoneId);
  return `t.project_id = (select m.project_id from milestones m where m.workspace_id = $1 and m.id = ${id}) and t.milestone_id = ${id}`;
};

/**
 * The invoices of a workspace: the primary key (workspace_id, id); of a project or milestone invoices_by_project, of a client
 * invoices_by_client, both with the id at their end; the unpaid ones invoices_unpaid (workspace_id, id).
 */
const conditions = {
  status: equals('t.status'),
  paymentStatus: oneOf({ unpaid: "t.payment_status = 'unpaid'", paid: "t.payment_status = 'paid'" }),
  projectId: equals('t.project_id'),
  clientId: equals('t.client_id'),
  milestoneId: ofMilestone,
};

export const listInvoices = defineList<IssuedInvoice, InvoiceFilters>({ source: invoiceSource, conditions });

const sums = defineSums<InvoiceFilters>({ table: 'invoices', amount: 't.total_minor', group: 't.payment_status, t.status', conditions });

/** Invoices added up by currency and status, along the indexes of the list. */
export async function sumInvoices(queryable: Queryable, ...choice: [Uuid, InvoiceFilters, TimeRange]): Promise<InvoiceTotals[]> {
  const rows = await sums<{ payment_status: InvoicePaymentStatus; status: InvoiceStatus }>(queryable, ...choice);
  return byCurrency(rows, (of) => ({
    unpaid: of((row) => row.status === 'issued' && row.payment_status === 'unpaid'),
    paid: of((row) => row.payment_status === 'paid'),
    void: of((row) => row.status === 'void'),
  }));
}
