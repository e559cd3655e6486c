// Where there is nothing yet: what would stand here, what to do next, and the same as a line of curl.
// Sends nothing.

import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';
import { type CurlRequest, curlOf } from './curl.ts';

export interface EmptyStateProps {
  readonly title: string;
  readonly children: ReactNode;
  /** A button or link that does it. */
  readonly action?: ReactNode;
  readonly curl?: CurlRequest;
}

export function EmptyState({ title, children, action, curl }: EmptyStateProps): ReactNode {
  return (
    <Stack align="center" gap="sm" py={48} px="md" ta="center">
      <Title order={2}>{title}</Title>
      <Text c="dimmed" maw={460}>
        {children}
      </Text>
      {action}
      {curl !== undefined && <Curl request={curl} />}
    </Stack>
  );
}

export function Curl({ request }: { readonly request: CurlRequest }): ReactNode {
  const line = curlOf(request, location.origin);
  return (
    <Paper bg="var(--surface)" withBorder p="xs" maw="100%" ta="left" mt="xs">
      <Group gap="xs" wrap="nowrap" align="flex-start">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than the page is scrolled with the keys. */}
        <pre className="mono" style={{ margin: 0, overflowX: 'auto' }} tabIndex={0}>
          {line}
        </pre>
        <CopyButton text={line} label="Copy the command" />
      </Group>
    </Paper>
  );
}
