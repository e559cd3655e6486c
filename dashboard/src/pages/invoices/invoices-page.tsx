// Every invoice, with filters kept in the address, totals per currency and an export, all of the same filters.
// An invoice has a page of its own: invoice-page.tsx.

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useWords } from '../../app/words.ts';
import { client } from '../../client/client.ts';
import { keys } from '../../client/queries.ts';
import type { InvoicePaymentStatus, InvoiceStatus } from '../../client/sdk.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { FilterBar, SelectFilter, TextFilter } from '../../ui/filters.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Totals } from '../../ui/totals.tsx';
import { ExportButton } from '../payments/export-button.tsx';
import { momentsOf } from '../payments/period.ts';
import { PeriodFilter } from '../payments/period-filter.tsx';
import { ProjectFilter } from '../projects/project-filter.tsx';
import { type InvoiceFilters, InvoicesTable } from './invoices-table.tsx';

const filterWords = ['status', 'payment_status', 'client_id', 'project_id', 'created_after', 'created_before'] as const;

export function InvoicesPage(): ReactNode {
  const { words } = useWords();
  const { status, payment_status, client_id, project_id } = words;
  const filters = {
    status: status as InvoiceStatus | undefined,
    payment_status: payment_status as InvoicePaymentStatus | undefined,
    client_id,
    project_id,
    ...momentsOf(words.created_after, words.created_before),
  } satisfies InvoiceFilters;
  const totals = useQuery({
    queryKey: keys.other('invoices', 'totals', filters),
    queryFn: () => client.invoices.retrieveTotals(filters),
  });
  const isFiltered = filterWords.some((word) => words[word] !== undefined);
  return (
    <>
      <PageHeader title="Invoices">
        <ExportButton path="/v1/invoices/export" filters={filters} />
      </PageHeader>
      <FilterBar names={filterWords}>
        <SelectFilter
          word="payment_status"
          label="Payment"
          options={[
            { value: 'unpaid', label: 'Unpaid' },
            { value: 'paid', label: 'Paid' },
          ]}
        />
        <SelectFilter
          word="status"
          label="Document"
          options={[
            { value: 'issued', label: 'Issued' },
            { value: 'void', label: 'Void' },
          ]}
        />
        <TextFilter word="client_id" label="Client" />
        <ProjectFilter />
        <PeriodFilter noun="Issued" />
      </FilterBar>
      <Totals
        label="Invoices by currency"
        query={totals}
        sumsOf={(sums) => [
          { label: 'Unpaid', sum: sums.unpaid },
          { label: 'Paid', sum: sums.paid },
          ...(sums.void.count === 0 ? [] : [{ label: 'Void', sum: sums.void }]),
        ]}
      />
      <InvoicesTable
        filters={filters}
        empty={isFiltered ? <EmptyState title="No invoice matches">Change the filters, or clear them.</EmptyState> : <NoInvoices />}
      />
    </>
  );
}

function NoInvoices(): ReactNode {
  return (
    <EmptyState title="No invoices yet" curl={{ method: 'PATCH', path: '/v1/milestones/mil_…', body: { status: 'approved' } }}>
      An invoice is issued when a milestone is approved. Approve one on the page of its project, or from your own system:
    </EmptyState>
  );
}
