// Names and values of the person's own, row by row.
// Keeps nothing; the form it stands in holds the rows.

import { ActionIcon, Button, Fieldset, Group, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from '../../ui/icon.tsx';
import type { MetadataRow } from './milestone-fields.ts';

const MAX_ROWS = 50;

export interface MetadataFieldsProps {
  readonly rows: readonly MetadataRow[];
  readonly onChange: (rows: MetadataRow[]) => void;
  /** What is wrong with the name of a row. */
  readonly errorOf: (row: number) => ReactNode;
}

export function MetadataFields({ rows, onChange, errorOf }: MetadataFieldsProps): ReactNode {
  const set = (at: number, changed: Partial<MetadataRow>): void =>
    onChange(rows.map((row, index) => (index === at ? { ...row, ...changed } : row)));
  return (
    <Fieldset legend="Metadata" variant="unstyled">
      {rows.map(({ key, value }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place; its name is being typed.
        <Group key={at} gap={6} wrap="nowrap" align="flex-start" mb={6}>
          <TextInput
            aria-label={`Name ${at + 1}`}
            placeholder="Name"
            value={key}
            maxLength={40}
            error={errorOf(at)}
            onChange={(change) => set(at, { key: change.currentTarget.value })}
            flex="1 1 40%"
          />
          <TextInput
            aria-label={`Value ${at + 1}`}
            placeholder="Value"
            value={value}
            maxLength={500}
            onChange={(change) => set(at, { value: change.currentTarget.value })}
            flex="1 1 60%"
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size={36}
            aria-label={`Remove ${key === '' ? `row ${at + 1}` : key}`}
            onClick={() => onChange(rows.filter((_, index) => index !== at))}
          >
            <Icon name="close" size={16} />
          </ActionIcon>
        </Group>
      ))}
      {rows.length < MAX_ROWS && (
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() => onChange([...rows, { key: '', value: '' }])}
        >
          Add metadata
        </Button>
      )}
    </Fieldset>
  );
}
