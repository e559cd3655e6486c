// Says what went wrong: title, detail, the fields at fault, and the request id for whoever looks into the server's log.
// Decides nothing; `retry` is handed in where trying again makes sense.

import { Alert, Button, Group, List, Stack, Text } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ApiConnectionError, ApiError, type FieldError, UnexpectedAnswerError } from '../client/sdk.ts';
import { CopyButton } from './copy-button.tsx';
import { Icon } from './icon.tsx';
import { wordsOf } from './status-badge.tsx';

export interface Fault {
  readonly title: string;
  readonly detail: string;
  readonly requestId: string | null;
  readonly fields: readonly FieldError[];
}

export function faultOf(error: unknown): Fault {
  if (error instanceof ApiError) {
    return {
      title: error.code === null ? `The server answered ${error.status}` : wordsOf(error.code),
      detail: error.message,
      requestId: error.requestId,
      fields: error.fieldErrors,
    };
  }
  if (error instanceof ApiConnectionError)
    return { title: 'The server could not be reached', detail: 'Check the connection; nothing is lost.', requestId: null, fields: [] };
  const requestId = error instanceof UnexpectedAnswerError ? error.requestId : null;
  return { title: 'Something went wrong', detail: error instanceof Error ? error.message : String(error), requestId, fields: [] };
}

export interface ErrorNoticeProps {
  readonly error: unknown;
  readonly retry?: () => void;
}

export function ErrorNotice({ error, retry }: ErrorNoticeProps): ReactNode {
  const { title, detail, requestId, fields } = faultOf(error);
  return (
    <Alert
      color="red"
      variant="default"
      title={title}
      icon={<Icon name="warning" />}
      role="alert"
      style={{ borderLeft: '3px solid var(--mantine-color-red-6)' }}
    >
      <Stack gap="xs">
        <Text size="sm">{detail}</Text>
        {fields.length > 0 && (
          <List size="sm">
            {fields.map(({ pointer, message }) => (
              <List.Item key={`${pointer} ${message}`}>
                {pointer !== '' && <code>{pointer.slice(1)}: </code>}
                {message}
              </List.Item>
            ))}
          </List>
        )}
        {requestId !== null && (
          <Group gap={4}>
            <Text size="xs">
              Request <code>{requestId}</code>
            </Text>
            <CopyButton text={requestId} label="Copy request id" />
          </Group>
        )}
        {retry !== undefined && (
          <Button variant="default" onClick={retry} w="fit-content" leftSection={<Icon name="refresh" size={16} />}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

/** In the place of a page that failed. */
export function ErrorPage({ error }: { readonly error: unknown }): ReactNode {
  const router = useRouter();
  return (
    <Stack p="md" maw={640}>
      <ErrorNotice error={error} retry={() => void router.invalidate()} />
    </Stack>
  );
}
