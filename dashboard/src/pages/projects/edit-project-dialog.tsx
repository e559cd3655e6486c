// Edits a project: what is sent is what was changed, and never over a change of somebody else that was not seen.
// Payments and invoices that exist keep what they have; the form says so.

import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type ReactNode, useState } from 'react';
import type { Project, ProjectUpdate, ReleaseMode } from '../../client/sdk.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { notify } from '../../ui/notices.tsx';
import { useAttemptKey } from './attempt-key.ts';
import { ConflictNotice } from './conflict-notice.tsx';
import { CurrencyField } from './currency-field.tsx';
import { MetadataFields } from './metadata-fields.tsx';
import { fieldErrorsOf, type MetadataRow, metadataPatchOf, metadataProblem, rowsOf, textProblem } from './milestone-fields.ts';
import { projectDifferences } from './moves.ts';
import { changeProject } from './project-data.ts';
import { ReleaseField } from './release-field.tsx';

interface Values {
  name: string;
  client_id: string;
  payee_id: string;
  currency: string;
  release: ReleaseMode;
  metadata: MetadataRow[];
}

const valuesOf = ({ name, client_id, payee_id, currency, release, metadata }: Project): Values => ({
  name,
  client_id,
  payee_id: payee_id ?? '',
  currency,
  release,
  metadata: rowsOf(metadata),
});

function bodyOf(values: Values, before: Project): ProjectUpdate {
  const { name, client_id, currency, release } = values;
  const payee_id = values.payee_id.trim() === '' ? null : values.payee_id.trim();
  const metadata = metadataPatchOf(before.metadata, values.metadata);
  return {
    ...(name.trim() === before.name ? {} : { name: name.trim() }),
    ...(client_id.trim() === before.client_id ? {} : { client_id: client_id.trim() }),
    ...(payee_id === before.payee_id ? {} : { payee_id }),
    ...(currency === before.currency ? {} : { currency }),
    ...(release === before.release ? {} : { release }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

export function EditProjectDialog({ project, onClose }: { readonly project: Project; readonly onClose: () => void }): ReactNode {
  return (
    <Modal opened onClose={onClose} title="Edit project" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
      <EditForm project={project} onClose={onClose} />
    </Modal>
  );
}

function EditForm({ project, onClose }: { readonly project: Project; readonly onClose: () => void }): ReactNode {
  const [held, setHeld] = useState(project);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const keyFor = useAttemptKey();
  const form = useForm<Values>({
    initialValues: valuesOf(project),
    validate: {
      name: (name) => textProblem(name, 255),
      client_id: (clientId) => textProblem(clientId, 255),
      metadata: { key: (key, { metadata }) => metadataProblem(key, metadata) },
    },
  });
  const isStale = !isBusy && project.version !== held.version;

  async function save(values: Values): Promise<void> {
    if (isBusy || isStale) return;
    setBusy(true);
    setError(null);
    try {
      const body = bodyOf(values, held);
      if (Object.keys(body).length > 0) await changeProject(held, body, keyFor([body, held.version]));
      notify('Project saved');
      onClose();
    } catch (reason) {
      form.setErrors(fieldErrorsOf(reason));
      setError(reason);
      setBusy(false);
    }
  }

  /** What was typed stays; what was not touched takes over what is there now. */
  function goOn(): void {
    const [first, now] = [valuesOf(held), valuesOf(project)];
    const isUntouched = (field: keyof Values): boolean => JSON.stringify(form.values[field]) === JSON.stringify(first[field]);
    const fields = Object.keys(now) as (keyof Values)[];
    form.setValues(Object.fromEntries(fields.map((field) => [field, isUntouched(field) ? now[field] : form.values[field]])));
    setHeld(project);
    setError(null);
  }

  return (
    <form onSubmit={form.onSubmit((values) => void save(values))} noValidate>
      <Stack gap="md">
        <TextInput label="Name" required maxLength={255} data-autofocus {...form.getInputProps('name')} />
        <TextInput
          label="Client"
          required
          description="For payments and invoices from now on; those that exist keep theirs."
          maxLength={255}
          {...form.getInputProps('client_id')}
        />
        <TextInput label="Payee" description="For milestones created from now on." maxLength={255} {...form.getInputProps('payee_id')} />
        <CurrencyField label="Currency" description="For milestones created from now on." {...form.getInputProps('currency')} />
        <ReleaseField {...form.getInputProps('release')} />
        <MetadataFields
          rows={form.values.metadata}
          onChange={(rows) => form.setFieldValue('metadata', rows)}
          errorOf={(row) => form.errors[`metadata.${row}.key`]}
        />
        {isStale && (
          <ConflictNotice noun="project" at={project.updated_at} differences={projectDifferences(held, project)} onContinue={goOn} />
        )}
        {error !== null && <ErrorNotice error={error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy} disabled={isStale}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
