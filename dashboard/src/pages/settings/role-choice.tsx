// Choosing a role, with what it may do beside each.
// Offers the roles that can be given; owners are made on their own.

import { Radio, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { GivenRole } from '../../client/sdk.ts';
import { givenRoles, labelOfRole, mayOfRole } from './roles.ts';

export interface RoleChoiceProps {
  readonly value: GivenRole | null;
  readonly onChange: (role: GivenRole) => void;
}

export function RoleChoice({ value, onChange }: RoleChoiceProps): ReactNode {
  return (
    <Radio.Group label="Role" value={value ?? ''} onChange={(role) => onChange(role as GivenRole)} required>
      <Stack gap="xs" mt={6}>
        {givenRoles.map((role) => (
          <Radio key={role} value={role} label={labelOfRole(role)} description={mayOfRole(role)} />
        ))}
      </Stack>
    </Radio.Group>
  );
}
