// How an endpoint is doing, in a word and a sentence: sent to, failing, held back, paused or disabled.
// Reads what the API says of it and asks nothing.

import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { WebhookEndpoint } from '../../client/sdk.ts';
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';

export interface Health {
  readonly label: string;
  readonly tone: Tone;
}

/** By a person or a key, and not by the service itself. */
export const isPaused = ({ disabled_cause }: WebhookEndpoint): boolean => disabled_cause === 'request';

export function healthOf(endpoint: WebhookEndpoint): Health {
  if (isPaused(endpoint)) return { label: 'Paused', tone: 'neutral' };
  if (endpoint.status === 'disabled') return { label: 'Disabled', tone: 'bad' };
  if (endpoint.breaker === 'open') return { label: 'Held back', tone: 'bad' };
  if (endpoint.breaker === 'half_open') return { label: 'Recovering', tone: 'attention' };
  return endpoint.consecutive_failures > 0 ? { label: 'Failing', tone: 'attention' } : { label: 'Healthy', tone: 'good' };
}

export function HealthBadge({ endpoint }: { readonly endpoint: WebhookEndpoint }): ReactNode {
  const { label, tone } = healthOf(endpoint);
  return <StatusBadge status={label} label={label} tone={tone} />;
}

/** Why it is as it is, and what happens next. Null where all is well. */
export function HealthSentence({ endpoint }: { readonly endpoint: WebhookEndpoint }): ReactNode {
  const { status, disabled_reason, breaker, consecutive_failures, failing_since, next_probe_at } = endpoint;
  if (isPaused(endpoint))
    return <Text size="sm">Paused: nothing is sent, and events of the meantime are not kept for it. Recover sends them later.</Text>;
  if (status === 'disabled')
    return <Text size="sm">{disabled_reason ?? 'Disabled.'} Mend the receiver, resume, and recover what it missed.</Text>;
  if (consecutive_failures === 0) return null;
  return (
    <Text size="sm" component="div">
      {consecutive_failures === 1 ? 'The last attempt failed' : `The last ${consecutive_failures} attempts failed`}
      {failing_since !== null && (
        <>
          , the first <Time at={failing_since} as="relative" />
        </>
      )}
      .{' '}
      {breaker === 'open' && next_probe_at !== null && (
        <>
          Deliveries wait; the next probe is sent <Time at={next_probe_at} as="relative" />.
        </>
      )}
      {breaker === 'half_open' && 'A probe was let through; deliveries are taken up again one by one.'}
      {breaker === 'closed' && 'It is tried again on schedule.'}
    </Text>
  );
}
