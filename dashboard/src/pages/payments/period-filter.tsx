// Two days as a filter, with words that say which is which: an empty field of a date tells nothing of itself.
// What the days mean in moments is in period.ts.

import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { DayFilter } from '../../ui/filters.tsx';

/** `noun` is what happened in it: "Created". */
export function PeriodFilter({ noun }: { readonly noun: string }): ReactNode {
  return (
    <Group gap={6}>
      <Text size="sm" c="dimmed" aria-hidden="true">
        {noun}
      </Text>
      <DayFilter word="created_after" label={`${noun} from`} />
      <Group gap={6} wrap="nowrap">
        <Text size="sm" c="dimmed" aria-hidden="true">
          to
        </Text>
        <DayFilter word="created_before" label={`${noun} until`} />
      </Group>
    </Group>
  );
}
