// Invitations that can still be accepted, and those that ended without anybody accepting.
// Accepted and revoked ones are history: the audit log has them.

import { Button, Group, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import { itemsOf, keys, queryClient, useList } from '../../client/queries.ts';
import type { Invitation } from '../../client/sdk.ts';
import { useSession } from '../../session/session.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { notify } from '../../ui/notices.tsx';
import { Rows } from '../../ui/skeletons.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { labelOfRole } from './roles.ts';
import classes from './settings.module.css';

export function Invitations(): ReactNode {
  const { workspace, can } = useSession();
  const [revoking, setRevoking] = useState<Invitation | null>(null);
  const query = useList({
    resource: 'invitations',
    filters: { workspace: workspace.id },
    load: (cursor) => client.invitations.list(cursor),
  });
  const open = itemsOf(query).filter(({ status }) => status === 'pending' || status === 'expired');
  return (
    <section className={classes.section} aria-labelledby="invitations">
      <Title order={2} id="invitations" mb="xs">
        Invitations
      </Title>
      {query.isPending && <Rows count={2} />}
      {query.isError && <ErrorNotice error={query.error} retry={() => void query.refetch()} />}
      {query.data !== undefined && open.length === 0 && !query.hasNextPage && (
        <p className={classes.faint}>Nobody is invited at the moment.</p>
      )}
      <ul className={classes.list}>
        {open.map((invitation) => (
          <li key={invitation.id}>
            <Row invitation={invitation} revoke={can('members:write') ? setRevoking : null} />
          </li>
        ))}
      </ul>
      {query.hasNextPage && (
        <Button variant="default" size="compact-sm" mt="xs" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Older invitations
        </Button>
      )}
      <RevokeDialog invitation={revoking} onClose={() => setRevoking(null)} />
    </section>
  );
}

interface RowProps {
  readonly invitation: Invitation;
  readonly revoke: ((invitation: Invitation) => void) | null;
}

function Row({ invitation, revoke }: RowProps): ReactNode {
  const { email, role, status, invited_by, expires_at } = invitation;
  return (
    <Group justify="space-between" gap="sm" wrap="nowrap" py={10}>
      <div className={classes.invited}>
        <span>
          {email} <span className={classes.faint}>as {labelOfRole(role).toLowerCase()}</span>
        </span>
        <span className={classes.faint}>
          {invited_by === null ? 'Invited with a key' : `Invited by ${invited_by}`} · {status === 'expired' ? 'ended' : 'ends'}{' '}
          <Time at={expires_at} as="relative" />
        </span>
      </div>
      <Group gap="sm" wrap="nowrap">
        {status !== 'pending' && <StatusBadge status={status} />}
        {revoke !== null && status === 'pending' && (
          <Button variant="default" size="compact-sm" onClick={() => revoke(invitation)} aria-label={`Revoke the invitation of ${email}`}>
            Revoke
          </Button>
        )}
      </Group>
    </Group>
  );
}

function RevokeDialog({ invitation, onClose }: { readonly invitation: Invitation | null; readonly onClose: () => void }): ReactNode {
  return (
    <ConfirmDialog
      opened={invitation !== null}
      onClose={onClose}
      title="Revoke this invitation?"
      effect={`The link that ${invitation?.email ?? ''} was given is worth nothing from then on. They can be invited again.`}
      confirm="Revoke"
      danger
      onConfirm={async () => {
        if (invitation === null) return;
        await client.invitations.revoke(invitation.id);
        notify('Invitation revoked');
        await queryClient.invalidateQueries({ queryKey: keys.all('invitations') });
      }}
    />
  );
}
