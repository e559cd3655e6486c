// Signing up with an invitation: it is accepted by the same step.
// The address is the invitation's; nobody can take another.

import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import { startAfresh } from '../../session/account.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';

export function InvitedSignUp({ token, email }: { readonly token: string; readonly email: string }): ReactNode {
  const router = useRouter();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);

  async function signUp(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      const { account } = await client.account.signUp({ name: name.trim(), email, password, invitation_token: token });
      await startAfresh(account ?? undefined);
      router.history.replace('/');
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form
      onSubmit={(submit) => {
        submit.preventDefault();
        void signUp();
      }}
    >
      <Stack gap="md">
        <TextInput label="E-mail" type="email" autoComplete="username" value={email} readOnly />
        <TextInput
          label="Name"
          autoComplete="name"
          value={name}
          onChange={(typed) => setName(typed.currentTarget.value)}
          required
          autoFocus
        />
        <PasswordInput
          label="Password"
          description="At least 12 characters."
          autoComplete="new-password"
          minLength={12}
          maxLength={128}
          value={password}
          onChange={(typed) => setPassword(typed.currentTarget.value)}
          required
        />
        {error !== null && <ErrorNotice error={error} />}
        <Button type="submit" loading={isBusy}>
          Create account and join
        </Button>
      </Stack>
    </form>
  );
}
