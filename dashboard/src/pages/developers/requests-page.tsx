// The requests of the last days: who asked for what, what the answer was, and how long it took. No bodies are kept.
// Shows what the server logged: every write and every failure, and of reads some. Refusals for the rate limit are gathered by second.

import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo } from 'react';
import { useWords } from '../../app/words.ts';
import { client } from '../../client/client.ts';
import { itemsOf, keys, useList } from '../../client/queries.ts';
import type { RequestLogEntry, RequestMethod, StatusClass } from '../../client/sdk.ts';
import { useCan } from '../../session/session.tsx';
import { Breakable } from '../../ui/breakable.tsx';
import { Id } from '../../ui/copy-button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { DetailDrawer, Details } from '../../ui/detail-drawer.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { FilterBar, SelectFilter, TextFilter } from '../../ui/filters.tsx';
import { Icon } from '../../ui/icon.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { Time } from '../../ui/time.tsx';
import { ApiLinks } from './api-links.tsx';

const methods: readonly RequestMethod[] = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'];
const statusClasses: readonly { readonly value: StatusClass; readonly label: string }[] = [
  { value: '2xx', label: '2xx: done' },
  { value: '3xx', label: '3xx: unchanged' },
  { value: '4xx', label: '4xx: refused' },
  { value: '5xx', label: '5xx: failed' },
];

const filterNames = ['api_key_id', 'status_class', 'method', 'path'] as const;
const MAX_KEYS = 100;
const FIRST_ERROR = 400;
const FIRST_FAILURE = 500;

const toneOf = (status: number): Tone => {
  if (status >= FIRST_FAILURE) return 'bad';
  return status >= FIRST_ERROR ? 'attention' : 'good';
};

/** Up to a tenth of a millisecond. */
const durationText = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;

/** The names of keys by their ids, and with how their secrets begin, where names are not enough. */
type KeyNames = ReadonlyMap<string, { readonly name: string; readonly withHint: string }>;

function useKeyNames(): KeyNames {
  const { data } = useQuery({
    queryKey: keys.other('api_keys', 'names'),
    queryFn: async () => (await client.apiKeys.list({ limit: MAX_KEYS })).data,
    enabled: useCan('api_keys:read'),
  });
  return useMemo(() => new Map((data ?? []).map(({ id, name, hint }) => [id, { name, withHint: `${name} (${hint}…)` }])), [data]);
}

export function RequestsPage(): ReactNode {
  const { words, set, href } = useWords();
  const names = useKeyNames();
  const filters = {
    api_key_id: words.api_key_id,
    status_class: words.status_class as StatusClass | undefined,
    method: words.method as RequestMethod | undefined,
    path: words.path,
  };
  const query = useList({
    resource: 'request_log_entries',
    filters,
    load: (cursor) => client.requestLogEntries.list({ ...filters, ...cursor }),
  });
  const columns = useMemo(() => columnsFor(names), [names]);
  const isFiltered = filterNames.some((name) => words[name] !== undefined);
  return (
    <>
      <PageHeader title="Requests" description={<ApiLinks />}>
        <Button
          variant="default"
          loading={query.isRefetching}
          leftSection={<Icon name="refresh" size={16} />}
          onClick={() => void query.refetch()}
        >
          Refresh
        </Button>
      </PageHeader>
      <FilterBar names={filterNames}>
        <SelectFilter word="api_key_id" label="Key" options={[...names].map(([value, { withHint }]) => ({ value, label: withHint }))} />
        <SelectFilter word="status_class" label="Status" options={statusClasses} />
        <SelectFilter word="method" label="Method" options={methods.map((value) => ({ value, label: value }))} />
        <TextFilter word="path" label="Path, as documented" />
      </FilterBar>
      <DataTable
        label="Requests"
        query={query}
        columns={columns}
        idOf={({ id }) => id}
        href={({ id }) => href({ open: id })}
        openId={words.open}
        empty={
          isFiltered ? (
            <EmptyState title="No request matches">
              Paths are written as the reference writes them: /v1/projects/{'{id}'}. Change the filters, or clear them.
            </EmptyState>
          ) : (
            <EmptyState title="No requests in the last days" curl={{ path: '/v1/projects' }}>
              Every write and every failure stands here within seconds, and of reads some. Send one:
            </EmptyState>
          )
        }
      />
      <RequestDrawer entry={itemsOf(query).find(({ id }) => id === words.open)} names={names} onClose={() => set({ open: undefined })} />
    </>
  );
}

const callerText = ({ api_key_id }: RequestLogEntry, names: KeyNames): string =>
  api_key_id === null ? 'A person' : (names.get(api_key_id)?.name ?? api_key_id);

const columnsFor = (names: KeyNames): readonly Column<RequestLogEntry>[] => [
  {
    header: 'Request',
    cell: ({ method, path, count }) => (
      <span className="mono" title={`${method} ${path}`}>
        {method} <Breakable text={path} />
        {count > 1 && ` × ${count.toLocaleString()}`}
      </span>
    ),
  },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={String(status)} tone={toneOf(status)} />, width: 80 },
  { header: 'Took', cell: ({ duration_ms }) => durationText(duration_ms), width: 90, align: 'right', wideOnly: true },
  { header: 'By', cell: (entry) => callerText(entry, names), width: '24%', wideOnly: true },
  { header: 'Answered', cell: ({ created_at }) => <Time at={created_at} as="relative" />, width: 110, align: 'right' },
];

interface RequestDrawerProps {
  readonly entry: RequestLogEntry | undefined;
  readonly names: KeyNames;
  readonly onClose: () => void;
}

function RequestDrawer({ entry, names, onClose }: RequestDrawerProps): ReactNode {
  const { href } = useWords();
  return (
    <DetailDrawer opened={entry !== undefined} onClose={onClose} title="Request">
      {entry !== undefined && (
        <Details
          items={[
            { label: 'Method', value: entry.method },
            {
              label: 'Path',
              value: (
                <TextLink href={href({ path: entry.path, open: undefined })}>
                  <code>{entry.path}</code>
                </TextLink>
              ),
            },
            { label: 'Status', value: <StatusBadge status={String(entry.status)} tone={toneOf(entry.status)} /> },
            { label: entry.count > 1 ? 'The first took' : 'Took', value: durationText(entry.duration_ms) },
            ...(entry.count > 1 ? [{ label: 'Requests', value: `${entry.count.toLocaleString()}, refused within a second` }] : []),
            {
              label: 'By',
              value:
                entry.api_key_id === null ? (
                  'A person, by their session'
                ) : (
                  <TextLink href={`/developers/api-keys?open=${entry.api_key_id}`}>{callerText(entry, names)}</TextLink>
                ),
            },
            { label: 'Answered', value: <Time at={entry.created_at} /> },
            { label: 'Request id', value: <Id id={entry.request_id} /> },
          ]}
        />
      )}
    </DetailDrawer>
  );
}
