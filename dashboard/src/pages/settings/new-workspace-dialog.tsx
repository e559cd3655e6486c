// Another workspace, which whoever makes it owns; the tab goes there at once.
// Knows no settings: those are the new workspace's own page.

import { Modal, Text } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { enterWorkspace } from '../../session/account.ts';
import { NewWorkspaceForm } from '../../session/new-workspace-form.tsx';
import { notify } from '../../ui/notices.tsx';

export function NewWorkspaceDialog({ opened, onClose }: { readonly opened: boolean; readonly onClose: () => void }): ReactNode {
  const router = useRouter();
  return (
    <Modal opened={opened} onClose={onClose} title="New workspace" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Text size="sm" mb="md">
        It shares nothing with this one: its own people, keys, projects and books. You own it.
      </Text>
      <NewWorkspaceForm
        onCancel={onClose}
        onMade={async ({ id, name }) => {
          await router.navigate({ to: '/' });
          await enterWorkspace(id);
          notify(`${name} is yours`);
        }}
      />
    </Modal>
  );
}
