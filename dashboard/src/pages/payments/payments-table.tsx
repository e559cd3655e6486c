// Payments as a table, with the drawer of the one that stands in the address and its release: on the page of all and on that of a project.
// Which payments, the page says.

import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useWords } from '../../app/words.ts';
import { client } from '../../client/client.ts';
import { keys, useList } from '../../client/queries.ts';
import type { Payment, PaymentStatus } from '../../client/sdk.ts';
import { useCan } from '../../session/session.tsx';
import { Id } from '../../ui/copy-button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { DetailDrawer, Details } from '../../ui/detail-drawer.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Money } from '../../ui/money.tsx';
import { Rows } from '../../ui/skeletons.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { Time } from '../../ui/time.tsx';
import { useProjectName } from '../projects/project-data.ts';
import { ReleaseDialog } from './release-dialog.tsx';

export interface PaymentFilters {
  readonly status?: PaymentStatus | undefined;
  readonly project_id?: string | undefined;
  readonly client_id?: string | undefined;
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
}

export interface PaymentsTableProps {
  readonly filters: PaymentFilters;
  readonly empty: ReactNode;
  /** On the page of a project its name would be in every row. */
  readonly withoutProject?: boolean;
}

export function ProjectName({ id }: { readonly id: string }): ReactNode {
  return useProjectName(id) ?? <code>{id.slice(0, 12)}…</code>;
}

const columns: readonly Column<Payment>[] = [
  { header: 'Amount', cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />, width: 150 },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} />, width: 110 },
  { header: 'Project', cell: ({ project_id }) => <ProjectName id={project_id} />, width: '20%', wideOnly: true },
  { header: 'Payee', cell: ({ payee_id }) => payee_id ?? '–' },
  { header: 'Client', cell: ({ client_id }) => client_id, width: '16%', wideOnly: true },
  { header: 'Created', cell: ({ created_at }) => <Time at={created_at} as="date" />, width: 120, align: 'right', wideOnly: true },
  { header: 'Released', cell: ({ released_at }) => <Time at={released_at} as="date" />, width: 120, align: 'right', wideOnly: true },
];

export function PaymentsTable({ filters, empty, withoutProject = false }: PaymentsTableProps): ReactNode {
  const { words, set, href } = useWords();
  const query = useList({
    resource: 'payments',
    filters: { ...filters },
    load: (cursor) => client.payments.list({ ...filters, ...cursor }),
  });
  return (
    <>
      <DataTable
        label="Payments"
        query={query}
        columns={withoutProject ? columns.filter(({ header }) => header !== 'Project') : columns}
        idOf={({ id }) => id}
        href={({ id }) => href({ open: id })}
        openId={words.open}
        empty={empty}
      />
      {words.open?.startsWith('pay_') && <PaymentDrawer id={words.open} onClose={() => set({ open: undefined })} />}
    </>
  );
}

function PaymentDrawer({ id, onClose }: { readonly id: string; readonly onClose: () => void }): ReactNode {
  const mayRelease = useCan('payments:release');
  const [isAsking, setAsking] = useState(false);
  const query = useQuery({ queryKey: keys.one('payments', id), queryFn: () => client.payments.retrieve(id) });
  const payment = query.data;
  return (
    <>
      <DetailDrawer opened onClose={() => !isAsking && onClose()} title="Payment">
        {query.isPending && <Rows count={8} />}
        {query.isError && payment === undefined && <ErrorNotice error={query.error} retry={() => void query.refetch()} />}
        {payment !== undefined && (
          <Stack gap="md">
            <Group gap="md">
              <Text size="xl" fw={600} component="span">
                <Money amount={payment.amount} currency={payment.currency} />
              </Text>
              <StatusBadge status={payment.status} />
            </Group>
            {mayRelease && payment.allowed_transitions.includes('released') && (
              <Group>
                <Button onClick={() => setAsking(true)}>Release payment</Button>
              </Group>
            )}
            <PaymentFacts payment={payment} />
          </Stack>
        )}
      </DetailDrawer>
      {isAsking && payment !== undefined && <ReleaseDialog payment={payment} onClose={() => setAsking(false)} />}
    </>
  );
}

function PaymentFacts({ payment }: { readonly payment: Payment }): ReactNode {
  const milestone = useQuery({
    queryKey: keys.one('milestones', payment.milestone_id),
    queryFn: () => client.milestones.retrieve(payment.milestone_id),
  });
  const projectHref = `/projects/${payment.project_id}`;
  return (
    <Details
      items={[
        { label: 'Payee', value: payment.payee_id },
        { label: 'Client', value: payment.client_id },
        {
          label: 'Project',
          value: (
            <TextLink href={projectHref}>
              <ProjectName id={payment.project_id} />
            </TextLink>
          ),
        },
        {
          label: 'Milestone',
          value: <TextLink href={`${projectHref}?open=${payment.milestone_id}`}>{milestone.data?.title ?? 'Open the milestone'}</TextLink>,
        },
        { label: 'Invoice', value: <TextLink href={`/invoices/${payment.invoice_id}`}>Open the invoice</TextLink> },
        { label: 'Created', value: <Time at={payment.created_at} /> },
        { label: 'Released', value: <Time at={payment.released_at} /> },
        { label: 'Id', value: <Id id={payment.id} /> },
      ]}
    />
  );
}
