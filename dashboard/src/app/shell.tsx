// The frame of every page: menu, head, and the keys that work everywhere.
// Knows no page by name; the menu is what the areas bring along.

import { ActionIcon, AppShell, Burger, Button, Group, Kbd, Text, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useRouter, useRouterState } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { useLiveState } from '../client/live-events.ts';
import { SessionProvider, useSession } from '../session/session.tsx';
import { Icon } from '../ui/icon.tsx';
import { AccountMenu } from './account-menu.tsx';
import { useAreas } from './areas-context.ts';
import { Menu } from './menu.tsx';
import classes from './shell.module.css';
import { ShortcutList } from './shortcut-list.tsx';
import { addShortcuts, listenForKeys } from './shortcuts.ts';
import { WorkspaceSwitcher } from './workspace-switcher.tsx';

const CommandPalette = lazy(async () => ({ default: (await import('./command-palette.tsx')).CommandPalette }));

export function Shell(): ReactNode {
  return (
    <SessionProvider>
      <Frame />
    </SessionProvider>
  );
}

function Frame(): ReactNode {
  const { workspace } = useSession();
  const [isMenuOpen, menu] = useDisclosure(false);
  const [isPaletteOpen, palette] = useDisclosure(false);
  const [areKeysShown, keyList] = useDisclosure(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: on a phone the menu covers the page; it goes whenever the page changes.
  useEffect(menu.close, [path]);
  useShellKeys(palette.open, keyList.open);
  return (
    <AppShell header={{ height: 52 }} navbar={{ width: 216, breakpoint: 'sm', collapsed: { mobile: !isMenuOpen } }} padding={0}>
      <a href="#content" className={classes.skip}>
        Skip to the content
      </a>
      <AppShell.Header className={classes.header}>
        <Group h="100%" px="sm" gap="xs" wrap="nowrap">
          <Burger
            opened={isMenuOpen}
            onClick={menu.toggle}
            hiddenFrom="sm"
            size="sm"
            aria-label={isMenuOpen ? 'Close the menu' : 'Open the menu'}
          />
          <WorkspaceSwitcher />
          <Group gap="xs" ml="auto" wrap="nowrap">
            <LiveMark />
            <Button
              variant="default"
              visibleFrom="sm"
              onClick={palette.open}
              leftSection={<Icon name="search" size={16} />}
              rightSection={<Kbd size="xs">/</Kbd>}
              className={classes.search}
            >
              Search
            </Button>
            <ActionIcon variant="subtle" color="gray" size="lg" hiddenFrom="sm" aria-label="Search" onClick={palette.open}>
              <Icon name="search" />
            </ActionIcon>
            <AccountMenu onShowKeys={keyList.open} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={classes.navbar} aria-label="Main">
        <Menu />
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} className={classes.main}>
        <div className={classes.content}>
          {workspace.closed_at !== null && (
            <Text size="sm" mb="md" p="xs" bg="var(--surface)" role="status">
              {workspace.name} is closed: it can be read, and nothing in it changes any more.
            </Text>
          )}
          <Outlet />
        </div>
      </AppShell.Main>
      <ShortcutList opened={areKeysShown} onClose={keyList.close} />
      {isPaletteOpen && (
        <Suspense>
          <CommandPalette onClose={palette.close} />
        </Suspense>
      )}
    </AppShell>
  );
}

/** `/`, `?`, the palette, and `g` with the key of each page that the person may see. */
function useShellKeys(openPalette: () => void, showKeys: () => void): void {
  const areas = useAreas();
  const { can } = useSession();
  const router = useRouter();
  useEffect(() => listenForKeys(document), []);
  useEffect(() => {
    function search(): void {
      const field = document.querySelector<HTMLInputElement>('[data-page-search]');
      if (field === null) openPalette();
      else field.focus();
    }
    const pages = areas.flatMap(({ nav }) => nav).filter(({ key, scope }) => key !== undefined && (scope === undefined || can(scope)));
    return addShortcuts([
      { keys: '/', label: 'Search this page', run: search },
      { keys: 'mod+k', label: 'Search everything, run a command', run: openPalette },
      { keys: '?', label: 'Show this list', run: showKeys },
      ...pages.map(({ key, label, to }) => ({ keys: `g ${key}`, label: `Go to ${label}`, run: () => router.history.push(to) })),
    ]);
  }, [areas, can, router, openPalette, showKeys]);
}

/** After this long without news of the stream it is worth saying. */
const PATIENCE_MS = 2_000;

function LiveMark(): ReactNode {
  const state = useLiveState();
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    setShown(false);
    if (state !== 'lost') return;
    const timer = setTimeout(() => setShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [state]);
  if (!isShown) return null;
  return (
    <Tooltip label="New events do not arrive; what is shown may be old. Connecting again.">
      <span className={classes.lost} role="status">
        Offline
      </span>
    </Tooltip>
  );
}
