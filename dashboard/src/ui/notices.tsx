// Short words at the edge of the page that something was done: "Project created". They go by themselves.
// Not for errors that ask for an answer: those stand where they happened, as an ErrorNotice.

import { CloseButton, Group, Paper, Text } from '@mantine/core';
import { type ReactNode, useSyncExternalStore } from 'react';
import classes from './notices.module.css';

interface Notice {
  readonly id: number;
  readonly text: string;
}

const SHOWN_MS = 5_000;
const MAX_NOTICES = 3;

let notices: readonly Notice[] = [];
let count = 0;
const listeners = new Set<() => void>();

function set(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

const dismiss = (id: number): void => set(notices.filter((one) => one.id !== id));

/** Says that something was done. */
export function notify(text: string): void {
  const id = ++count;
  set([...notices, { id, text }].slice(-MAX_NOTICES));
  setTimeout(() => dismiss(id), SHOWN_MS);
}

export function Notices(): ReactNode {
  const shown = useSyncExternalStore(
    (changed) => {
      listeners.add(changed);
      return () => void listeners.delete(changed);
    },
    () => notices,
  );
  return (
    <div className={classes.stack} role="status" aria-live="polite">
      {shown.map(({ id, text }) => (
        <Paper key={id} withBorder shadow="md" p="xs" pl="md">
          <Group gap="xs" wrap="nowrap" justify="space-between">
            <Text size="sm">{text}</Text>
            <CloseButton size="sm" aria-label="Dismiss" onClick={() => dismiss(id)} />
          </Group>
        </Paper>
      ))}
    </div>
  );
}
