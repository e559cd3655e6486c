// Signing in with e-mail and password, and the code of the second factor where there is one.
// While nobody has signed up yet, leads to where the first person does.

import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useRouter } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { whereNext } from '../../app/where-next.ts';
import { client } from '../../client/client.ts';
import { keys } from '../../client/queries.ts';
import type { SignInResult } from '../../client/sdk.ts';
import { startAfresh } from '../../session/account.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Card } from './card.tsx';

const route = getRouteApi('/sign-in');

export function SignInPage(): ReactNode {
  const { next } = route.useSearch();
  const router = useRouter();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const { data: setup } = useQuery({ queryKey: keys.other('account', 'setup'), queryFn: async () => await client.account.retrieveSetup() });

  async function signIn(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      const call = code === null ? client.account.signIn({ email, password }) : client.account.signInTotp({ code });
      const result: SignInResult = await call;
      if (result.account === null) return setCode('');
      await startAfresh(result.account);
      // Behind `#` stands what the page after it needs and no server may see: the token of an invitation.
      router.history.replace(whereNext(next) + location.hash);
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  }

  return (
    <Card title="Sign in">
      {setup?.needs_setup === true && (
        <Text size="sm">
          Nobody has signed up yet.{' '}
          <Anchor component={Link} to="/sign-up" size="sm">
            Set this server up
          </Anchor>
        </Text>
      )}
      <form
        onSubmit={(submit) => {
          submit.preventDefault();
          void signIn();
        }}
      >
        <Stack gap="md">
          {code === null ? (
            <>
              <TextInput
                label="E-mail"
                type="email"
                autoComplete="username"
                value={email}
                onChange={(change) => setEmail(change.currentTarget.value)}
                required
                autoFocus
              />
              <PasswordInput
                label="Password"
                autoComplete="current-password"
                value={password}
                onChange={(change) => setPassword(change.currentTarget.value)}
                required
              />
            </>
          ) : (
            <TextInput
              label="Code of your authenticator, or a backup code"
              autoComplete="one-time-code"
              value={code}
              onChange={(change) => setCode(change.currentTarget.value)}
              required
              autoFocus
            />
          )}
          {error !== null && <ErrorNotice error={error} />}
          <Button type="submit" loading={isBusy}>
            Sign in
          </Button>
        </Stack>
      </form>
    </Card>
  );
}
