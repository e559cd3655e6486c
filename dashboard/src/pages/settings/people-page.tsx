// Who works in this workspace, as what, and who is invited.
// Offers only what the own role may do; the dialogs that change something are beside it.

import { Button } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useShortcut } from '../../app/shortcuts.ts';
import { useWords } from '../../app/words.ts';
import { client } from '../../client/client.ts';
import { useList } from '../../client/queries.ts';
import type { Member } from '../../client/sdk.ts';
import { useSession } from '../../session/session.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Icon } from '../../ui/icon.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { Invitations } from './invitations.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { type MemberAction, MemberDialogs } from './member-dialogs.tsx';
import { MemberMenu } from './member-menu.tsx';
import { labelOfRole } from './roles.ts';
import { RolesExplained } from './roles-explained.tsx';
import classes from './settings.module.css';

export function PeoplePage(): ReactNode {
  const { workspace, can } = useSession();
  const { words, set } = useWords();
  const mayInvite = can('members:write');
  const invite = (): void => set({ invite: '1' }, 'push');
  useShortcut('n', 'Invite somebody', () => mayInvite && invite());
  const [action, setAction] = useState<MemberAction | null>(null);
  const query = useList({ resource: 'members', filters: { workspace: workspace.id }, load: (cursor) => client.members.list(cursor) });
  return (
    <>
      <PageHeader title="People" description={`Who works in ${workspace.name}, and what each may do.`}>
        {mayInvite && (
          <Button onClick={invite} leftSection={<Icon name="plus" size={16} />}>
            Invite
          </Button>
        )}
      </PageHeader>
      <DataTable
        label="Members"
        query={query}
        columns={columnsFor(workspace.member_id, setAction)}
        idOf={({ id }) => id}
        empty={<EmptyState title="Nobody is a member">Only keys call in this workspace.</EmptyState>}
      />
      {can('members:read') && <Invitations />}
      <RolesExplained />
      <MemberDialogs action={action} onClose={() => setAction(null)} />
      {mayInvite && <InviteDialog opened={words.invite !== undefined} onClose={() => set({ invite: undefined })} />}
    </>
  );
}

function columnsFor(own: string, act: (action: MemberAction) => void): readonly Column<Member>[] {
  return [
    { header: 'Name', cell: (member) => <Person member={member} isOwn={member.id === own} /> },
    { header: 'Role', cell: ({ role }) => labelOfRole(role), width: 104 },
    {
      header: 'Second factor',
      cell: ({ totp_enabled: on }) => <StatusBadge status={on ? 'enabled' : 'off'} label={on ? 'On' : 'Off'} />,
      width: 130,
      wideOnly: true,
    },
    { header: 'Member since', cell: ({ created_at }) => <Time at={created_at} as="date" />, width: 130, align: 'right', wideOnly: true },
    { header: 'Actions', cell: (member) => <MemberMenu member={member} isOwn={member.id === own} act={act} />, width: 76, align: 'right' },
  ];
}

function Person({ member: { name, email }, isOwn }: { readonly member: Member; readonly isOwn: boolean }): ReactNode {
  return (
    <div className={classes.person}>
      <span>
        {name}
        {isOwn && <span className={classes.faint}> (you)</span>}
      </span>
      <span className={classes.faint}>{email}</span>
    </div>
  );
}
