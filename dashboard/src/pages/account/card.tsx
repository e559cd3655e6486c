// The frame of pages for people who are not signed in: the name, a title, and one form.
// Holds no form itself.

import { Paper, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

export function Card({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  useEffect(() => {
    document.title = `${title} · Tranche`;
  }, [title]);
  return (
    <Stack component="main" align="center" justify="center" mih="100vh" p="md" bg="var(--surface)">
      <Text fw={700} size="lg" c="var(--accent-strong)">
        Tranche
      </Text>
      <Paper withBorder p="xl" w="100%" maw={400}>
        <Stack gap="md">
          <Title order={1}>{title}</Title>
          {children}
        </Stack>
      </Paper>
    </Stack>
  );
}
