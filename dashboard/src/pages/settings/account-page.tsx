// The own account, the same in every workspace: name, password, second factor, and where one is signed in.
// Each part saves by itself.

import { Button, Group, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { accountQuery } from '../../session/account.ts';
import { useSession } from '../../session/session.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { notify } from '../../ui/notices.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions, sessionsChanged } from './sessions.tsx';
import classes from './settings.module.css';
import { useSubmission } from './submission.ts';

export function AccountPage(): ReactNode {
  return (
    <div style={{ maxWidth: 720 }}>
      <PageHeader title="Account" description="Yours, in every workspace." />
      <Profile />
      <Password />
      <SecondFactor />
      <Sessions />
    </div>
  );
}

function Profile(): ReactNode {
  const { account } = useSession();
  const [name, setName] = useState(account.name);
  const { isBusy, error, submit } = useSubmission(async () => {
    const changed = await client.account.update({ name: name.trim() });
    queryClient.setQueryData(accountQuery.queryKey, changed);
    notify('Name saved');
  });
  const isChanged = name.trim() !== '' && name.trim() !== account.name;
  return (
    <section className={classes.card} aria-labelledby="you">
      <Title order={2} id="you">
        Profile
      </Title>
      <form onSubmit={submit}>
        <Stack gap="sm" mt="sm">
          <div className={classes.pair}>
            <TextInput
              label="Name"
              autoComplete="name"
              maxLength={200}
              value={name}
              onChange={(typed) => setName(typed.currentTarget.value)}
              required
            />
            <TextInput label="E-mail" value={account.email} readOnly />
          </div>
          {error !== null && <ErrorNotice error={error} />}
          <Button type="submit" loading={isBusy} disabled={!isChanged} w="fit-content">
            Save
          </Button>
        </Stack>
      </form>
    </section>
  );
}

function Password(): ReactNode {
  const { account } = useSession();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const { isBusy, error, submit } = useSubmission(async () => {
    await client.account.password({ current_password: current, new_password: next });
    setCurrent('');
    setNext('');
    notify('Password changed; every other session has ended');
    await sessionsChanged();
  });
  return (
    <section className={classes.card} aria-labelledby="password">
      <Title order={2} id="password">
        Password
      </Title>
      <Text c="dimmed" size="sm">
        Changing it signs you out everywhere else.
      </Text>
      <form onSubmit={submit}>
        <Stack gap="sm" mt="sm">
          {/* For programs that keep passwords: which account this is about. */}
          <input type="text" name="username" autoComplete="username" value={account.email} readOnly hidden />
          <div className={classes.pair}>
            <PasswordInput
              label="Current password"
              autoComplete="current-password"
              value={current}
              onChange={(typed) => setCurrent(typed.currentTarget.value)}
              required
            />
            <PasswordInput
              label="New password"
              autoComplete="new-password"
              placeholder="12 characters or more"
              minLength={12}
              maxLength={128}
              value={next}
              onChange={(typed) => setNext(typed.currentTarget.value)}
              required
            />
          </div>
          {error !== null && <ErrorNotice error={error} />}
          <Group>
            <Button type="submit" loading={isBusy} disabled={current === '' || next === ''}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </section>
  );
}
