// Who changed what, when and from where: settings, keys, members, roles, invitations, endpoints.
// Reads only; entries cannot be changed by anybody.

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useWords } from '../../app/words.ts';
import { client } from '../../client/client.ts';
import { itemsOf, keys, useList } from '../../client/queries.ts';
import type { AuditAction, AuditEntry } from '../../client/sdk.ts';
import { useSession } from '../../session/session.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { DetailDrawer } from '../../ui/detail-drawer.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { DayFilter, FilterBar, SelectFilter } from '../../ui/filters.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Time } from '../../ui/time.tsx';
import { AuditEntryDetails } from './audit-entry-details.tsx';
import { actionWords, subjectOf, summaryOf, wordsOfAction, wordsOfActor } from './audit-words.ts';
import classes from './settings.module.css';

const FILTERS = ['actor_id', 'action', 'created_after', 'created_before'];

const actions = Object.entries(actionWords).map(([value, label]) => ({ value, label }));

/** The moment at which a day begins here, for the person who looks. */
function beginning(day: string | undefined, daysLater = 0): string | undefined {
  const [year, month, date] = (day ?? '').split('-').map(Number);
  if (year === undefined || month === undefined || date === undefined) return undefined;
  const moment = new Date(year, month - 1, date + daysLater);
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString();
}

export function AuditLogPage(): ReactNode {
  const { words, set, href } = useWords();
  const { workspace } = useSession();
  const filters = {
    action: words.action as AuditAction | undefined,
    actor_id: words.actor_id,
    created_after: beginning(words.created_after),
    created_before: beginning(words.created_before, 1),
  };
  const query = useList({
    resource: 'audit_entries',
    filters: { ...filters, workspace: workspace.id },
    load: (cursor) => client.auditEntries.list({ ...filters, ...cursor }),
  });
  const { people, names } = useNames();
  const open = itemsOf(query).find(({ id }) => id === words.open) ?? null;
  return (
    <>
      <PageHeader
        title="Audit log"
        description="Every change of settings, people, keys and endpoints. Entries are never changed or removed."
      />
      <FilterBar names={FILTERS}>
        <SelectFilter word="action" label="What" options={actions} />
        <SelectFilter word="actor_id" label="Who" options={people} />
        <DayFilter word="created_after" label="From" />
        <DayFilter word="created_before" label="To" />
      </FilterBar>
      <DataTable
        label="Audit log"
        query={query}
        columns={columnsWith(names)}
        idOf={({ id }) => id}
        href={({ id }) => href({ open: id })}
        openId={words.open}
        empty={<EmptyState title="No entry matches">Change the filters, or clear them.</EmptyState>}
      />
      <DetailDrawer opened={open !== null} onClose={() => set({ open: undefined })} title={open === null ? '' : wordsOfAction(open.action)}>
        {open !== null && <AuditEntryDetails entry={open} subject={subjectOf(open, names)} />}
      </DetailDrawer>
    </>
  );
}

function columnsWith(names: ReadonlyMap<string, string>): readonly Column<AuditEntry>[] {
  return [
    {
      header: 'What',
      cell: (entry) => {
        const subject = subjectOf(entry, names);
        return (
          <>
            {wordsOfAction(entry.action)}
            {subject !== null && <span className={classes.faint}> {subject}</span>}
          </>
        );
      },
    },
    {
      header: 'Change',
      cell: (entry) => <span className={classes.faint}>{summaryOf(entry, subjectOf(entry, names))}</span>,
      width: '30%',
      wideOnly: true,
    },
    { header: 'Who', cell: ({ actor }) => wordsOfActor(actor), width: '18%', wideOnly: true },
    { header: 'When', cell: ({ occurred_at }) => <Time at={occurred_at} as="relative" />, width: 110, align: 'right' },
  ];
}

/** Enough for a choice; whoever is not among them is still found by the filter's word in the address. */
const MAX_NAMES = 100;

/** Members and keys by name: to choose whose entries are shown, and to call what was changed by its name. */
function useNames(): { readonly people: readonly { value: string; label: string }[]; readonly names: ReadonlyMap<string, string> } {
  const { workspace, can } = useSession();
  const members = useQuery({
    queryKey: keys.other('members', 'names', workspace.id),
    queryFn: async () => (await client.members.list({ limit: MAX_NAMES })).data,
    enabled: can('members:read'),
  });
  const apiKeys = useQuery({
    queryKey: keys.other('api_keys', 'names', workspace.id),
    queryFn: async () => (await client.apiKeys.list({ limit: MAX_NAMES })).data,
    enabled: can('api_keys:read'),
  });
  const names = new Map<string, string>([[workspace.id, workspace.name]]);
  for (const { id, name } of members.data ?? []) names.set(id, name);
  for (const { id, name } of apiKeys.data ?? []) names.set(id, name);
  const people = [
    ...(members.data ?? []).map(({ person_id, name }) => ({ value: person_id, label: name })),
    ...(apiKeys.data ?? []).map(({ id, name }) => ({ value: id, label: `Key ${name}` })),
  ];
  return { people, names };
}
