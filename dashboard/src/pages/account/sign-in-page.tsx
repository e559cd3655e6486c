// Signing in.
// Until sessions are there, a developer pastes an API key, which stays in this tab.

import { Button, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { setDeveloperKey } from '../../client/client.ts';
import { startAfresh } from '../../session/account.ts';

const route = getRouteApi('/sign-in');

export function SignInPage(): ReactNode {
  const { next } = route.useSearch();
  const router = useRouter();
  const [key, setKey] = useState('');
  async function enter(): Promise<void> {
    setDeveloperKey(key.trim());
    await startAfresh();
    router.history.push(next?.startsWith('/') === true && !next.startsWith('//') ? next : '/');
  }
  return (
    <Stack component="main" align="center" justify="center" mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={380}>
        <form
          onSubmit={(submit) => {
            submit.preventDefault();
            void enter();
          }}
        >
          <Stack gap="md">
            <Title order={1}>Tranche</Title>
            <Text c="dimmed" size="sm">
              In development: enter with an API key. It is kept in this tab only.
            </Text>
            <PasswordInput label="API key" value={key} onChange={(change) => setKey(change.currentTarget.value)} required />
            <Button type="submit">Enter</Button>
          </Stack>
        </form>
      </Paper>
    </Stack>
  );
}
