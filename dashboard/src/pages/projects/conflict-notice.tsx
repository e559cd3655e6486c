// Says that a record was changed by somebody else while it was being looked at: when, and what, field by field.
// Goes on only when asked to; whether the change still makes sense is for the person to decide.

import { Alert, Button, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from '../../ui/icon.tsx';
import { Time } from '../../ui/time.tsx';
import type { Difference } from './moves.ts';

export interface ConflictNoticeProps {
  /** What it is: "milestone". */
  readonly noun: string;
  /** When it was changed last. */
  readonly at: string;
  readonly differences: readonly Difference[];
  readonly onContinue: () => void;
  readonly children?: ReactNode;
}

export function ConflictNotice({ noun, at, differences, onContinue, children }: ConflictNoticeProps): ReactNode {
  return (
    <Alert
      color="yellow"
      variant="default"
      role="alert"
      icon={<Icon name="warning" />}
      title={`This ${noun} was changed meanwhile`}
      style={{ borderLeft: '3px solid #d9920a' }}
    >
      <Stack gap="xs">
        <Text size="sm" component="div">
          Another person or an API key changed it, last at <Time at={at} as="clock" />. Nothing of yours was done.
        </Text>
        <ul style={{ margin: 0, paddingLeft: 18, overflowWrap: 'anywhere' }}>
          {differences.map(({ field, from, to }) => (
            <li key={field}>
              {field}: <del>{from}</del> → <strong>{to}</strong>
            </li>
          ))}
          {differences.length === 0 && <li>What you see is the same; only its version is newer.</li>}
        </ul>
        {children}
        <Button variant="default" w="fit-content" onClick={onContinue} leftSection={<Icon name="refresh" size={16} />}>
          Go on with the current one
        </Button>
      </Stack>
    </Alert>
  );
}
