// Closing the workspace, for owners, and leaving it, for everybody.
// Both are asked first; closing asks for the name as well.

import { Button, Group, Text, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import { enterWorkspace } from '../../session/account.ts';
import { useSession } from '../../session/session.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { notify } from '../../ui/notices.tsx';
import { LeaveDialog } from './member-dialogs.tsx';
import classes from './settings.module.css';

type Asked = 'close' | 'leave' | null;

export function DangerZone({ name }: { readonly name: string }): ReactNode {
  const { workspace, can } = useSession();
  const [asked, setAsked] = useState<Asked>(null);
  const mayClose = can('workspace:own');
  const done = (): void => setAsked(null);
  // Nothing in a closed workspace changes any more, its members included.
  if (workspace.closed_at !== null) return null;
  return (
    <section className={`${classes.card} ${classes.danger}`} style={{ marginTop: 28 }} aria-labelledby="danger">
      <Title order={2} id="danger">
        Danger zone
      </Title>
      {mayClose && (
        <Row text="Close this workspace: nothing in it changes any more." label="Close the workspace" onClick={() => setAsked('close')} />
      )}
      <Row text="Leave this workspace: you no longer see it." label="Leave the workspace" onClick={() => setAsked('leave')} />
      <CloseDialog name={name} opened={asked === 'close'} onClose={done} />
      {asked === 'leave' && <LeaveDialog memberId={workspace.member_id} onClose={done} />}
    </section>
  );
}

function Row({ text, label, onClick }: { readonly text: string; readonly label: string; readonly onClick: () => void }): ReactNode {
  return (
    <Group justify="space-between" gap="sm" mt="sm">
      <Text size="sm">{text}</Text>
      <Button variant="light" color="red" onClick={onClick}>
        {label}
      </Button>
    </Group>
  );
}

interface CloseDialogProps {
  readonly name: string;
  readonly opened: boolean;
  readonly onClose: () => void;
}

function CloseDialog({ name, opened, onClose }: CloseDialogProps): ReactNode {
  const { workspace } = useSession();
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      danger
      title={`Close ${name}?`}
      effect="Every API key is revoked, every webhook endpoint is disabled, and nothing can be created, approved or released any more. Payments that await their release stay unreleased. Members go on reading. There is no way back."
      confirm="Close for good"
      typeToConfirm={name}
      onConfirm={async () => {
        const closed = await client.workspace.close({ name });
        await enterWorkspace(workspace.id);
        notify(`${closed.name} is closed`);
      }}
    />
  );
}
