// Creates a project, with its first milestones in the same commit; what the server refuses is said beside its field.
// Edits one only through edit-project-dialog.tsx.

import { ActionIcon, Button, Fieldset, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import { keys } from '../../client/queries.ts';
import type { ProjectCreate, ReleaseMode } from '../../client/sdk.ts';
import { formatMoney, parseAmount } from '../../ui/amount.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { notify } from '../../ui/notices.tsx';
import { useAttemptKey } from './attempt-key.ts';
import { CurrencyField } from './currency-field.tsx';
import { MetadataFields } from './metadata-fields.tsx';
import {
  amountProblem,
  blankMilestone,
  createBodyOf,
  fieldErrorsOf,
  type MetadataRow,
  type MilestoneValues,
  metadataProblem,
  recordOf,
  textProblem,
} from './milestone-fields.ts';
import { refreshProject } from './project-data.ts';
import { ReleaseField } from './release-field.tsx';

const MAX_MILESTONES = 100;

interface ProjectValues {
  name: string;
  client_id: string;
  /** Empty: the workspace's. */
  currency: string;
  release: ReleaseMode;
  payee_id: string;
  metadata: MetadataRow[];
  milestones: MilestoneValues[];
}

function useDefaultCurrency(): string {
  const { data } = useQuery({ queryKey: keys.one('workspace', 'own'), queryFn: () => client.workspace.retrieve(), staleTime: 60_000 });
  return data?.default_currency ?? 'USD';
}

function createBody(values: ProjectValues, currency: string): ProjectCreate {
  const { name, client_id, release, payee_id, metadata, milestones } = values;
  return {
    name: name.trim(),
    client_id: client_id.trim(),
    // Said even where it is the workspace's: the amounts were typed and checked in it.
    currency,
    release,
    ...(payee_id.trim() === '' ? {} : { payee_id: payee_id.trim() }),
    ...(metadata.length === 0 ? {} : { metadata: recordOf(metadata) }),
    ...(milestones.length === 0 ? {} : { milestones: milestones.map((one) => createBodyOf(one, currency)) }),
  };
}

export function ProjectDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  return (
    <Modal opened onClose={onClose} title="New project" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
      <ProjectForm onClose={onClose} />
    </Modal>
  );
}

const currencyOf = ({ currency }: ProjectValues, otherwise: string): string => (currency === '' ? otherwise : currency);

function useProjectForm(defaultCurrency: string) {
  return useForm<ProjectValues>({
    initialValues: { name: '', client_id: '', currency: '', release: 'on_approval', payee_id: '', metadata: [], milestones: [] },
    validate: {
      name: (name) => textProblem(name, 255),
      client_id: (clientId) => textProblem(clientId, 255),
      metadata: { key: (key, { metadata }) => metadataProblem(key, metadata) },
      milestones: {
        title: (title) => textProblem(title, 255),
        amount: (amount, values) => amountProblem(amount, currencyOf(values, defaultCurrency)),
      },
    },
  });
}

function ProjectForm({ onClose }: { readonly onClose: () => void }): ReactNode {
  const router = useRouter();
  const defaultCurrency = useDefaultCurrency();
  const keyFor = useAttemptKey();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const form = useProjectForm(defaultCurrency);
  const currency = currencyOf(form.values, defaultCurrency);

  async function create(values: ProjectValues): Promise<void> {
    if (isBusy) return;
    setBusy(true);
    setError(null);
    try {
      const body = createBody(values, currency);
      const project = await client.projects.create(body, { idempotencyKey: keyFor(body) });
      void refreshProject();
      notify('Project created');
      router.history.push(`/projects/${project.id}`);
    } catch (reason) {
      form.setErrors(fieldErrorsOf(reason));
      setError(reason);
      setBusy(false);
    }
  }

  return (
    <form onSubmit={form.onSubmit((values) => void create(values))} noValidate>
      <Stack gap="md">
        <TextInput label="Name" required maxLength={255} data-autofocus {...form.getInputProps('name')} />
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <TextInput
            label="Client"
            required
            description="Your own id of who ordered it."
            maxLength={255}
            miw={200}
            {...form.getInputProps('client_id')}
          />
          <TextInput
            label="Payee"
            description="Your own id of who is paid."
            maxLength={255}
            miw={200}
            {...form.getInputProps('payee_id')}
          />
        </Group>
        <CurrencyField label="Currency" placeholder={`${defaultCurrency}, the workspace's`} {...form.getInputProps('currency')} />
        <ReleaseField {...form.getInputProps('release')} />
        <MilestoneRows form={form} currency={currency} />
        <MetadataFields
          rows={form.values.metadata}
          onChange={(rows) => form.setFieldValue('metadata', rows)}
          errorOf={(row) => form.errors[`metadata.${row}.key`]}
        />
        {error !== null && <ErrorNotice error={error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy}>
            Create project
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface MilestoneRowsProps {
  readonly form: ReturnType<typeof useProjectForm>;
  readonly currency: string;
}

function MilestoneRows({ form, currency }: MilestoneRowsProps): ReactNode {
  const rows = form.values.milestones;
  const sum = rows.reduce((total, { amount }) => total + (parseAmount(amount, currency).minor ?? 0n), 0n);
  return (
    <Fieldset legend="Milestones" variant="unstyled">
      {rows.map((_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place, as the form names it.
        <Group key={at} gap={6} align="flex-start" mb={8}>
          <TextInput
            aria-label={`Title of milestone ${at + 1}`}
            placeholder="Title"
            maxLength={255}
            flex="1 1 200px"
            {...form.getInputProps(`milestones.${at}.title`)}
          />
          <TextInput
            aria-label={`Amount of milestone ${at + 1}`}
            placeholder="Amount"
            inputMode="decimal"
            autoComplete="off"
            rightSection={<span className="mono">{currency}</span>}
            rightSectionWidth={52}
            flex="1 1 105px"
            miw={0}
            {...form.getInputProps(`milestones.${at}.amount`)}
          />
          <TextInput
            type="date"
            aria-label={`Due date of milestone ${at + 1}`}
            flex="1 1 125px"
            miw={0}
            {...form.getInputProps(`milestones.${at}.due_date`)}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size={36}
            aria-label={`Remove milestone ${at + 1}`}
            onClick={() => form.removeListItem('milestones', at)}
          >
            <Icon name="close" size={16} />
          </ActionIcon>
        </Group>
      ))}
      <Group justify="space-between">
        {rows.length < MAX_MILESTONES && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            leftSection={<Icon name="plus" size={14} />}
            onClick={() => form.insertListItem('milestones', blankMilestone())}
          >
            Add milestone
          </Button>
        )}
        {rows.length > 0 && (
          <Text size="sm" c="dimmed">
            Together {formatMoney(sum, currency)}
          </Text>
        )}
      </Group>
    </Fieldset>
  );
}
