// Deliveries to one endpoint or to all: filters in the address, one of them beside the list, and what to do with many.
// One delivery is shown by delivery-drawer.tsx.

import { Button, Group } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { useWords } from '../../app/words.ts';
import { client } from '../../client/client.ts';
import { itemsOf, keys, queryClient, useList } from '../../client/queries.ts';
import type { Delivery, DeliveryStatus, EventType, WebhookEndpoint, WebhookRepairAction } from '../../client/sdk.ts';
import { useCan } from '../../session/session.tsx';
import { Breakable } from '../../ui/breakable.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { FilterBar, SelectFilter } from '../../ui/filters.tsx';
import { Icon } from '../../ui/icon.tsx';
import { wordsOf } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { ProjectFilter } from '../projects/project-filter.tsx';
import { DeliveryDrawer } from './delivery-drawer.tsx';
import { DeliveryBadge, deliveryStatuses } from './delivery-status.tsx';
import { eventTypeOptions } from './event-kinds.ts';
import { RepairDialog } from './repair-dialog.tsx';

const columns: readonly Column<Delivery>[] = [
  { header: 'Event', cell: ({ event_type }) => <Breakable text={event_type} /> },
  { header: 'Sequence', cell: ({ event_seq }) => event_seq, width: 90, align: 'right', wideOnly: true },
  { header: 'Status', cell: (delivery) => <DeliveryBadge {...delivery} />, width: 110 },
  { header: 'Attempts', cell: ({ attempts }) => attempts, width: 90, align: 'right', wideOnly: true },
  {
    header: 'Next attempt',
    cell: ({ next_attempt_at }) => (next_attempt_at === null ? '' : <NextAttempt at={next_attempt_at} />),
    width: 120,
    align: 'right',
    wideOnly: true,
  },
  { header: 'Created', cell: ({ created_at }) => <Time at={created_at} as="relative" />, width: 104, align: 'right' },
];

/** One that was due already waits for its turn, or until its endpoint is let through to again. */
function NextAttempt({ at }: { readonly at: string }): ReactNode {
  return Date.parse(at) > Date.now() ? <Time at={at} as="relative" /> : 'Waiting';
}

const statusOptions = deliveryStatuses.map((value) => ({ value, label: wordsOf(value) }));

/** While something is under way, its outcome is looked for this often: no event tells of it. */
const LOOK_MS = 2_000;

export function DeliveryList({ endpoint }: { readonly endpoint?: WebhookEndpoint }): ReactNode {
  const { words, set, href } = useWords();
  const filters = {
    status: words.status as DeliveryStatus | undefined,
    event_type: words.event_type as EventType | undefined,
    project_id: words.project_id,
    endpoint_id: endpoint?.id,
  };
  const query = useList({ resource: 'deliveries', filters, load: (cursor) => client.deliveries.list({ ...filters, ...cursor }) });
  const isUnderWay = itemsOf(query).some(({ status, attempts }) => status === 'pending' && attempts === 0);
  const isShort = (query.data?.pages.length ?? 0) <= 1;
  useEffect(() => {
    if (!isUnderWay || !isShort) return;
    const timer = setInterval(() => void queryClient.invalidateQueries({ queryKey: keys.all('deliveries') }), LOOK_MS);
    return () => clearInterval(timer);
  }, [isUnderWay, isShort]);
  const isFiltered = [words.status, words.event_type, words.project_id].some((word) => word !== undefined);
  return (
    <>
      <FilterBar names={['status', 'event_type', 'project_id']}>
        <SelectFilter word="status" label="Status" options={statusOptions} />
        <SelectFilter word="event_type" label="Event" options={eventTypeOptions} />
        <ProjectFilter />
        <Repairs {...(endpoint === undefined ? {} : { endpoint })} />
      </FilterBar>
      <DataTable
        label="Deliveries"
        query={query}
        columns={columns}
        idOf={({ id }) => id}
        href={({ id }) => href({ open: id })}
        openId={words.open}
        empty={
          isFiltered ? (
            <EmptyState title="No delivery matches">Change the filters, or clear them.</EmptyState>
          ) : (
            <EmptyState
              title="Nothing was sent yet"
              curl={{ method: 'POST', path: '/v1/projects', body: { name: 'Website', client_id: 'acme' } }}
            >
              Every event that an endpoint asked for becomes a delivery. Make one happen:
            </EmptyState>
          )
        }
      />
      <DeliveryDrawer id={words.open} onClose={() => set({ open: undefined })} />
    </>
  );
}

/** The ways to treat many at once, with the filters of the list to begin with. */
function Repairs({ endpoint }: { readonly endpoint?: WebhookEndpoint }): ReactNode {
  const { words } = useWords();
  const mayWrite = useCan('webhooks:write');
  const [action, setAction] = useState<WebhookRepairAction | null>(null);
  if (!mayWrite) return null;
  const isOn = endpoint === undefined || endpoint.status === 'enabled';
  return (
    <Group gap="xs" ml="auto">
      <Button variant="default" disabled={!isOn} onClick={() => setAction('replay')} leftSection={<Icon name="refresh" size={16} />}>
        Replay many
      </Button>
      {endpoint !== undefined && (
        <Button variant="default" disabled={!isOn} onClick={() => setAction('recover')}>
          Recover
        </Button>
      )}
      <Button variant="default" onClick={() => setAction('cancel')}>
        Cancel many
      </Button>
      <RepairDialog
        action={action}
        onClose={() => setAction(null)}
        status={words.status as DeliveryStatus | undefined}
        eventType={words.event_type as EventType | undefined}
        projectId={words.project_id}
        {...(endpoint === undefined ? {} : { endpoint })}
      />
    </Group>
  );
}
