// Says that a project has more milestones than are shown, and brings them.
// Shows none itself.

import { Button, Group, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { MILESTONES_AT_ONCE, showMoreMilestones } from './project-data.ts';

export function EarlierMilestones({ projectId, count }: { readonly projectId: string; readonly count: number }): ReactNode {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  async function show(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      await showMoreMilestones(projectId);
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  }
  return (
    <>
      <Group mt="sm">
        <Text size="sm" c="dimmed" role="status">
          The newest {count.toLocaleString()} milestones are shown; there are earlier ones.
        </Text>
        <Button variant="default" size="compact-sm" loading={isBusy} onClick={() => void show()}>
          Show {MILESTONES_AT_ONCE} more
        </Button>
      </Group>
      {error !== null && <ErrorNotice error={error} />}
    </>
  );
}
