// The first person makes their account, with the setup token that the server printed.
// Everyone after that is invited: invitation-page.tsx.

import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import { startAfresh } from '../../session/account.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Card } from './card.tsx';
import { linkToken } from './link-token.ts';

export function SignUpPage(): ReactNode {
  const router = useRouter();
  const [token, setToken] = useState(() => linkToken('setup_token') ?? '');
  const [isLinked] = useState(token !== '');
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);

  async function signUp(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      const { account } = await client.account.signUp({ name, email, password, setup_token: token.trim() });
      await startAfresh(account ?? undefined);
      router.history.replace('/');
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  }

  return (
    <Card title="Set up Tranche">
      <Text size="sm" c="dimmed">
        The first person owns the workspace and invites everyone else.
      </Text>
      <form
        onSubmit={(submit) => {
          submit.preventDefault();
          void signUp();
        }}
      >
        <Stack gap="md">
          {!isLinked && (
            <TextInput
              label="Setup token"
              description="The server prints it when it starts."
              autoComplete="off"
              value={token}
              onChange={(change) => setToken(change.currentTarget.value)}
              required
            />
          )}
          <TextInput label="Name" autoComplete="name" value={name} onChange={(change) => setName(change.currentTarget.value)} required />
          <TextInput
            label="E-mail"
            type="email"
            autoComplete="username"
            value={email}
            onChange={(change) => setEmail(change.currentTarget.value)}
            required
          />
          <PasswordInput
            label="Password"
            description="At least 12 characters."
            autoComplete="new-password"
            minLength={12}
            maxLength={128}
            value={password}
            onChange={(change) => setPassword(change.currentTarget.value)}
            required
          />
          {error !== null && <ErrorNotice error={error} />}
          <Button type="submit" loading={isBusy}>
            Create account
          </Button>
        </Stack>
      </form>
    </Card>
  );
}
