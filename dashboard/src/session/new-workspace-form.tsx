// The one question a new workspace asks: its name.
// Makes it; where to go then, the caller says.

import { Button, Group, Stack, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { client } from '../client/client.ts';
import type { AccountWorkspace } from '../client/sdk.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';

export interface NewWorkspaceFormProps {
  readonly onMade: (made: AccountWorkspace) => Promise<void>;
  readonly onCancel?: () => void;
}

export function NewWorkspaceForm({ onMade, onCancel }: NewWorkspaceFormProps): ReactNode {
  const [name, setName] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  async function make(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      await onMade(await client.workspaces.create({ name: name.trim() }));
    } catch (reason) {
      setError(reason);
      setBusy(false);
    }
  }
  return (
    <form
      onSubmit={(submit) => {
        submit.preventDefault();
        void make();
      }}
    >
      <Stack gap="md">
        <TextInput
          label="Name of the workspace"
          value={name}
          maxLength={200}
          onChange={(change) => setName(change.currentTarget.value)}
          required
          data-autofocus
        />
        {error !== null && <ErrorNotice error={error} />}
        <Group justify="flex-end" gap="xs">
          {onCancel !== undefined && (
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
          )}
          <Button type="submit" loading={isBusy} disabled={name.trim() === ''}>
            Create workspace
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
