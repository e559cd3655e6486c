// Invoices as a table: on the page of all and on that of a project. A row leads to the page of its invoice.
// Which invoices, the page says.

import type { ReactNode } from 'react';
import { client } from '../../client/client.ts';
import { useList } from '../../client/queries.ts';
import type { Invoice, InvoicePaymentStatus, InvoiceStatus } from '../../client/sdk.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Money } from '../../ui/money.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { ProjectName } from '../payments/payments-table.tsx';

export interface InvoiceFilters {
  readonly status?: InvoiceStatus | undefined;
  readonly payment_status?: InvoicePaymentStatus | undefined;
  readonly project_id?: string | undefined;
  readonly client_id?: string | undefined;
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
}

export interface InvoicesTableProps {
  readonly filters: InvoiceFilters;
  readonly empty: ReactNode;
  readonly withoutProject?: boolean;
}

/** Void is said of the document, paid or unpaid of its money; a void one is neither. */
export function InvoiceBadge({ invoice }: { readonly invoice: Pick<Invoice, 'status' | 'payment_status'> }): ReactNode {
  return <StatusBadge status={invoice.status === 'void' ? 'void' : invoice.payment_status} />;
}

const columns: readonly Column<Invoice>[] = [
  { header: 'Number', cell: ({ number }) => number, width: 130 },
  { header: 'Status', cell: (invoice) => <InvoiceBadge invoice={invoice} />, width: 95 },
  { header: 'Total', cell: ({ total, currency }) => <Money amount={total} currency={currency} />, align: 'right' },
  { header: 'Client', cell: ({ client_id }) => client_id, width: '18%', wideOnly: true },
  { header: 'Project', cell: ({ project_id }) => <ProjectName id={project_id} />, wideOnly: true },
  { header: 'Issued', cell: ({ created_at }) => <Time at={created_at} as="date" />, width: 120, align: 'right', wideOnly: true },
  { header: 'Paid', cell: ({ paid_at }) => <Time at={paid_at} as="date" />, width: 120, align: 'right', wideOnly: true },
];

export function InvoicesTable({ filters, empty, withoutProject = false }: InvoicesTableProps): ReactNode {
  const query = useList({
    resource: 'invoices',
    filters: { ...filters },
    load: (cursor) => client.invoices.list({ ...filters, ...cursor }),
  });
  return (
    <DataTable
      label="Invoices"
      query={query}
      columns={withoutProject ? columns.filter(({ header }) => header !== 'Project') : columns}
      idOf={({ id }) => id}
      href={({ id }) => `/invoices/${id}`}
      empty={empty}
    />
  );
}
