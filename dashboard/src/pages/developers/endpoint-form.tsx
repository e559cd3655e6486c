// The dialog that creates and edits an endpoint.
// Sends only what was changed, and shows no secret: whoever opened it does, once.

import { Button, Checkbox, Group, Modal, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { EventType, WebhookEndpoint } from '../../client/sdk.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { draftOf, type EndpointDraft, newDraft } from './endpoint-draft.ts';
import { EndpointSending } from './endpoint-sending.tsx';
import { eventKinds, eventTypes } from './event-kinds.ts';
import { useSubmission } from './submission.ts';

const MAX_URL_LENGTH = 2048;
const MAX_DESCRIPTION_LENGTH = 500;

export interface EndpointFormProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** The one that is edited; left out for a new one. */
  readonly endpoint?: WebhookEndpoint;
  readonly onSubmit: (draft: EndpointDraft) => Promise<void>;
}

export function EndpointForm(props: EndpointFormProps): ReactNode {
  const { opened, onClose, endpoint } = props;
  const title = endpoint === undefined ? 'New webhook endpoint' : 'Edit webhook endpoint';
  return (
    <Modal opened={opened} onClose={onClose} title={title} size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Form {...props} />
    </Modal>
  );
}

function Form({ onClose, endpoint, onSubmit }: EndpointFormProps): ReactNode {
  const [draft, setDraft] = useState(endpoint === undefined ? newDraft : draftOf(endpoint));
  const [isMore, setMore] = useState(false);
  const { isBusy, error, run } = useSubmission();
  const change = (changes: Partial<EndpointDraft>): void => setDraft((before) => ({ ...before, ...changes }));
  const isReady = draft.url.trim() !== '' && draft.eventTypes.length > 0 && draft.schemes.length > 0;
  return (
    <form
      onSubmit={(submit) => {
        submit.preventDefault();
        if (isReady) void run(() => onSubmit(draft));
      }}
    >
      <Stack gap="md">
        <TextInput
          label="URL"
          description="Where events are sent by POST: http or https."
          placeholder="https://example.com/hooks/tranche"
          value={draft.url}
          maxLength={MAX_URL_LENGTH}
          inputMode="url"
          autoComplete="off"
          required
          data-autofocus
          onChange={(typed) => change({ url: typed.currentTarget.value })}
        />
        <Textarea
          label="Description"
          placeholder="What listens there"
          value={draft.description}
          maxLength={MAX_DESCRIPTION_LENGTH}
          autosize
          minRows={1}
          onChange={(typed) => change({ description: typed.currentTarget.value })}
        />
        <Checkbox.Group
          label="Events"
          description="It is sent these kinds, from now on."
          value={[...draft.eventTypes]}
          onChange={(chosen) => change({ eventTypes: chosen as EventType[] })}
        >
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing={6} mt="xs">
            {eventTypes.map((type) => (
              <Checkbox key={type} size="xs" value={type} label={type} description={eventKinds[type]} />
            ))}
          </SimpleGrid>
        </Checkbox.Group>
        <Button
          variant="default"
          w="fit-content"
          aria-expanded={isMore}
          leftSection={<Icon name={isMore ? 'down' : 'chevron'} size={16} />}
          onClick={() => setMore(!isMore)}
        >
          Signatures, headers, order and limits
        </Button>
        {isMore && <EndpointSending draft={draft} change={change} {...(endpoint === undefined ? {} : { endpoint })} />}
        {error !== null && <ErrorNotice error={error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy} disabled={!isReady}>
            {endpoint === undefined ? 'Create endpoint' : 'Save changes'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
