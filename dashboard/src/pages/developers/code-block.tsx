// A text in the letters of code, which can be copied: payloads, bodies, commands.
// Shows text as text: whatever a receiver answered, none of it becomes part of the page.

import { Group, Paper, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { CopyButton } from '../../ui/copy-button.tsx';
import classes from './code-block.module.css';

export interface CodeBlockProps {
  /** What it is: "Body". Also what the copy button says. */
  readonly label: string;
  readonly text: string;
  /** What is copied where it is not what is shown, such as the exact bytes beside the indented ones. */
  readonly copy?: string;
  /** Beside the label. */
  readonly note?: ReactNode;
}

export function CodeBlock({ label, text, copy = text, note }: CodeBlockProps): ReactNode {
  return (
    <Stack gap={4}>
      <Group gap="xs" justify="space-between" wrap="nowrap">
        <Text size="sm" fw={500}>
          {label}
          {note !== undefined && (
            <Text span size="xs" c="dimmed" ml={8}>
              {note}
            </Text>
          )}
        </Text>
        <CopyButton text={copy} label={`Copy ${label.charAt(0).toLowerCase()}${label.slice(1)}`} />
      </Group>
      <Paper bg="var(--surface)" withBorder p="xs">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is larger than its frame is scrolled with the keys. */}
        <pre className={`mono ${classes.text}`} tabIndex={0} data-block={label}>
          {text === '' ? '(empty)' : text}
        </pre>
      </Paper>
    </Stack>
  );
}

/** Indented where it is JSON, else as it is. */
export function prettyText(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** `name: value` by line. */
export const headerText = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
