// One endpoint: its health, what was sent to it, trying it out, finding what is wrong with it, and its settings.
// Each tab is a file of its own.

import { Alert, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useWords } from '../../app/words.ts';
import { client } from '../../client/client.ts';
import { keys } from '../../client/queries.ts';
import type { WebhookEndpoint } from '../../client/sdk.ts';
import { useCan } from '../../session/session.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { PageSkeleton } from '../../ui/skeletons.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { DeliveryList } from './delivery-list.tsx';
import { DiagnosePanel } from './diagnose-panel.tsx';
import { EndpointActions } from './endpoint-actions.tsx';
import { EndpointDetails } from './endpoint-details.tsx';
import { HealthBadge, HealthSentence, healthOf } from './endpoint-health.tsx';
import { RunningRepairs } from './running-repairs.tsx';
import { TestPanel } from './test-panel.tsx';

/** Its breaker moves without an event. */
const LOOK_MS = 10_000;

export function WebhookEndpointPage(): ReactNode {
  const { endpointId = '' } = useParams({ strict: false });
  const query = useQuery({
    queryKey: keys.one('webhook_endpoints', endpointId),
    queryFn: async () => await client.webhookEndpoints.retrieve(endpointId),
    refetchInterval: LOOK_MS,
  });
  if (query.data !== undefined) return <Shown endpoint={query.data} />;
  if (query.isPending) return <PageSkeleton />;
  return (
    <>
      <PageHeader title="Webhook endpoint" description={<TextLink href="/developers/webhooks">All endpoints</TextLink>} />
      <ErrorNotice error={query.error} retry={() => void query.refetch()} />
    </>
  );
}

function nameOf({ url, description }: WebhookEndpoint): string {
  if (description !== null && description !== '') return description;
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

function Shown({ endpoint }: { readonly endpoint: WebhookEndpoint }): ReactNode {
  const { words, set } = useWords();
  const mayWrite = useCan('webhooks:write');
  const tab = words.tab ?? 'deliveries';
  return (
    <>
      <PageHeader
        title={nameOf(endpoint)}
        description={
          <>
            <span style={{ overflowWrap: 'anywhere' }}>{endpoint.url}</span> ·{' '}
            <TextLink href="/developers/webhooks">All endpoints</TextLink>
            <div>
              <HealthBadge endpoint={endpoint} />
            </div>
          </>
        }
      >
        {mayWrite && <EndpointActions endpoint={endpoint} />}
      </PageHeader>
      {healthOf(endpoint).tone !== 'good' && (
        <Alert color={endpoint.status === 'disabled' ? 'red' : 'yellow'} variant="default" icon={<Icon name="warning" />} mb="md">
          <HealthSentence endpoint={endpoint} />
        </Alert>
      )}
      <RunningRepairs endpointId={endpoint.id} />
      <Tabs
        value={tab}
        onChange={(next) => set({ tab: next === 'deliveries' ? undefined : (next ?? undefined), open: undefined })}
        keepMounted={false}
      >
        <Tabs.List mb="sm">
          <Tabs.Tab value="deliveries">Deliveries</Tabs.Tab>
          {mayWrite && <Tabs.Tab value="test">Test</Tabs.Tab>}
          {mayWrite && <Tabs.Tab value="diagnose">Diagnose</Tabs.Tab>}
          <Tabs.Tab value="settings">Settings</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="deliveries">
          <DeliveryList endpoint={endpoint} />
        </Tabs.Panel>
        {mayWrite && (
          <Tabs.Panel value="test">
            <TestPanel endpoint={endpoint} />
          </Tabs.Panel>
        )}
        {mayWrite && (
          <Tabs.Panel value="diagnose">
            <DiagnosePanel endpoint={endpoint} />
          </Tabs.Panel>
        )}
        <Tabs.Panel value="settings">
          <EndpointDetails endpoint={endpoint} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
