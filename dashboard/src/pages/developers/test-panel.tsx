// Sends a sample to an endpoint and shows both sides of it: what was sent, and what came back.
// A sample is no event of the log and makes no delivery.

import { Button, Group, Paper, Select, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import type { EventType, WebhookEndpoint, WebhookTest } from '../../client/sdk.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { CodeBlock, headerText, prettyText } from './code-block.tsx';
import { eventTypeOptions } from './event-kinds.ts';
import { answerText, ReceivedAnswer } from './received-answer.tsx';
import { useSubmission } from './submission.ts';

export function TestPanel({ endpoint }: { readonly endpoint: WebhookEndpoint }): ReactNode {
  const [type, setType] = useState<EventType>(endpoint.event_types[0] ?? 'payment.released');
  const [test, setTest] = useState<WebhookTest | null>(null);
  const { isBusy, error, run } = useSubmission();
  const send = (): Promise<void> =>
    run(async () => {
      setTest(null);
      setTest(await client.webhookEndpoints.test(endpoint.id, { event_type: type }));
    });
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed" maw={640}>
        A signed sample with made-up data. It is no event of the log and makes no delivery; its webhook-id is in no list.
      </Text>
      <Group gap="xs" align="flex-end">
        <Select
          label="Kind of event"
          data={eventTypeOptions}
          value={type}
          onChange={(value) => value !== null && setType(value as EventType)}
          w={240}
        />
        <Button loading={isBusy} onClick={() => void send()} leftSection={<Icon name="play" size={16} />}>
          Send test
        </Button>
      </Group>
      {error !== null && <ErrorNotice error={error} />}
      {test !== null && <Outcome test={test} />}
    </Stack>
  );
}

function Outcome({ test }: { readonly test: WebhookTest }): ReactNode {
  const { acknowledged, duration_ms, sent_at, request_headers, request_body } = test;
  return (
    <Stack gap="sm">
      <Paper withBorder p="sm" bg="var(--surface)" role="status">
        <Group justify="space-between" gap="xs">
          <StatusBadge
            status="test"
            label={`${answerText(test)}: ${acknowledged ? 'acknowledged' : 'not acknowledged'}`}
            tone={acknowledged ? 'good' : 'bad'}
          />
          <Text size="xs" c="dimmed" component="div">
            {duration_ms} ms · <Time at={sent_at} as="clock" />
          </Text>
        </Group>
      </Paper>
      <ReceivedAnswer {...test} />
      <CodeBlock label="Request headers" note="without headers of your own" text={headerText(request_headers)} />
      <CodeBlock label="Request body" note="copied byte for byte" text={prettyText(request_body)} copy={request_body} />
    </Stack>
  );
}
