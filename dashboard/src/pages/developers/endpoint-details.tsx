// The settings of an endpoint as they are.
// Changes nothing; endpoint-actions.tsx does.

import { Badge, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import type { WebhookEndpoint } from '../../client/sdk.ts';
import { CopyButton, Id } from '../../ui/copy-button.tsx';
import { Details } from '../../ui/detail-drawer.tsx';
import { Time } from '../../ui/time.tsx';

export function EndpointDetails({ endpoint }: { readonly endpoint: WebhookEndpoint }): ReactNode {
  const { id, url, description, event_types, signature_schemes, public_key, jwks_path, header_names } = endpoint;
  const { max_concurrency, rate_limit_per_second, ordering, created_at, updated_at } = endpoint;
  return (
    <Details
      items={[
        { label: 'URL', value: <code>{url}</code> },
        { label: 'Description', value: description ?? '–' },
        { label: 'Events', value: <Words words={event_types} /> },
        { label: 'Signatures', value: signature_schemes.join(', ') },
        ...(public_key === null ? [] : [{ label: 'Public key', value: <Copied text={public_key} label="Copy public key" /> }]),
        ...(jwks_path === null
          ? []
          : [{ label: 'Public keys (JWKS)', value: <Copied text={location.origin + jwks_path} label="Copy address" /> }]),
        { label: 'Headers of your own', value: header_names.length === 0 ? 'None' : <Words words={header_names} /> },
        { label: 'Order', value: ordering === 'project' ? 'In order within each project' : 'As soon as each can be sent' },
        { label: 'At once, at most', value: max_concurrency },
        { label: 'Per second, at most', value: rate_limit_per_second ?? 'As many as there are' },
        { label: 'Created', value: <Time at={created_at} /> },
        { label: 'Last changed', value: <Time at={updated_at} /> },
        { label: 'Id', value: <Id id={id} /> },
      ]}
    />
  );
}

function Words({ words }: { readonly words: readonly string[] }): ReactNode {
  return (
    <Group gap={6}>
      {words.map((word) => (
        <Badge key={word} variant="default" tt="none" fw={400} className="mono">
          {word}
        </Badge>
      ))}
    </Group>
  );
}

function Copied({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  return (
    <Group gap={4} wrap="nowrap" align="flex-start">
      <code style={{ overflowWrap: 'anywhere' }}>{text}</code>
      <CopyButton text={text} label={label} />
    </Group>
  );
}
