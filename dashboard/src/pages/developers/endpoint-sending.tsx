// The part of an endpoint's form that says how it is sent to: signatures, headers of one's own, order and limits.
// Values of headers that exist are never shown: they can be replaced or removed.

import { ActionIcon, Button, Checkbox, Group, NumberInput, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import type { EndpointOrdering, SignatureScheme, WebhookEndpoint } from '../../client/sdk.ts';
import { Icon } from '../../ui/icon.tsx';
import { type EndpointDraft, type HeaderDraft, MAX_HEADERS } from './endpoint-draft.ts';

interface Props {
  readonly draft: EndpointDraft;
  readonly change: (changes: Partial<EndpointDraft>) => void;
  readonly endpoint?: WebhookEndpoint;
}

const orders = [
  { value: 'none', label: 'As soon as each can be sent' },
  { value: 'project', label: 'In order within each project' },
];

export function EndpointSending({ draft, change, endpoint }: Props): ReactNode {
  return (
    <Stack gap="md">
      <Checkbox.Group
        label="Signatures"
        value={[...draft.schemes]}
        onChange={(chosen) => change({ schemes: chosen as SignatureScheme[] })}
        error={draft.schemes.length === 0 ? 'One at least: nothing is sent unsigned.' : undefined}
      >
        <Stack gap={6} mt={6}>
          <Checkbox size="xs" value="v1" label="v1" description="HMAC-SHA256 with the endpoint's secret" />
          <Checkbox size="xs" value="v1a" label="v1a" description="ed25519; anybody can verify with the public key" />
        </Stack>
      </Checkbox.Group>
      <Select
        label="Order"
        data={orders}
        value={draft.ordering}
        onChange={(value) => value !== null && change({ ordering: value as EndpointOrdering })}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NumberInput
          label="At once, at most"
          description="Deliveries under way"
          min={1}
          allowDecimal={false}
          value={draft.maxConcurrency}
          onChange={(value) => typeof value === 'number' && change({ maxConcurrency: value })}
        />
        <NumberInput
          label="Per second, at most"
          description="Empty: as many as there are"
          min={1}
          allowDecimal={false}
          value={draft.perSecond ?? ''}
          onChange={(value) => change({ perSecond: typeof value === 'number' ? value : null })}
        />
      </SimpleGrid>
      <Headers draft={draft} change={change} {...(endpoint === undefined ? {} : { endpoint })} />
    </Stack>
  );
}

function Headers({ draft, change, endpoint }: Props): ReactNode {
  const kept = (endpoint?.header_names ?? []).filter((name) => !draft.removedHeaders.includes(name));
  const set = (key: number, changes: Partial<HeaderDraft>): void =>
    change({ headers: draft.headers.map((one) => (one.key === key ? { ...one, ...changes } : one)) });
  const key = Math.max(0, ...draft.headers.map((one) => one.key)) + 1;
  return (
    <Stack gap={6}>
      <Text size="sm" fw={500}>
        Headers of your own
      </Text>
      <Text size="xs" c="dimmed">
        Sent with every delivery, kept encrypted; their values cannot be read again.
      </Text>
      {kept.map((name) => (
        <Group key={name} gap="xs">
          <code>{name}: ••••••</code>
          <Button
            size="compact-xs"
            variant="subtle"
            color="gray"
            onClick={() => change({ removedHeaders: [...draft.removedHeaders, name] })}
          >
            Remove {name}
          </Button>
        </Group>
      ))}
      {draft.headers.map((header, index) => (
        <Group key={header.key} gap="xs" wrap="nowrap">
          <TextInput
            aria-label={`Name of header ${index + 1}`}
            placeholder="Authorization"
            value={header.name}
            autoComplete="off"
            onChange={(typed) => set(header.key, { name: typed.currentTarget.value })}
          />
          <TextInput
            aria-label={`Value of header ${index + 1}`}
            placeholder="Bearer …"
            value={header.value}
            autoComplete="off"
            flex={1}
            onChange={(typed) => set(header.key, { value: typed.currentTarget.value })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove header ${index + 1}`}
            onClick={() => change({ headers: draft.headers.filter((one) => one.key !== header.key) })}
          >
            <Icon name="close" size={16} />
          </ActionIcon>
        </Group>
      ))}
      {kept.length + draft.headers.length < MAX_HEADERS && (
        <Button
          variant="default"
          size="compact-sm"
          w="fit-content"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() => change({ headers: [...draft.headers, { key, name: '', value: '' }] })}
        >
          Add a header
        </Button>
      )}
    </Stack>
  );
}
