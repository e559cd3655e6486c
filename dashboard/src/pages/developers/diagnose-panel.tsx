// Looks at an endpoint step by step: its name, the connection, its certificate, a signed ping. What went wrong first is said first.
// The steps that it did not come to are shown as such.

import { Button, Paper, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import type { WebhookDiagnosis, WebhookEndpoint } from '../../client/sdk.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { StatusBadge, type Tone, wordsOf } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { CodeBlock } from './code-block.tsx';
import { useSubmission } from './submission.ts';

export function DiagnosePanel({ endpoint }: { readonly endpoint: WebhookEndpoint }): ReactNode {
  const [diagnosis, setDiagnosis] = useState<WebhookDiagnosis | null>(null);
  const { isBusy, error, run } = useSubmission();
  const look = (): Promise<void> => run(async () => setDiagnosis(await client.webhookEndpoints.diagnose(endpoint.id)));
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed" maw={640}>
        Looks the name up, connects, checks the certificate and sends a signed ping: {'{"event":"ping","data":{}}'}.
      </Text>
      <Button w="fit-content" loading={isBusy} onClick={() => void look()} leftSection={<Icon name="search" size={16} />}>
        {diagnosis === null ? 'Diagnose' : 'Diagnose again'}
      </Button>
      {error !== null && <ErrorNotice error={error} />}
      {diagnosis !== null && <Findings diagnosis={diagnosis} />}
    </Stack>
  );
}

function Findings({ diagnosis }: { readonly diagnosis: WebhookDiagnosis }): ReactNode {
  const { verdict, hint, checked_at, dns, connection, tls, ping, url } = diagnosis;
  const isHealthy = verdict === 'healthy';
  const hasTls = url.toLowerCase().startsWith('https:');
  return (
    <Stack gap="sm">
      <Paper withBorder p="sm" bg="var(--surface)" role="status">
        <StatusBadge status={verdict} label={wordsOf(verdict)} tone={isHealthy ? 'good' : 'bad'} />
        <Text size="sm" mt={4}>
          {hint}
        </Text>
        <Text size="xs" c="dimmed" mt={4} component="div">
          Looked at <Time at={checked_at} as="clock" />
        </Text>
      </Paper>
      <Step
        name="Name"
        ok={dns === null ? null : dns.error === null && dns.addresses.some(({ blocked }) => blocked === null)}
        tookMs={dns?.duration_ms}
      >
        {dns !== null && <Dns dns={dns} />}
      </Step>
      <Step name="Connection" ok={connection === null ? null : connection.error === null} tookMs={connection?.duration_ms}>
        {connection !== null && (
          <>
            <code>
              {connection.address} port {connection.port}
            </code>
            {connection.error !== null && `: ${connection.error}`}
          </>
        )}
      </Step>
      {hasTls && (
        <Step name="Certificate" ok={tls === null ? null : tls.authorized} tookMs={tls?.duration_ms}>
          {tls !== null && <Certificates tls={tls} />}
        </Step>
      )}
      <Step name="Ping" ok={ping === null ? null : isHealthy} tookMs={ping?.duration_ms}>
        {ping !== null && <Ping ping={ping} />}
      </Step>
    </Stack>
  );
}

interface StepProps {
  readonly name: string;
  /** Null: it did not come to that. */
  readonly ok: boolean | null;
  readonly tookMs: number | undefined;
  readonly children: ReactNode;
}

function Step({ name, ok, tookMs, children }: StepProps): ReactNode {
  const tone: Tone = ok === null ? 'neutral' : ok ? 'good' : 'bad';
  const label = ok === null ? 'Not reached' : ok ? 'In order' : 'Not in order';
  return (
    <Paper withBorder p="sm" component="section">
      <Title order={2} size="h3" mb={4}>
        {name} <StatusBadge status={label} label={label} tone={tone} />
        {tookMs !== undefined && (
          <Text span size="xs" c="dimmed" fw={400} ml={8}>
            {tookMs} ms
          </Text>
        )}
      </Title>
      <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </Paper>
  );
}

function Dns({ dns: { host, addresses, error } }: { readonly dns: NonNullable<WebhookDiagnosis['dns']> }): ReactNode {
  return (
    <>
      <code>{host}</code>
      {error !== null && `: ${error}`}
      {addresses.map(({ address, family, blocked }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a finding never changes, and blocked addresses have no name.
        <div key={`${index} ${address}`}>
          {address === null ? `An IPv${family} address` : <code>{address}</code>}
          {blocked !== null && ` is ${blocked}: webhooks are not sent there`}
        </div>
      ))}
    </>
  );
}

function Certificates({ tls: { protocol, error, chain } }: { readonly tls: NonNullable<WebhookDiagnosis['tls']> }): ReactNode {
  return (
    <>
      {protocol !== null && <div>{protocol}</div>}
      {error !== null && <div>Webhooks are not sent over it: {error}</div>}
      {chain.map(({ subject, issuer, names, valid_until, days_left }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a chain never changes, and may hold a name twice.
        <div key={`${index} ${subject}`}>
          <code>{subject}</code> by <code>{issuer}</code>
          {names.length > 0 && `, for ${names.join(', ')}`}; {days_left < 0 ? `ended ${-days_left} days ago` : `${days_left} days left`} (
          <Time at={valid_until} as="date" />)
        </div>
      ))}
    </>
  );
}

function Ping({ ping }: { readonly ping: NonNullable<WebhookDiagnosis['ping']> }): ReactNode {
  const { status_code, first_byte_ms, error, response_body } = ping;
  return (
    <Stack gap="xs">
      <span>
        {status_code === null ? (error ?? 'No answer') : `Answered ${status_code}`}
        {first_byte_ms !== null && `; the answer began after ${first_byte_ms} ms`}
      </span>
      {response_body !== null && response_body !== '' && <CodeBlock label="Response body" text={response_body} />}
    </Stack>
  );
}
