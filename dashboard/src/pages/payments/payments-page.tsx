// Every payment, with filters kept in the address, totals per currency and an export, all of the same filters.
// The table and the drawer are in payments-table.tsx.

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useWords } from '../../app/words.ts';
import { client } from '../../client/client.ts';
import { keys } from '../../client/queries.ts';
import type { PaymentStatus } from '../../client/sdk.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { FilterBar, SelectFilter, TextFilter } from '../../ui/filters.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Totals } from '../../ui/totals.tsx';
import { ProjectFilter } from '../projects/project-filter.tsx';
import { ExportButton } from './export-button.tsx';
import { type PaymentFilters, PaymentsTable } from './payments-table.tsx';
import { momentsOf } from './period.ts';
import { PeriodFilter } from './period-filter.tsx';

const filterWords = ['status', 'client_id', 'project_id', 'created_after', 'created_before'] as const;

export function PaymentsPage(): ReactNode {
  const { words } = useWords();
  const { status, client_id, project_id } = words;
  const filters = {
    status: status as PaymentStatus | undefined,
    client_id,
    project_id,
    ...momentsOf(words.created_after, words.created_before),
  } satisfies PaymentFilters;
  const totals = useQuery({
    queryKey: keys.other('payments', 'totals', filters),
    queryFn: () => client.payments.retrieveTotals(filters),
  });
  const isFiltered = filterWords.some((word) => words[word] !== undefined);
  return (
    <>
      <PageHeader title="Payments">
        <ExportButton path="/v1/payments/export" filters={filters} />
      </PageHeader>
      <FilterBar names={filterWords}>
        <SelectFilter
          word="status"
          label="Status"
          options={[
            { value: 'pending', label: 'Pending' },
            { value: 'released', label: 'Released' },
          ]}
        />
        <TextFilter word="client_id" label="Client" />
        <ProjectFilter />
        <PeriodFilter noun="Created" />
      </FilterBar>
      <Totals
        label="Payments by currency"
        query={totals}
        sumsOf={({ pending, released }) => [
          { label: 'Pending', sum: pending },
          { label: 'Released', sum: released },
        ]}
      />
      <PaymentsTable
        filters={filters}
        empty={isFiltered ? <EmptyState title="No payment matches">Change the filters, or clear them.</EmptyState> : <NoPayments />}
      />
    </>
  );
}

function NoPayments(): ReactNode {
  return (
    <EmptyState title="No payments yet" curl={{ method: 'PATCH', path: '/v1/milestones/mil_…', body: { status: 'approved' } }}>
      A payment is made when a milestone is approved. Approve one on the page of its project, or from your own system:
    </EmptyState>
  );
}
