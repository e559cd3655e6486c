// The head of a page: its title, which is also that of the window, what it says of itself, and its actions.
// Holds no state.

import { Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

export interface PageHeaderProps {
  readonly title: string;
  readonly description?: ReactNode;
  /** Buttons at the right. */
  readonly children?: ReactNode;
}

export function PageHeader({ title, description, children }: PageHeaderProps): ReactNode {
  useEffect(() => {
    document.title = `${title} · Tranche`;
  }, [title]);
  return (
    <Group justify="space-between" align="flex-start" mb="md" gap="sm">
      <Stack gap={2} miw={0}>
        <Title order={1}>{title}</Title>
        {description !== undefined && (
          <Text c="dimmed" size="sm" component="div">
            {description}
          </Text>
        )}
      </Stack>
      {children !== undefined && <Group gap="xs">{children}</Group>}
    </Group>
  );
}
