// The settings in one form: profile, invoices, defaults; beside it, how the head of the next invoice will look.
// Sends what was changed, against the version that was read: somebody else's change in between is not overwritten.

import { Button, Group, Select, Stack, Text, Textarea, TextInput, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import { keys, queryClient } from '../../client/queries.ts';
import type { Workspace } from '../../client/sdk.ts';
import { accountQuery } from '../../session/account.ts';
import { useCan } from '../../session/session.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { notify } from '../../ui/notices.tsx';
import { currencyChoices, timezoneChoices } from './choices.ts';
import { InvoiceHead } from './invoice-head.tsx';
import { LogoField } from './logo-field.tsx';
import classes from './settings.module.css';
import { draftOf, prefixProblem, type SettingsDraft, updateOf } from './settings-draft.ts';

type Change = (part: Partial<SettingsDraft>) => void;

interface PartProps {
  readonly draft: SettingsDraft;
  readonly change: Change;
  readonly disabled: boolean;
}

export function WorkspaceForm({ workspace }: { readonly workspace: Workspace }): ReactNode {
  const mayWrite = useCan('workspace:write');
  const [draft, setDraft] = useState(() => draftOf(workspace));
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const change: Change = (part) => setDraft((before) => ({ ...before, ...part }));
  const update = updateOf(draft, workspace);
  const isReady = update !== null && draft.name.trim() !== '' && prefixProblem(draft.invoice_prefix) === null;
  async function save(): Promise<void> {
    if (update === null) return;
    setBusy(true);
    setError(null);
    try {
      const saved = await client.workspace.update(update, { ifMatch: workspace.version });
      queryClient.setQueryData(keys.one('workspace', workspace.id), saved);
      notify('Settings saved');
      void queryClient.invalidateQueries({ queryKey: keys.all('audit_entries') });
      void queryClient.invalidateQueries({ queryKey: keys.all('overview') });
      if (update.name !== undefined) void queryClient.invalidateQueries({ queryKey: accountQuery.queryKey });
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  }
  const parts: PartProps = { draft, change, disabled: !mayWrite };
  return (
    <form
      onSubmit={(submit) => {
        submit.preventDefault();
        if (isReady && !isBusy) void save();
      }}
    >
      <div className={classes.columns}>
        <div>
          <Profile {...parts} />
          <Invoices {...parts} />
          <Defaults {...parts} />
          {error !== null && <ErrorNotice error={error} />}
          {mayWrite && (
            <Group gap="xs" mt="md">
              <Button type="submit" loading={isBusy} disabled={!isReady}>
                Save
              </Button>
              {update !== null && (
                <Button variant="subtle" color="gray" onClick={() => setDraft(draftOf(workspace))}>
                  Discard changes
                </Button>
              )}
            </Group>
          )}
        </div>
        <InvoiceHead draft={draft} />
      </div>
    </form>
  );
}

function Profile({ draft, change, disabled }: PartProps): ReactNode {
  return (
    <section className={classes.card} aria-labelledby="profile">
      <Title order={2} id="profile">
        Profile
      </Title>
      <Stack gap="sm" mt="sm">
        <div className={classes.pair}>
          <TextInput
            label="Name"
            description="What people here call it"
            value={draft.name}
            maxLength={200}
            onChange={(typed) => change({ name: typed.currentTarget.value })}
            disabled={disabled}
            required
          />
          <TextInput
            label="Legal name"
            description="On invoices, where it differs"
            value={draft.legal_name}
            maxLength={200}
            onChange={(typed) => change({ legal_name: typed.currentTarget.value })}
            disabled={disabled}
          />
        </div>
        <Textarea
          label="Address"
          description="Up to eight lines, as on an envelope"
          autosize
          minRows={3}
          maxRows={8}
          value={draft.address}
          onChange={(typed) => change({ address: typed.currentTarget.value })}
          disabled={disabled}
        />
        <TextInput
          label="Tax ID"
          value={draft.tax_id}
          maxLength={50}
          onChange={(typed) => change({ tax_id: typed.currentTarget.value })}
          disabled={disabled}
        />
        <LogoField logo={draft.logo} onChange={(logo) => change({ logo })} disabled={disabled} />
      </Stack>
    </section>
  );
}

function Invoices({ draft, change, disabled }: PartProps): ReactNode {
  return (
    <section className={classes.card} aria-labelledby="invoices">
      <Title order={2} id="invoices">
        Invoices
      </Title>
      <Text c="dimmed" size="sm">
        Invoices that exist keep what stood here when they were issued. The count goes on under a new prefix.
      </Text>
      <Stack gap="sm" mt="sm">
        <TextInput
          label="Number prefix"
          value={draft.invoice_prefix}
          error={prefixProblem(draft.invoice_prefix)}
          onChange={(typed) => change({ invoice_prefix: typed.currentTarget.value })}
          disabled={disabled}
          maw={240}
          required
        />
        <Textarea
          label="Tax line"
          description="Printed under the total as it is; nothing is reckoned from it"
          autosize
          minRows={2}
          maxRows={5}
          maxLength={500}
          value={draft.tax_line}
          onChange={(typed) => change({ tax_line: typed.currentTarget.value })}
          disabled={disabled}
        />
      </Stack>
    </section>
  );
}

function Defaults({ draft, change, disabled }: PartProps): ReactNode {
  return (
    <section className={classes.card} aria-labelledby="defaults">
      <Title order={2} id="defaults">
        Defaults
      </Title>
      <div className={classes.pair}>
        <Select
          label="Currency"
          description="Of projects that name none"
          data={currencyChoices(draft.default_currency)}
          value={draft.default_currency}
          onChange={(code) => code !== null && change({ default_currency: code })}
          searchable
          disabled={disabled}
        />
        <Select
          label="Time zone"
          description="When days and months begin"
          data={timezoneChoices(draft.timezone)}
          value={draft.timezone}
          onChange={(zone) => zone !== null && change({ timezone: zone })}
          searchable
          limit={80}
          disabled={disabled}
        />
      </div>
    </section>
  );
}
