// In the place of every page, for somebody who has left or lost their last workspace: make one, or sign out.
// An invitation that is accepted elsewhere leads out of here as well.

import { Button, Paper, Stack, Text, Title } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Account } from '../client/sdk.ts';
import { enterWorkspace } from './account.ts';
import { NewWorkspaceForm } from './new-workspace-form.tsx';
import { signOut } from './sign-out.ts';

export function NoWorkspace({ account }: { readonly account: Account }): ReactNode {
  const router = useRouter();
  return (
    <Stack component="main" align="center" justify="center" mih="100vh" p="md" bg="var(--surface)">
      <Paper withBorder p="xl" w="100%" maw={440}>
        <Stack gap="md">
          <Title order={1}>You are in no workspace</Title>
          <Text size="sm" c="dimmed">
            You are signed in as {account.email}. Ask somebody to invite you
            {account.may_create_workspaces ? ', or make a workspace of your own.' : '.'}
          </Text>
          {account.may_create_workspaces ? (
            <NewWorkspaceForm
              onMade={async ({ id }) => {
                await router.navigate({ to: '/' });
                await enterWorkspace(id);
              }}
            />
          ) : null}
          <Button variant="subtle" color="gray" onClick={() => void signOut().then(() => router.navigate({ to: '/sign-in' }))}>
            Sign out
          </Button>
        </Stack>
      </Paper>
    </Stack>
  );
}
