// Choosing the scopes of a key: sets for the usual purposes, and each by itself.
// Offers only what the person may do: a key can never do more than who makes it.

import { Button, Checkbox, Fieldset, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Scope } from '../../client/sdk.ts';
import { useSession } from '../../session/session.tsx';
import { allScopes, presets, scopeGroups } from './scopes.ts';

export interface ScopePickerProps {
  readonly value: readonly Scope[];
  readonly onChange: (scopes: readonly Scope[]) => void;
}

export function ScopePicker({ value, onChange }: ScopePickerProps): ReactNode {
  const { can } = useSession();
  const offered = allScopes.filter((scope) => can(scope));
  const sets = [
    ...presets.map(({ label, scopes }) => ({ label, scopes: scopes.filter((scope) => can(scope)) })),
    { label: 'All I may do', scopes: offered },
  ];
  const isChosen = (scopes: readonly Scope[]): boolean => scopes.length === value.length && scopes.every((scope) => value.includes(scope));
  const groups = scopeGroups
    .map(({ label, scopes }) => ({ label, scopes: scopes.filter(({ scope }) => can(scope)) }))
    .filter(({ scopes }) => scopes.length > 0);
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        What it may do{' '}
        <Text span size="xs" c="dimmed">
          {value.length} of {offered.length}
        </Text>
      </Text>
      <Group gap={6} role="group" aria-label="Sets of scopes">
        {sets.map(({ label, scopes }) => (
          <Button
            key={label}
            size="compact-sm"
            variant={isChosen(scopes) ? 'light' : 'default'}
            aria-pressed={isChosen(scopes)}
            onClick={() => onChange(scopes)}
          >
            {label}
          </Button>
        ))}
      </Group>
      <Checkbox.Group value={[...value]} onChange={(chosen) => onChange(chosen as Scope[])} aria-label="Scopes">
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing="xs">
          {groups.map(({ label, scopes }) => (
            <Fieldset key={label} legend={label} p="xs" pt={4}>
              <Stack gap={6}>
                {scopes.map(({ scope, label: meaning }) => (
                  <Checkbox key={scope} size="xs" value={scope} label={meaning} title={scope} />
                ))}
              </Stack>
            </Fieldset>
          ))}
        </SimpleGrid>
      </Checkbox.Group>
    </Stack>
  );
}
