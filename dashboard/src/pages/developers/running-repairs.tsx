// The repairs that are under way, with how far they have come; nothing where there is none.
// Looks at the latest repairs only: older ones that still run are in the list of repairs.

import { Button, Group, Paper, Progress, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { client } from '../../client/client.ts';
import { keys, queryClient } from '../../client/queries.ts';
import type { WebhookRepair } from '../../client/sdk.ts';
import { useCan } from '../../session/session.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { notify } from '../../ui/notices.tsx';
import { counted, filterText, isOver, verbOf } from './repair-draft.ts';
import { useSubmission } from './submission.ts';

const LATEST = 20;
const LOOK_MS = 1_500;
const PERCENT = 100;

export function RunningRepairs({ endpointId }: { readonly endpointId?: string }): ReactNode {
  const { data = [] } = useQuery({
    queryKey: keys.other('webhook_repairs', 'running'),
    queryFn: async () => (await client.webhookRepairs.list({ limit: LATEST })).data.filter((one) => !one.dry_run && !isOver(one)),
    refetchInterval: ({ state }) => ((state.data?.length ?? 0) > 0 ? LOOK_MS : false),
  });
  const running = data.filter(({ endpoint_id }) => endpointId === undefined || endpoint_id === null || endpoint_id === endpointId);
  const before = useRef(0);
  useEffect(() => {
    // What a repair did to deliveries is told by no event.
    if (running.length < before.current) {
      void queryClient.invalidateQueries({ queryKey: keys.all('deliveries') });
      void queryClient.invalidateQueries({ queryKey: keys.list('webhook_repairs') });
    }
    before.current = running.length;
  }, [running.length]);
  if (running.length === 0) return null;
  return (
    <Stack gap="xs" mb="md">
      {running.map((repair) => (
        <Running key={repair.id} repair={repair} />
      ))}
    </Stack>
  );
}

function Running({ repair }: { readonly repair: WebhookRepair }): ReactNode {
  const { action, matched, changed } = repair;
  return (
    <Paper withBorder p="sm" bg="var(--surface)">
      <Group justify="space-between" gap="xs" mb={6}>
        <Text size="sm">
          {verbOf(action)}: {filterText(repair)}
        </Text>
        <StopRepair repair={repair} />
      </Group>
      <Progress value={matched === 0 ? 0 : (changed / matched) * PERCENT} animated aria-label="How much of what was found so far is done" />
      <Text size="xs" c="dimmed" mt={4} role="status">
        {changed} done of {counted(matched, action)} found so far
      </Text>
    </Paper>
  );
}

export function StopRepair({ repair }: { readonly repair: WebhookRepair }): ReactNode {
  const mayWrite = useCan('webhooks:write');
  const { isBusy, error, run } = useSubmission();
  if (!mayWrite || isOver(repair)) return null;
  const stop = (): Promise<void> =>
    run(async () => {
      await client.webhookRepairs.stop(repair.id);
      notify('Stopped; what was done stays done');
      void queryClient.invalidateQueries({ queryKey: keys.all('webhook_repairs') });
    });
  return (
    <>
      <Button variant="default" size="compact-sm" loading={isBusy} onClick={() => void stop()}>
        Stop
      </Button>
      {error !== null && <ErrorNotice error={error} />}
    </>
  );
}
