// The second factor: turning it on in steps (password, code to scan, first right code, backup codes), and off with the password.
// The secret is drawn here and sent nowhere; it is forgotten when the dialog closes.

import { Button, Group, Modal, PasswordInput, Text, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import { queryClient } from '../../client/queries.ts';
import { accountQuery } from '../../session/account.ts';
import { useSession } from '../../session/session.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { notify } from '../../ui/notices.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import classes from './settings.module.css';
import { TotpSetupSteps } from './totp-setup-steps.tsx';

export function SecondFactor(): ReactNode {
  const { account } = useSession();
  const [asked, setAsked] = useState<'on' | 'off' | null>(null);
  const isOn = account.totp_enabled;
  const close = (): void => setAsked(null);
  return (
    <section className={classes.card} aria-labelledby="second-factor">
      <Group justify="space-between" gap="sm">
        <Title order={2} id="second-factor">
          Second factor
        </Title>
        <StatusBadge status={isOn ? 'enabled' : 'off'} label={isOn ? 'On' : 'Off'} />
      </Group>
      <Text c="dimmed" size="sm">
        {isOn
          ? 'Signing in asks for a code of your authenticator, or one of your backup codes.'
          : 'An authenticator on your phone gives a code that signing in then asks for. A password alone is no longer enough.'}
      </Text>
      <Button mt="sm" variant={isOn ? 'default' : 'filled'} onClick={() => setAsked(isOn ? 'off' : 'on')}>
        {isOn ? 'Turn off' : 'Turn on'}
      </Button>
      <Modal
        opened={asked === 'on'}
        onClose={close}
        title="Turn the second factor on"
        closeButtonProps={{ 'aria-label': 'Close' }}
        closeOnClickOutside={false}
      >
        <TotpSetupSteps onDone={close} />
      </Modal>
      {asked === 'off' && <TurnOff onClose={close} />}
    </section>
  );
}

function TurnOff({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [password, setPassword] = useState('');
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      danger
      title="Turn the second factor off?"
      effect="Your password alone is then enough to sign in. The backup codes are worth nothing any more."
      confirm="Turn off"
      ready={password !== ''}
      onConfirm={async () => {
        await client.account.totpDisable({ password });
        await queryClient.invalidateQueries({ queryKey: accountQuery.queryKey });
        notify('The second factor is off');
      }}
    >
      <PasswordInput
        label="Password"
        autoComplete="current-password"
        value={password}
        onChange={(typed) => setPassword(typed.currentTarget.value)}
        required
        data-autofocus
      />
    </ConfirmDialog>
  );
}
