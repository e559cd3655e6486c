// One delivery: what became of it, the request as it is sent, and each attempt with its answer.
// Answers of receivers are text here, whatever they contain.

import { Button, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import { keys, queryClient } from '../../client/queries.ts';
import type { Delivery } from '../../client/sdk.ts';
import { useCan } from '../../session/session.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Id } from '../../ui/copy-button.tsx';
import { DetailDrawer, Details } from '../../ui/detail-drawer.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { notify } from '../../ui/notices.tsx';
import { Rows } from '../../ui/skeletons.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { Time } from '../../ui/time.tsx';
import { Attempts } from './attempts.tsx';
import { DeliveryBadge } from './delivery-status.tsx';
import { useSubmission } from './submission.ts';

/** While it is pending, how often its outcome is looked for: no event tells of it. */
const LOOK_MS = 2_000;

export function DeliveryDrawer({ id, onClose }: { readonly id: string | undefined; readonly onClose: () => void }): ReactNode {
  const query = useQuery({
    queryKey: keys.one('deliveries', id ?? ''),
    queryFn: async () => await client.deliveries.retrieve(id ?? ''),
    enabled: id !== undefined,
    refetchInterval: ({ state: { data } }) => (data?.status === 'pending' ? LOOK_MS : false),
  });
  return (
    <DetailDrawer opened={id !== undefined} onClose={onClose} title={query.data?.event_type ?? 'Delivery'} size={620}>
      {query.data !== undefined && <Shown delivery={query.data} />}
      {query.data === undefined && query.isError && <ErrorNotice error={query.error} retry={() => void query.refetch()} />}
      {query.data === undefined && query.isPending && (
        <div role="status" aria-busy="true" aria-label="Loading">
          <Rows count={10} />
        </div>
      )}
    </DetailDrawer>
  );
}

function Shown({ delivery }: { readonly delivery: Delivery }): ReactNode {
  const { id, endpoint_id, event_id, event_seq, status, attempts, next_attempt_at, created_at, completed_at } = delivery;
  const mayWrite = useCan('webhooks:write');
  return (
    <Stack gap="md">
      {mayWrite && <Actions delivery={delivery} />}
      <Details
        items={[
          { label: 'Status', value: <DeliveryBadge status={status} attempts={attempts} /> },
          ...(next_attempt_at === null ? [] : [{ label: 'Next attempt', value: <Time at={next_attempt_at} as="relative" /> }]),
          { label: 'Attempts', value: attempts },
          { label: 'Event', value: <TextLink href={`/developers/events?open=${event_id}`}>Number {event_seq} of the log</TextLink> },
          { label: 'Endpoint', value: <Endpoint id={endpoint_id} /> },
          { label: 'Created', value: <Time at={created_at} /> },
          ...(completed_at === null ? [] : [{ label: 'Over', value: <Time at={completed_at} /> }]),
          { label: 'Id', value: <Id id={id} /> },
        ]}
      />
      <Attempts delivery={delivery} />
    </Stack>
  );
}

function Endpoint({ id }: { readonly id: string }): ReactNode {
  const { data } = useQuery({
    queryKey: keys.one('webhook_endpoints', id),
    queryFn: async () => await client.webhookEndpoints.retrieve(id),
  });
  return <TextLink href={`/developers/webhooks/${id}`}>{data?.url ?? id}</TextLink>;
}

function Actions({ delivery: { id, status } }: { readonly delivery: Delivery }): ReactNode {
  const [isAsked, setAsked] = useState(false);
  const { isBusy, error, run } = useSubmission();
  const changed = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.all('deliveries') });
  async function replay(): Promise<void> {
    queryClient.setQueryData(keys.one('deliveries', id), await client.deliveries.replay(id));
    notify('Sent again; the outcome shows here');
    void changed();
  }
  async function cancel(): Promise<void> {
    queryClient.setQueryData(keys.one('deliveries', id), await client.deliveries.cancel(id));
    notify('Delivery cancelled');
    void changed();
  }
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Button
          variant={status === 'failed' ? 'filled' : 'default'}
          loading={isBusy}
          leftSection={<Icon name="refresh" size={16} />}
          onClick={() => void run(replay)}
        >
          {status === 'pending' ? 'Send now' : 'Replay'}
        </Button>
        {status === 'pending' && (
          <Button variant="default" leftSection={<Icon name="close" size={16} />} onClick={() => setAsked(true)}>
            Cancel delivery
          </Button>
        )}
      </Group>
      {error !== null && <ErrorNotice error={error} />}
      <ConfirmDialog
        opened={isAsked}
        onClose={() => setAsked(false)}
        title="Cancel this delivery?"
        effect="It is not sent any more. An attempt that is under way ends first. It can be replayed later."
        confirm="Cancel delivery"
        onConfirm={cancel}
      />
    </Stack>
  );
}
