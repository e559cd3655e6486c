// Who invites me to what, and accepting it: signed in as the person who is invited, by signing in, or by signing up here.
// The token stands after `#` of the link and goes to the server in bodies only.

import { Anchor, Button, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import { keys } from '../../client/queries.ts';
import type { Account, InvitationPreview } from '../../client/sdk.ts';
import { chooseWorkspace } from '../../client/workspace-choice.ts';
import { accountQuery, startAfresh } from '../../session/account.ts';
import { signOut } from '../../session/sign-out.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Day } from '../../ui/time.tsx';
import { Card } from './card.tsx';
import { InvitedSignUp } from './invited-sign-up.tsx';
import { linkToken } from './link-token.ts';

export function InvitationPage(): ReactNode {
  const [token] = useState(() => linkToken('token'));
  const preview = useQuery({
    // Without the token, which is a secret and the only one that this page ever has.
    queryKey: keys.other('invitations', 'preview'),
    gcTime: 0,
    queryFn: async () => await client.invitations.lookup({ token: token ?? '' }),
    enabled: token !== null,
    refetchOnWindowFocus: false,
  });
  const account = useQuery(accountQuery);
  return (
    <Card title="Invitation">
      {token === null && <Text size="sm">This address lacks the token of an invitation. Open the link as it was given to you.</Text>}
      {token !== null && (preview.isPending || account.isPending) && (
        <Stack gap="xs" role="status" aria-busy="true" aria-label="Loading">
          <Skeleton height={18} />
          <Skeleton height={18} width="60%" />
        </Stack>
      )}
      {preview.isError && <ErrorNotice error={preview.error} retry={() => void preview.refetch()} />}
      {token !== null && preview.data !== undefined && !account.isPending && (
        <Invited token={token} preview={preview.data} account={account.data ?? null} />
      )}
      {(token === null || preview.isError) && (
        <Anchor component={Link} to="/" size="sm">
          To the dashboard
        </Anchor>
      )}
    </Card>
  );
}

interface InvitedProps {
  readonly token: string;
  readonly preview: InvitationPreview;
  readonly account: Account | null;
}

function Invited({ token, preview, account }: InvitedProps): ReactNode {
  const { email, role, workspace_name, invited_by, has_account, expires_at } = preview;
  const router = useRouter();
  const isSelf = account !== null && account.email.toLowerCase() === email.toLowerCase();
  return (
    <>
      <Text size="sm">
        {invited_by === null ? 'You are invited' : `${invited_by} invites you`} to <strong>{workspace_name}</strong>, as {role}. The
        invitation is for {email}, until <Day day={expires_at.slice(0, 10)} />.
      </Text>
      {isSelf && <Accept token={token} workspaceName={workspace_name} account={account} />}
      {account !== null && !isSelf && <OtherPerson account={account} />}
      {/* The token stays behind `#`, so that no server is asked for an address that holds it. */}
      {account === null && has_account && (
        <Button onClick={() => router.history.push(`/sign-in?next=%2Faccept-invitation#token=${token}`)}>Sign in to accept</Button>
      )}
      {account === null && !has_account && <InvitedSignUp token={token} email={email} />}
    </>
  );
}

interface AcceptProps {
  readonly token: string;
  readonly workspaceName: string;
  readonly account: Account;
}

function Accept({ token, workspaceName, account }: AcceptProps): ReactNode {
  const router = useRouter();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  async function accept(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      const joined = await client.invitations.accept({ token });
      const before = new Set(account.workspaces.map(({ id }) => id));
      const made = joined.workspaces.find(({ id }) => !before.has(id));
      if (made !== undefined) chooseWorkspace(made.id);
      await startAfresh(joined);
      router.history.replace('/');
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  }
  return (
    <>
      {error !== null && <ErrorNotice error={error} />}
      <Button loading={isBusy} onClick={() => void accept()}>
        Join {workspaceName}
      </Button>
    </>
  );
}

function OtherPerson({ account }: { readonly account: Account }): ReactNode {
  return (
    <>
      <Text size="sm">You are signed in as {account.email}. Sign out to accept it as the person it is for.</Text>
      <Button variant="default" onClick={() => void signOut().then(() => location.reload())}>
        Sign out
      </Button>
    </>
  );
}
