// What stands in for a page and a table until their data are there.
// Has no words: a screen reader is told that it loads.

import { Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';

export function PageSkeleton(): ReactNode {
  return (
    <Stack gap="md" aria-busy="true" role="status" aria-label="Loading">
      <Skeleton height={26} width={180} />
      <Rows count={8} />
    </Stack>
  );
}

export function Rows({ count }: { readonly count: number }): ReactNode {
  return (
    <Stack gap={10}>
      {Array.from({ length: count }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike.
        <Skeleton key={row} height={28} />
      ))}
    </Stack>
  );
}
