// Where the API is written down: the reference that the server itself serves, and the document for programs.
// These are pages of the server, not of the dashboard, and open beside it.

import { Anchor, Group } from '@mantine/core';
import type { ReactNode } from 'react';

export function ApiLinks(): ReactNode {
  return (
    <Group gap="sm">
      <Anchor href="/docs" target="_blank" rel="noopener" size="sm" underline="always">
        API reference
      </Anchor>
      <Anchor href="/openapi.json" target="_blank" rel="noopener" size="sm" underline="always">
        openapi.json
      </Anchor>
    </Group>
  );
}
