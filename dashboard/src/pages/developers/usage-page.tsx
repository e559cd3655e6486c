// What each key uses of the rate limit: of this minute, and hour by hour over the last day.
// Counts nothing; the server does.

import { Group, Paper, Progress, Stack, Text, Title } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { client } from '../../client/client.ts';
import { keys } from '../../client/queries.ts';
import type { KeyUsage } from '../../client/sdk.ts';
import { BarChart } from '../../ui/bar-chart.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { PageSkeleton } from '../../ui/skeletons.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { ApiLinks } from './api-links.tsx';
import { hoursOfDay, shareText } from './usage-hours.ts';

const LOOK_MS = 10_000;
const PERCENT = 100;
/** From here on it is worth a colour. */
const NEARLY_ALL = 0.8;

export function UsagePage(): ReactNode {
  const query = useQuery({ queryKey: keys.all('usage'), queryFn: async () => await client.usage.retrieve(), refetchInterval: LOOK_MS });
  if (query.isPending) return <PageSkeleton />;
  const { data } = query;
  return (
    <>
      <PageHeader
        title="Usage"
        description={data === undefined ? <ApiLinks /> : `Each key may send ${data.limit.toLocaleString()} requests in a minute.`}
      >
        {data !== undefined && <ApiLinks />}
      </PageHeader>
      {data === undefined && <ErrorNotice error={query.error} retry={() => void query.refetch()} />}
      {data !== undefined && data.keys.length === 0 && (
        <EmptyState title="No key was used in the last day" curl={{ path: '/v1/projects' }}>
          As soon as a program calls the API, what it uses of the limit stands here.
        </EmptyState>
      )}
      <Stack gap="md">
        {data?.keys.map((key) => (
          <OneKey key={key.api_key_id} usage={key} limit={data.limit} minute={data.minute} />
        ))}
      </Stack>
    </>
  );
}

interface OneKeyProps {
  readonly usage: KeyUsage;
  readonly limit: number;
  readonly minute: string;
}

function OneKey({ usage: { api_key_id, name, hint, used, hours }, limit, minute }: OneKeyProps): ReactNode {
  const isNarrow = useMediaQuery('(max-width: 700px)', false, { getInitialValueInEffect: false });
  const busiest = Math.max(0, ...hours.map(({ busiest_minute }) => busiest_minute));
  const total = hours.reduce((sum, { requests }) => sum + requests, 0);
  return (
    <Paper withBorder p="md" component="section" aria-label={name}>
      <Group justify="space-between" gap="xs" mb="sm">
        <Title order={2} style={{ overflowWrap: 'anywhere' }}>
          {name}{' '}
          <Text span c="dimmed" size="sm" fw={400} className="mono">
            {hint}…
          </Text>
        </Title>
        <TextLink href={`/developers/requests?api_key_id=${api_key_id}`}>Its requests</TextLink>
      </Group>
      <Share label="This minute" used={used} limit={limit} />
      <Share label="Busiest minute of the day" used={busiest} limit={limit} />
      <Text size="sm" mt="sm" mb={4}>
        {total.toLocaleString()} requests in the last 24 hours
      </Text>
      <BarChart title={`Requests of ${name} by hour`} bars={hoursOfDay(hours, new Date(minute), isNarrow ? 3 : 1)} height={96} />
    </Paper>
  );
}

function Share({ label, used, limit }: { readonly label: string; readonly used: number; readonly limit: number }): ReactNode {
  const share = Math.min(1, used / limit);
  return (
    <div style={{ marginBottom: 8 }}>
      <Group justify="space-between" gap="xs">
        <Text size="sm">{label}</Text>
        <Text size="sm" c="dimmed">
          {used.toLocaleString()} of {limit.toLocaleString()} · {shareText(used, limit)}
        </Text>
      </Group>
      <Progress value={share * PERCENT} color={share >= NEARLY_ALL ? 'orange' : undefined} aria-label={label} />
    </div>
  );
}
