// One record beside the list it was opened from; which one stands in the address, so that it can be linked and the way back closes it.
// Loads nothing; what it shows is handed in.

import { Drawer, type DrawerProps } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './detail-drawer.module.css';

export interface DetailDrawerProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly title: ReactNode;
  readonly children: ReactNode;
  readonly size?: DrawerProps['size'];
}

export function DetailDrawer({ opened, onClose, title, children, size = 520 }: DetailDrawerProps): ReactNode {
  return (
    <Drawer opened={opened} onClose={onClose} title={title} position="right" size={size} closeButtonProps={{ 'aria-label': 'Close' }}>
      {children}
    </Drawer>
  );
}

export interface Detail {
  readonly label: string;
  readonly value: ReactNode;
}

/** Names and values under each other. */
export function Details({ items }: { readonly items: readonly Detail[] }): ReactNode {
  return (
    <dl className={classes.details}>
      {items.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value ?? '–'}</dd>
        </div>
      ))}
    </dl>
  );
}
