// Chooses when the payment of an approved milestone is released, and says what each choice means for the money.
// Two choices, both always seen.

import { Radio, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ReleaseMode } from '../../client/sdk.ts';

export interface ReleaseFieldProps {
  readonly value?: ReleaseMode;
  readonly onChange: (release: ReleaseMode) => void;
  readonly error?: ReactNode;
}

export function ReleaseField({ value = 'on_approval', onChange, error }: ReleaseFieldProps): ReactNode {
  return (
    <Radio.Group label="Release" value={value} onChange={(chosen) => onChange(chosen as ReleaseMode)} error={error}>
      <Stack gap={6} mt={4}>
        <Radio value="on_approval" label="On approval" description="Approving a milestone releases its payment in the same moment." />
        <Radio value="manual" label="By hand" description="Approving makes a pending payment, which somebody releases later." />
      </Stack>
    </Radio.Group>
  );
}
