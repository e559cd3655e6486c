// What a receiver answered, or why nothing came: of an attempt, and of a test.
// Shows it as text and nothing else.

import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { DeliveryAttempt } from '../../client/sdk.ts';
import { wordsOf } from '../../ui/status-badge.tsx';
import { CodeBlock, headerText, prettyText } from './code-block.tsx';

export type Answer = Pick<
  DeliveryAttempt,
  'status_code' | 'error_kind' | 'error' | 'remote_address' | 'response_headers' | 'response_body' | 'response_truncated'
>;

export const isAcknowledged = ({ status_code }: Pick<Answer, 'status_code'>): boolean =>
  status_code !== null && status_code >= 200 && status_code < 300;

/** `503`, `Connection refused`. */
export const answerText = ({ status_code, error_kind }: Pick<Answer, 'status_code' | 'error_kind'>): string =>
  status_code === null ? wordsOf(error_kind ?? 'no_answer') : `Answered ${status_code}`;

export function ReceivedAnswer({ error, remote_address, response_headers, response_body, response_truncated }: Answer): ReactNode {
  return (
    <Stack gap="sm">
      {error !== null && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {error}
        </Text>
      )}
      {remote_address !== null && (
        <Text size="xs" c="dimmed">
          Address <code>{remote_address}</code>
        </Text>
      )}
      {response_headers !== null && <CodeBlock label="Response headers" text={headerText(response_headers)} />}
      {response_body !== null && (
        <CodeBlock
          label="Response body"
          text={prettyText(response_body)}
          copy={response_body}
          {...(response_truncated ? { note: 'only its beginning is kept' } : {})}
        />
      )}
    </Stack>
  );
}
