// Replaying, recovering or cancelling many: first how many it would be, then the doing.
// Nothing is done before it was counted; another filter is counted again.

import { Alert, Button, Checkbox, Group, Modal, MultiSelect, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import { keys, queryClient } from '../../client/queries.ts';
import type { DeliveryStatus, EventType, WebhookEndpoint, WebhookRepair, WebhookRepairAction } from '../../client/sdk.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { notify } from '../../ui/notices.tsx';
import { wordsOf } from '../../ui/status-badge.tsx';
import { deliveryStatuses } from './delivery-status.tsx';
import { eventTypeOptions } from './event-kinds.ts';
import { counted, isOver, isReady, type RepairDraft, repairOf, verbOf } from './repair-draft.ts';
import { useSubmission } from './submission.ts';

export interface RepairDialogProps {
  /** Null while it is closed. */
  readonly action: WebhookRepairAction | null;
  readonly onClose: () => void;
  /** Left out: every enabled endpoint. */
  readonly endpoint?: WebhookEndpoint;
  readonly status: DeliveryStatus | undefined;
  readonly eventType: EventType | undefined;
  readonly projectId: string | undefined;
}

const titles: Readonly<Record<WebhookRepairAction, string>> = {
  replay: 'Replay deliveries',
  recover: 'Recover missed events',
  cancel: 'Cancel waiting deliveries',
};

const explanations: Readonly<Record<WebhookRepairAction, string>> = {
  replay:
    'Sends again what matches: the same events with the same ids and bodies. Receivers that heard them already must know them by webhook-id.',
  recover: 'Sends every event since a time that the endpoint has not acknowledged, those it was never sent included.',
  cancel: 'Deliveries that wait for an attempt are not sent any more. They can be replayed later.',
};

export function RepairDialog(props: RepairDialogProps): ReactNode {
  const { action, onClose } = props;
  return (
    <Modal
      opened={action !== null}
      onClose={onClose}
      title={action === null ? '' : titles[action]}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {action !== null && <Form {...props} action={action} />}
    </Modal>
  );
}

function Form({
  action,
  onClose,
  endpoint,
  status,
  eventType,
  projectId,
}: RepairDialogProps & { readonly action: WebhookRepairAction }): ReactNode {
  const [draft, setDraft] = useState<RepairDraft>({
    action,
    endpointId: endpoint?.id,
    statuses: [status ?? 'failed'],
    eventTypes: eventType === undefined ? [] : [eventType],
    projectId: projectId ?? '',
    since: '',
    until: '',
  });
  const [count, setCount] = useState<WebhookRepair | null>(null);
  const { isBusy, error, run, forget } = useSubmission();
  function change(changes: Partial<RepairDraft>): void {
    setDraft((before) => ({ ...before, ...changes }));
    setCount(null);
    forget();
  }
  const ask = (): Promise<void> => run(async () => setCount(await client.webhookRepairs.create(repairOf(draft, true))));
  const carryOut = (): Promise<void> =>
    run(async () => {
      await client.webhookRepairs.create(repairOf(draft, false));
      notify(`${verbOf(action)} begun; its progress shows above the list`);
      void queryClient.invalidateQueries({ queryKey: keys.all('webhook_repairs') });
      void queryClient.invalidateQueries({ queryKey: keys.all('deliveries') });
      onClose();
    });
  return (
    <form
      onSubmit={(submit) => {
        submit.preventDefault();
        if (isReady(draft)) void ask();
      }}
    >
      <Stack gap="md">
        <Text size="sm">{explanations[action]}</Text>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          To <b>{endpoint?.url ?? 'every enabled endpoint'}</b>
        </Text>
        <Fields draft={draft} change={change} />
        {error !== null && <ErrorNotice error={error} />}
        {count === null ? (
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Close
            </Button>
            <Button type="submit" loading={isBusy} disabled={!isReady(draft)}>
              Count first
            </Button>
          </Group>
        ) : (
          <Counted first={count} isBusy={isBusy} onCarryOut={() => void carryOut()} onClose={onClose} />
        )}
      </Stack>
    </form>
  );
}

function Fields({ draft, change }: { readonly draft: RepairDraft; readonly change: (changes: Partial<RepairDraft>) => void }): ReactNode {
  const { action, statuses, eventTypes, projectId, since, until } = draft;
  return (
    <>
      {action === 'replay' && (
        <Checkbox.Group
          label="Deliveries that are"
          value={[...statuses]}
          onChange={(chosen) => change({ statuses: chosen as DeliveryStatus[] })}
        >
          <Group gap="md" mt={6}>
            {deliveryStatuses.map((status) => (
              <Checkbox key={status} size="xs" value={status} label={wordsOf(status)} />
            ))}
          </Group>
        </Checkbox.Group>
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput
          type="datetime-local"
          label="Events since"
          value={since}
          required={action === 'recover'}
          onChange={(typed) => change({ since: typed.currentTarget.value })}
        />
        <TextInput type="datetime-local" label="Until" value={until} onChange={(typed) => change({ until: typed.currentTarget.value })} />
        <MultiSelect
          label="Kinds of event"
          placeholder={eventTypes.length === 0 ? 'Every kind' : ''}
          data={eventTypeOptions}
          value={[...eventTypes]}
          onChange={(chosen) => change({ eventTypes: chosen as EventType[] })}
          clearable
          clearButtonProps={{ 'aria-label': 'Clear kinds of event' }}
        />
        <TextInput
          label="Project id"
          placeholder="Every project"
          value={projectId}
          autoComplete="off"
          onChange={(typed) => change({ projectId: typed.currentTarget.value })}
        />
      </SimpleGrid>
    </>
  );
}

const LOOK_MS = 1_000;

interface CountedProps {
  readonly first: WebhookRepair;
  readonly isBusy: boolean;
  readonly onCarryOut: () => void;
  readonly onClose: () => void;
}

/** Counting goes on in the server where there are many. */
function Counted({ first, isBusy, onCarryOut, onClose }: CountedProps): ReactNode {
  const { data = first } = useQuery({
    queryKey: keys.one('webhook_repairs', first.id),
    queryFn: async () => await client.webhookRepairs.retrieve(first.id),
    initialData: first,
    staleTime: LOOK_MS,
    refetchInterval: ({ state }) => (state.data === undefined || isOver(state.data) ? false : LOOK_MS),
  });
  const isKnown = isOver(data);
  const what = counted(data.matched, data.action);
  return (
    <>
      <Alert color="gray" variant="default" role="status" title={isKnown ? what : `${what} so far …`}>
        {data.matched === 0 && isKnown ? 'Nothing matches: there is nothing to do.' : 'Nothing has been changed yet.'}
      </Alert>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
        <Button
          color={data.action === 'cancel' ? 'red.9' : undefined}
          loading={isBusy}
          disabled={!isKnown || data.matched === 0}
          onClick={onCarryOut}
          data-autofocus
        >
          {verbOf(data.action)} {what}
        </Button>
      </Group>
    </>
  );
}
