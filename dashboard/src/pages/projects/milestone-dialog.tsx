// Creates a milestone, or edits one. While it is submitted its amount is fixed, and the field says so.
// Sends only what was changed, and nothing over a change of somebody else that was not seen.

import { Button, Group, Modal, Stack, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import type { Milestone, Project } from '../../client/sdk.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { notify } from '../../ui/notices.tsx';
import { useAttemptKey } from './attempt-key.ts';
import { ConflictNotice } from './conflict-notice.tsx';
import { CurrencyField } from './currency-field.tsx';
import { MetadataFields } from './metadata-fields.tsx';
import {
  amountProblem,
  blankMilestone,
  createBodyOf,
  fieldErrorsOf,
  type MilestoneValues,
  metadataProblem,
  textProblem,
  updateBodyOf,
  valuesOf,
} from './milestone-fields.ts';
import { editableOf, milestoneDifferences } from './moves.ts';
import { changeMilestone, putMilestone, refreshProject } from './project-data.ts';

export interface MilestoneDialogProps {
  readonly project: Project;
  /** Null creates one. */
  readonly milestone: Milestone | null;
  readonly onClose: () => void;
}

export function MilestoneDialog(props: MilestoneDialogProps): ReactNode {
  const title = props.milestone === null ? 'New milestone' : 'Edit milestone';
  return (
    <Modal opened onClose={props.onClose} title={title} size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
      <MilestoneForm {...props} />
    </Modal>
  );
}

function useMilestoneForm(project: Project, milestone: Milestone | null) {
  return useForm<MilestoneValues>({
    initialValues: milestone === null ? blankMilestone() : valuesOf(milestone),
    validateInputOnBlur: ['amount'],
    validate: {
      title: (title) => textProblem(title, 255),
      amount: (amount, { currency }) => amountProblem(amount, currency === '' ? project.currency : currency),
      metadata: { key: (key, { metadata }) => metadataProblem(key, metadata) },
    },
  });
}

function MilestoneForm({ project, milestone, onClose }: MilestoneDialogProps): ReactNode {
  const [held, setHeld] = useState(milestone);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const keyFor = useAttemptKey();
  const form = useMilestoneForm(project, milestone);
  const isStale = !isBusy && held !== null && milestone !== null && milestone.version !== held.version;
  const isAmountFixed = milestone !== null && !editableOf(milestone).amount;
  const currency = form.values.currency === '' ? project.currency : form.values.currency;

  async function save(values: MilestoneValues): Promise<void> {
    if (isBusy || isStale) return;
    setBusy(true);
    setError(null);
    try {
      if (held === null) {
        const body = createBodyOf(values, project.currency);
        putMilestone(await client.projects.createMilestone(project.id, body, { idempotencyKey: keyFor(body) }));
        void refreshProject();
        notify('Milestone created');
      } else {
        const body = updateBodyOf(values, held);
        if (Object.keys(body).length > 0) await changeMilestone(held, body, keyFor([body, held.version]));
        notify('Milestone saved');
      }
      onClose();
    } catch (reason) {
      form.setErrors(fieldErrorsOf(reason));
      setError(reason);
      setBusy(false);
    }
  }

  return (
    <form onSubmit={form.onSubmit((values) => void save(values))} noValidate>
      <Stack gap="md">
        <TextInput label="Title" required maxLength={255} data-autofocus {...form.getInputProps('title')} />
        <Group align="flex-start" grow preventGrowOverflow={false} gap="md">
          <TextInput
            label="Amount"
            required
            inputMode="decimal"
            autoComplete="off"
            disabled={isAmountFixed}
            description={isAmountFixed ? 'Fixed while it is submitted.' : `In ${currency}.`}
            rightSection={<span className="mono">{currency}</span>}
            rightSectionWidth={56}
            miw={180}
            {...form.getInputProps('amount')}
          />
          <CurrencyField
            label="Currency"
            description="The project's, unless you choose."
            {...(milestone === null ? { placeholder: project.currency } : {})}
            disabled={isAmountFixed}
            {...form.getInputProps('currency')}
          />
        </Group>
        <Group align="flex-start" grow preventGrowOverflow={false} gap="md">
          <TextInput type="date" label="Due" miw={160} {...form.getInputProps('due_date')} />
          <TextInput
            label="Payee"
            description={milestone === null && project.payee_id !== null ? `Without one: ${project.payee_id}.` : 'Your id of who is paid.'}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            maxLength={255}
            {...form.getInputProps('payee_id')}
          />
        </Group>
        <Textarea label="Description" autosize minRows={3} maxRows={10} maxLength={5_000} {...form.getInputProps('description')} />
        <MetadataFields
          rows={form.values.metadata}
          onChange={(rows) => form.setFieldValue('metadata', rows)}
          errorOf={(row) => form.errors[`metadata.${row}.key`]}
        />
        {isStale && (
          <ConflictNotice
            noun="milestone"
            at={milestone.updated_at}
            differences={milestoneDifferences(held, milestone)}
            onContinue={() => {
              // What was typed stays; what was not touched takes over what is there now.
              const first = valuesOf(held);
              const now = valuesOf(milestone);
              const merged = Object.fromEntries(
                Object.entries(now).map(([field, value]) => {
                  const typed = form.values[field as keyof MilestoneValues];
                  return [field, JSON.stringify(typed) === JSON.stringify(first[field as keyof MilestoneValues]) ? value : typed];
                }),
              );
              form.setValues(merged);
              setHeld(milestone);
              setError(null);
            }}
          />
        )}
        {error !== null && <ErrorNotice error={error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy} disabled={isStale}>
            {milestone === null ? 'Create milestone' : 'Save'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
