// Where an address leads nowhere.
// Says so, and the way back.

import { Anchor, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

export function NotFoundPage(): ReactNode {
  return (
    <Stack p="xl" gap="sm" maw={560}>
      <Title order={1}>There is no such page</Title>
      <Text c="dimmed">The address may have been mistyped, or what it named is in another workspace.</Text>
      <Anchor component={Link} to="/">
        Go to the start
      </Anchor>
    </Stack>
  );
}
