// What may be done with a member: only what the own role allows, and nothing at all where that is nothing.
// Asks for the dialog; member-dialogs.tsx carries out.

import { ActionIcon, Menu } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Member } from '../../client/sdk.ts';
import { useSession } from '../../session/session.tsx';
import { Icon } from '../../ui/icon.tsx';
import type { MemberAction } from './member-dialogs.tsx';

export interface MemberMenuProps {
  readonly member: Member;
  readonly isOwn: boolean;
  readonly act: (action: MemberAction) => void;
}

export function MemberMenu({ member, isOwn, act }: MemberMenuProps): ReactNode {
  const { can } = useSession();
  const owns = can('workspace:own');
  const mayTouch = member.role === 'owner' ? owns : can('members:write');
  const items: readonly { readonly kind: MemberAction['kind']; readonly label: string; readonly shown: boolean }[] = [
    { kind: 'role', label: 'Change role', shown: mayTouch },
    { kind: 'owner', label: 'Make owner', shown: owns && member.role !== 'owner' },
    { kind: 'leave', label: 'Leave the workspace', shown: isOwn },
    { kind: 'remove', label: 'Remove', shown: mayTouch && !isOwn },
  ];
  const shown = items.filter((item) => item.shown);
  if (shown.length === 0) return null;
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${member.name}`}>
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {shown.map(({ kind, label }) => (
          <Menu.Item key={kind} onClick={() => act({ kind, member })}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
