// Inviting somebody: an address and a role; then, where no mail is sent, the link to pass on, which is shown this once.
// Keeps the link no longer than it is open.

import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import { keys, queryClient } from '../../client/queries.ts';
import type { GivenRole, InvitationWithLink } from '../../client/sdk.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Day } from '../../ui/time.tsx';
import { RoleChoice } from './role-choice.tsx';
import { labelOfRole } from './roles.ts';
import classes from './settings.module.css';

export function InviteDialog({ opened, onClose }: { readonly opened: boolean; readonly onClose: () => void }): ReactNode {
  const [made, setMade] = useState<InvitationWithLink | null>(null);
  const close = (): void => {
    onClose();
    setMade(null);
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={made === null ? 'Invite somebody' : 'Invited'}
      closeButtonProps={{ 'aria-label': 'Close' }}
      // A click beside it must not lose a link that is shown once.
      closeOnClickOutside={made?.link == null}
    >
      {made === null ? <InviteForm onMade={setMade} onClose={close} /> : <Invited invitation={made} onClose={close} />}
    </Modal>
  );
}

function InviteForm({ onMade, onClose }: { readonly onMade: (made: InvitationWithLink) => void; readonly onClose: () => void }): ReactNode {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<GivenRole | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  async function invite(): Promise<void> {
    if (role === null) return;
    setBusy(true);
    setError(null);
    try {
      const made = await client.invitations.create({ email: email.trim(), role });
      void queryClient.invalidateQueries({ queryKey: keys.all('invitations') });
      onMade(made);
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
        void invite();
      }}
    >
      <Stack gap="md">
        <TextInput
          label="E-mail"
          type="email"
          autoComplete="off"
          value={email}
          onChange={(change) => setEmail(change.currentTarget.value)}
          required
          data-autofocus
        />
        <RoleChoice value={role} onChange={setRole} />
        {error !== null && <ErrorNotice error={error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy} disabled={role === null}>
            Invite
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Invited({ invitation, onClose }: { readonly invitation: InvitationWithLink; readonly onClose: () => void }): ReactNode {
  const { email, role, mailed, link, expires_at } = invitation;
  return (
    <Stack gap="md">
      <Text size="sm">
        {email} can join as {labelOfRole(role).toLowerCase()} until <Day day={expires_at.slice(0, 10)} />.{' '}
        {mailed ? 'The link is on its way by e-mail.' : 'This server sends no e-mail: pass the link on yourself. It is shown this once.'}
      </Text>
      {link !== null && (
        <>
          <TextInput label="Link" readOnly value={link} onFocus={(focus) => focus.currentTarget.select()} className={classes.link} />
          <Text size="xs" c="dimmed">
            Whoever has it and signs up with {email} can use it, once.
          </Text>
        </>
      )}
      <Group justify="flex-end" gap="xs">
        {link !== null && <CopyButton text={link} label="Copy the link" wide />}
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
