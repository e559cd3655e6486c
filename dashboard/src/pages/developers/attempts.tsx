// The attempts of a delivery, latest first: the request of each, and what came back.
// The body is put together as the server sends it, from the event; signatures are not kept, so none is shown.

import { Accordion, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { client } from '../../client/client.ts';
import { keys } from '../../client/queries.ts';
import type { Delivery, DeliveryAttempt, Event } from '../../client/sdk.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Rows } from '../../ui/skeletons.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { CodeBlock, headerText, prettyText } from './code-block.tsx';
import { answerText, isAcknowledged, ReceivedAnswer } from './received-answer.tsx';
import { requestHeaders, webhookBody } from './webhook-request.ts';

const MAX_SHOWN = 50;
const LOOK_MS = 2_000;

export function Attempts({ delivery }: { readonly delivery: Delivery }): ReactNode {
  const { id, event_id, endpoint_id, status } = delivery;
  const attempts = useQuery({
    queryKey: keys.other('deliveries', 'attempts', id),
    queryFn: async () => await client.deliveries.listAttempts(id, { limit: MAX_SHOWN }),
    refetchInterval: status === 'pending' ? LOOK_MS : false,
  });
  const event = useQuery({
    queryKey: keys.one('events', event_id),
    queryFn: async () => await client.events.retrieve(event_id),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const endpoint = useQuery({
    queryKey: keys.one('webhook_endpoints', endpoint_id),
    queryFn: async () => await client.webhookEndpoints.retrieve(endpoint_id),
  });
  const own = endpoint.data?.header_names ?? [];
  if (attempts.isError && attempts.data === undefined) return <ErrorNotice error={attempts.error} retry={() => void attempts.refetch()} />;
  const shown = attempts.data?.data ?? [];
  return (
    <Stack gap="sm">
      {event.data !== undefined && <Body event={event.data} />}
      <Title order={2}>Attempts</Title>
      {attempts.isPending && <Rows count={3} />}
      {attempts.isSuccess && shown.length === 0 && <Text c="dimmed">None yet.</Text>}
      {shown.length > 0 && (
        <Accordion variant="separated" defaultValue={String(shown[0]?.number)} order={3} transitionDuration={0}>
          {shown.map((attempt) => (
            <Attempt key={attempt.number} attempt={attempt} delivery={delivery} own={own} endpointChangedAt={endpoint.data?.updated_at} />
          ))}
        </Accordion>
      )}
      {attempts.data?.has_more === true && (
        <Text size="xs" c="dimmed">
          The latest {MAX_SHOWN} are shown.
        </Text>
      )}
    </Stack>
  );
}

function Body({ event }: { readonly event: Event }): ReactNode {
  const exact = webhookBody(event);
  return <CodeBlock label="Request body" note="the same at every attempt; copied byte for byte" text={prettyText(exact)} copy={exact} />;
}

interface AttemptProps {
  readonly attempt: DeliveryAttempt;
  readonly delivery: Delivery;
  /** The names of the endpoint's own headers, as it has them now. */
  readonly own: readonly string[];
  readonly endpointChangedAt: string | undefined;
}

function Attempt({ attempt, delivery, own, endpointChangedAt }: AttemptProps): ReactNode {
  const { number, started_at, duration_ms } = attempt;
  const isChangedSince = endpointChangedAt !== undefined && Date.parse(endpointChangedAt) > Date.parse(started_at);
  return (
    <Accordion.Item value={String(number)}>
      <Accordion.Control>
        <Group gap="sm" wrap="nowrap" justify="space-between">
          <Text size="sm" span>
            {number}. <StatusBadge status="attempt" label={answerText(attempt)} tone={isAcknowledged(attempt) ? 'good' : 'bad'} />
          </Text>
          <Text size="xs" c="dimmed" span style={{ whiteSpace: 'nowrap' }}>
            {duration_ms} ms · <Time at={started_at} as="clock" />
          </Text>
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        <Stack gap="sm">
          <CodeBlock label="Request headers" text={headerText(requestHeaders(delivery, attempt, own))} />
          {isChangedSince && (
            <Text size="xs" c="dimmed">
              The endpoint was changed after this attempt; headers of its own are those that it has now.
            </Text>
          )}
          <ReceivedAnswer {...attempt} />
        </Stack>
      </Accordion.Panel>
    </Accordion.Item>
  );
}
