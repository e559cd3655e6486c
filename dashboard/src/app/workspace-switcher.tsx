// Which workspace this tab is in, and the way to another of the person's.
// Changes the choice and reads everything anew; making a workspace is a page of the settings.

import { Button, Menu } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { enterWorkspace } from '../session/account.ts';
import { useSession } from '../session/session.tsx';
import { Icon } from '../ui/icon.tsx';
import { wordsOf } from '../ui/status-badge.tsx';
import classes from './workspace-switcher.module.css';

export function WorkspaceSwitcher(): ReactNode {
  const { account, workspace } = useSession();
  const router = useRouter();
  async function change(id: string): Promise<void> {
    // The page of one workspace means nothing in another.
    await router.navigate({ to: '/' });
    await enterWorkspace(id);
  }
  return (
    <Menu position="bottom-start" width={260} withinPortal>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          px={8}
          rightSection={<Icon name="down" size={14} />}
          className={classes.button}
          aria-label={`Workspace: ${workspace.name}`}
        >
          <span className={classes.mark} data-initial={workspace.name.charAt(0).toUpperCase()} aria-hidden="true" />
          <span className={classes.name}>{workspace.name}</span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Workspaces</Menu.Label>
        {account.workspaces.map(({ id, name, role }) => (
          <Menu.Item key={id} onClick={() => void change(id)} rightSection={id === workspace.id ? <Icon name="check" size={16} /> : null}>
            {name}
            <span className={classes.role}>{wordsOf(role)}</span>
          </Menu.Item>
        ))}
        {account.may_create_workspaces ? (
          <>
            <Menu.Divider />
            <Menu.Item leftSection={<Icon name="plus" size={16} />} onClick={() => router.history.push('/settings/workspace?new=1')}>
              New workspace
            </Menu.Item>
          </>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  );
}
