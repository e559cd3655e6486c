// The webhook endpoints of the workspace with their health; what was sent to any of them; and repairs of what was not.
// One endpoint has a page of its own.

import { Button, Tabs } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useShortcut } from '../../app/shortcuts.ts';
import { useWords } from '../../app/words.ts';
import { client } from '../../client/client.ts';
import { keys, queryClient, useList } from '../../client/queries.ts';
import type { WebhookEndpoint } from '../../client/sdk.ts';
import { useCan } from '../../session/session.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Icon } from '../../ui/icon.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Time } from '../../ui/time.tsx';
import { ApiLinks } from './api-links.tsx';
import { DeliveryList } from './delivery-list.tsx';
import { creationOf, type EndpointDraft } from './endpoint-draft.ts';
import { EndpointForm } from './endpoint-form.tsx';
import { HealthBadge } from './endpoint-health.tsx';
import { eventTypes } from './event-kinds.ts';
import { madeEndpointSecret } from './made-endpoint-secret.tsx';
import { RepairList } from './repair-list.tsx';
import { RunningRepairs } from './running-repairs.tsx';
import { type Made, SecretDialog } from './secret-dialog.tsx';

const columns: readonly Column<WebhookEndpoint>[] = [
  { header: 'URL', cell: ({ url }) => <span title={url}>{url}</span> },
  { header: 'Description', cell: ({ description }) => description ?? '', width: '24%', wideOnly: true },
  {
    header: 'Events',
    cell: ({ event_types }) => (
      <span title={event_types.join(', ')}>{event_types.length === eventTypes.length ? 'All kinds' : `${event_types.length} kinds`}</span>
    ),
    width: 90,
    wideOnly: true,
  },
  { header: 'Health', cell: (endpoint) => <HealthBadge endpoint={endpoint} />, width: 110 },
  { header: 'Created', cell: ({ created_at }) => <Time at={created_at} as="date" />, width: 120, align: 'right', wideOnly: true },
];

export function WebhooksPage(): ReactNode {
  const { words, set } = useWords();
  const mayWrite = useCan('webhooks:write');
  const create = (): void => {
    if (mayWrite) set({ new: '1' }, 'push');
  };
  useShortcut('n', 'New webhook endpoint', create);
  return (
    <>
      <PageHeader title="Webhooks" description={<ApiLinks />}>
        {mayWrite && (
          <Button onClick={create} leftSection={<Icon name="plus" size={16} />}>
            New endpoint
          </Button>
        )}
      </PageHeader>
      <RunningRepairs />
      <Tabs
        value={words.tab ?? 'endpoints'}
        onChange={(tab) => set({ tab: tab === 'endpoints' ? undefined : (tab ?? undefined), open: undefined })}
        keepMounted={false}
      >
        <Tabs.List mb="sm">
          <Tabs.Tab value="endpoints">Endpoints</Tabs.Tab>
          <Tabs.Tab value="deliveries">Deliveries</Tabs.Tab>
          <Tabs.Tab value="repairs">Repairs</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="endpoints">
          <Endpoints />
        </Tabs.Panel>
        <Tabs.Panel value="deliveries">
          <DeliveryList />
        </Tabs.Panel>
        <Tabs.Panel value="repairs">
          <RepairList />
        </Tabs.Panel>
      </Tabs>
      {mayWrite && <Creation />}
    </>
  );
}

function Endpoints(): ReactNode {
  const query = useList({ resource: 'webhook_endpoints', load: (cursor) => client.webhookEndpoints.list(cursor) });
  return (
    <DataTable
      label="Webhook endpoints"
      query={query}
      columns={columns}
      idOf={({ id }) => id}
      href={({ id }) => `/developers/webhooks/${id}`}
      empty={
        <EmptyState
          title="No webhook endpoints yet"
          curl={{ method: 'POST', path: '/v1/webhook_endpoints', body: { url: 'https://example.com/hooks/tranche' } }}
        >
          An endpoint is an address of yours that is told what happens, signed and in time. Create one here, or from your own system:
        </EmptyState>
      }
    />
  );
}

function Creation(): ReactNode {
  const { words, set } = useWords();
  const router = useRouter();
  const [made, setMade] = useState<{ readonly shown: Made; readonly id: string } | null>(null);
  async function create(draft: EndpointDraft): Promise<void> {
    const endpoint = await client.webhookEndpoints.create(creationOf(draft));
    set({ new: undefined });
    setMade({ shown: madeEndpointSecret(endpoint, 'Webhook endpoint created', 'Send it a test next.'), id: endpoint.id });
    void queryClient.invalidateQueries({ queryKey: keys.all('webhook_endpoints') });
  }
  return (
    <>
      <EndpointForm opened={words.new === '1'} onClose={() => set({ new: undefined })} onSubmit={create} />
      <SecretDialog
        made={made?.shown ?? null}
        onDone={() => {
          if (made !== null) router.history.push(`/developers/webhooks/${made.id}?tab=test`);
          setMade(null);
        }}
      />
    </>
  );
}
