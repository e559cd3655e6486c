// The list of keys that `?` shows.
// Lists what is registered; app/shortcuts.ts hears the keys.

import { Kbd, Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { useShortcuts } from './shortcuts.ts';

const isApple = /mac|iphone|ipad/i.test(navigator.platform);

export function KeyNames({ keys }: { readonly keys: string }): ReactNode {
  const names = keys.replace('mod+', isApple ? '⌘ ' : 'Ctrl ').split(' ');
  return names.map((name) => (
    <Kbd key={name} size="xs" mr={4}>
      {name.length === 1 ? name.toUpperCase() : name}
    </Kbd>
  ));
}

export function ShortcutList({ opened, onClose }: { readonly opened: boolean; readonly onClose: () => void }): ReactNode {
  const shortcuts = useShortcuts();
  return (
    <Modal opened={opened} onClose={onClose} title="Keys" closeButtonProps={{ 'aria-label': 'Close' }}>
      <table style={{ width: '100%' }}>
        <tbody>
          {shortcuts.map(({ keys, label }) => (
            <tr key={keys}>
              <td style={{ padding: '4px 0' }}>{label}</td>
              <td style={{ textAlign: 'right' }}>
                <KeyNames keys={keys} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Modal>
  );
}
