// The person's own menu: light or dark, the keys, the reference, and signing out.
// Their profile is a page of the settings.

import { ActionIcon, Menu, useMantineColorScheme } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useSession } from '../session/session.tsx';
import { signOut } from '../session/sign-out.ts';
import { Icon, type IconName } from '../ui/icon.tsx';

const schemes: readonly { readonly scheme: 'light' | 'dark' | 'auto'; readonly label: string; readonly icon: IconName }[] = [
  { scheme: 'light', label: 'Light', icon: 'sun' },
  { scheme: 'dark', label: 'Dark', icon: 'moon' },
  { scheme: 'auto', label: 'As the system', icon: 'auto' },
];

export function AccountMenu({ onShowKeys }: { readonly onShowKeys: () => void }): ReactNode {
  const { account } = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const router = useRouter();
  const leave = async (): Promise<void> => {
    await signOut();
    await router.navigate({ to: '/sign-in' });
  };
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Your account">
          <Icon name="account" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{account.email}</Menu.Label>
        <Menu.Item leftSection={<Icon name="account" size={16} />} onClick={() => router.history.push('/settings/account')}>
          Account
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="keyboard" size={16} />} onClick={onShowKeys} rightSection="?">
          Keys
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="book" size={16} />} component="a" href="/docs/">
          API reference
        </Menu.Item>
        <Menu.Divider />
        {schemes.map(({ scheme, label, icon }) => (
          <Menu.Item
            key={scheme}
            leftSection={<Icon name={icon} size={16} />}
            rightSection={scheme === colorScheme ? <Icon name="check" size={16} /> : null}
            onClick={() => setColorScheme(scheme)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<Icon name="signOut" size={16} />} onClick={() => void leave()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
