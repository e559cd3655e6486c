// The dialog that makes a key: its name, what it may do, and when it ends.
// Shows no secret; whoever opened it does, once.

import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import type { ApiKeyWithSecret, Scope } from '../../client/sdk.ts';
import { useCan } from '../../session/session.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { ScopePicker } from './scope-picker.tsx';
import { presets } from './scopes.ts';
import { useSubmission } from './submission.ts';

const MAX_NAME_LENGTH = 255;
const DAY_MS = 86_400_000;

const ends = [
  { value: 'never', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'day', label: 'On a day …' },
] as const;

/** The moment that was chosen: a day ends where the viewer is. Undefined for never. */
function endOf(choice: string, day: string): Date | undefined {
  if (choice === 'never') return undefined;
  return choice === 'day' ? new Date(`${day}T23:59:59`) : new Date(Date.now() + Number(choice) * DAY_MS);
}

export interface CreateApiKeyProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onCreated: (key: ApiKeyWithSecret) => void;
}

export function CreateApiKey({ opened, onClose, onCreated }: CreateApiKeyProps): ReactNode {
  return (
    <Modal opened={opened} onClose={onClose} title="New API key" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Form onClose={onClose} onCreated={onCreated} />
    </Modal>
  );
}

function Form({ onClose, onCreated }: Omit<CreateApiKeyProps, 'opened'>): ReactNode {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly Scope[]>(presets[0]?.scopes ?? []);
  const [end, setEnd] = useState('never');
  const [day, setDay] = useState('');
  const { isBusy, error, run } = useSubmission();
  const givesKeys = useCan('api_keys:write') && scopes.includes('api_keys:write');
  const isReady = name.trim() !== '' && scopes.length > 0 && (end !== 'day' || day !== '');
  const create = (): Promise<void> =>
    run(async () => onCreated(await client.apiKeys.create({ name: name.trim(), scopes, expires_at: endOf(end, day) })));
  return (
    <form
      onSubmit={(submit) => {
        submit.preventDefault();
        if (isReady) void create();
      }}
    >
      <Stack gap="md">
        <TextInput
          label="Name"
          description="What people call it: the program and where it runs."
          placeholder="Bookkeeping, production"
          value={name}
          maxLength={MAX_NAME_LENGTH}
          autoComplete="off"
          required
          data-autofocus
          onChange={(change) => setName(change.currentTarget.value)}
        />
        <ScopePicker value={scopes} onChange={setScopes} />
        <Group gap="xs" align="flex-end">
          <Select label="It ends" data={[...ends]} value={end} onChange={(value) => value !== null && setEnd(value)} w={170} />
          {end === 'day' && (
            <TextInput type="date" label="Last day" value={day} onChange={(change) => setDay(change.currentTarget.value)} required />
          )}
        </Group>
        {error !== null && <ErrorNotice error={error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy} disabled={!isReady} color={givesKeys ? 'orange.8' : undefined}>
            {givesKeys ? 'Create key that makes keys' : 'Create key'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
