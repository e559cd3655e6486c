// Changing a role, making an owner, removing a member and leaving: each is asked first, with what follows from it.
// One is open at a time; which, the page holds.

import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import { keys, queryClient } from '../../client/queries.ts';
import type { GivenRole, Member } from '../../client/sdk.ts';
import { accountQuery, enterWorkspace } from '../../session/account.ts';
import { useSession } from '../../session/session.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { notify } from '../../ui/notices.tsx';
import { RoleChoice } from './role-choice.tsx';
import { labelOfRole } from './roles.ts';

export interface MemberAction {
  readonly kind: 'role' | 'owner' | 'remove' | 'leave';
  readonly member: Member;
}

export interface MemberDialogsProps {
  readonly action: MemberAction | null;
  readonly onClose: () => void;
}

/** What the own role may do has perhaps changed as well, and the menu with it. */
async function membersChanged(text: string): Promise<void> {
  notify(text);
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: keys.all('members') }),
    queryClient.invalidateQueries({ queryKey: keys.all('audit_entries') }),
    queryClient.invalidateQueries({ queryKey: accountQuery.queryKey }),
  ]);
}

export function MemberDialogs({ action, onClose }: MemberDialogsProps): ReactNode {
  if (action === null) return null;
  const { kind, member } = action;
  if (kind === 'role') return <RoleDialog member={member} onClose={onClose} />;
  if (kind === 'leave') return <LeaveDialog memberId={member.id} onClose={onClose} />;
  if (kind === 'owner') {
    return (
      <ConfirmDialog
        opened
        onClose={onClose}
        title={`Make ${member.name} an owner?`}
        effect="An owner can do everything you can: also remove other owners, you included, and close the workspace."
        confirm="Make owner"
        onConfirm={async () => {
          await client.members.makeOwner(member.id);
          await membersChanged(`${member.name} is an owner`);
        }}
      />
    );
  }
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      danger
      title={`Remove ${member.name}?`}
      effect={`${member.email} can no longer read or change anything in this workspace. What they did stays, and so do the API keys they made. They can be invited again.`}
      confirm="Remove"
      onConfirm={async () => {
        await client.members.remove(member.id);
        await membersChanged(`${member.name} was removed`);
      }}
    />
  );
}

function RoleDialog({ member, onClose }: { readonly member: Member; readonly onClose: () => void }): ReactNode {
  const [role, setRole] = useState<GivenRole | null>(member.role === 'owner' ? null : member.role);
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={`What may ${member.name} do?`}
      effect={
        member.role === 'owner'
          ? 'An owner who is given another role stops being one.'
          : `Now: ${labelOfRole(member.role)}. It counts at once.`
      }
      confirm="Change role"
      ready={role !== null && role !== member.role}
      onConfirm={async () => {
        if (role === null) return;
        await client.members.update(member.id, { role });
        await membersChanged(`${member.name}: ${labelOfRole(role)}`);
      }}
    >
      <RoleChoice value={role} onChange={setRole} />
    </ConfirmDialog>
  );
}

/** Leaving the workspace of this tab; the next one of the person's takes its place. */
export function LeaveDialog({ memberId, onClose }: { readonly memberId: string; readonly onClose: () => void }): ReactNode {
  const { workspace } = useSession();
  const router = useRouter();
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      danger
      title={`Leave ${workspace.name}?`}
      effect="You can no longer read or change anything in it, until somebody invites you again. The last owner cannot leave."
      confirm="Leave the workspace"
      onConfirm={async () => {
        await client.members.remove(memberId);
        await router.navigate({ to: '/' });
        await enterWorkspace();
        notify(`You left ${workspace.name}`);
      }}
    />
  );
}
