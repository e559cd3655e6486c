// The event log, latest first and live at the top, with the payload of each beside it.
// Its filters look through the log a stretch at a time, so that a page of a rare kind may hold few events and still lead on.

import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useWords } from '../../app/words.ts';
import { client } from '../../client/client.ts';
import { useLiveState } from '../../client/live-events.ts';
import { keys, type ListQuery, useList } from '../../client/queries.ts';
import type { Event } from '../../client/sdk.ts';
import { formatMoney } from '../../ui/amount.ts';
import { Breakable } from '../../ui/breakable.tsx';
import { Id } from '../../ui/copy-button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { DetailDrawer, Details } from '../../ui/detail-drawer.tsx';
import { Curl, EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { FilterBar, SelectFilter, TextFilter } from '../../ui/filters.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Rows } from '../../ui/skeletons.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { Time } from '../../ui/time.tsx';
import { ProjectFilter } from '../projects/project-filter.tsx';
import { ApiLinks } from './api-links.tsx';
import { CodeBlock } from './code-block.tsx';
import { eventTypeOptions } from './event-kinds.ts';

/** What an event is about, in its own words. */
function aboutText({ data }: Event): string {
  const { name, title, url, number, amount, currency, projectId } = data;
  const money = typeof amount === 'number' && typeof currency === 'string' ? formatMoney(amount, currency) : undefined;
  const found = [name, title, url, number, money, projectId].find((word) => typeof word === 'string');
  return typeof found === 'string' ? found : '';
}

const columns: readonly Column<Event>[] = [
  { header: 'Number', cell: ({ seq }) => seq, width: 80 },
  { header: 'Kind', cell: ({ type }) => <Breakable text={type} /> },
  { header: 'About', cell: aboutText, width: '36%', wideOnly: true },
  { header: 'Happened', cell: ({ created_at }) => <Time at={created_at} as="relative" />, width: 110, align: 'right' },
];

interface Chosen {
  readonly event_type?: string | undefined;
  readonly project_id?: string | undefined;
  /** The number up to which the log is looked at. */
  readonly before?: string | undefined;
}

function useEvents({ event_type, project_id, before }: Chosen): ListQuery<Event> {
  const filters = {
    ...(event_type === undefined ? {} : { event_types: event_type }),
    ...(project_id === undefined ? {} : { project_id }),
    ...(before !== undefined && /^\d{1,15}$/.test(before) ? { before_seq: Number(before) + 1 } : {}),
  };
  return useList({
    resource: 'events',
    filters,
    cursor: 'before_seq',
    load: (cursor) => client.events.list({ order: 'desc', ...filters, ...cursor }),
  });
}

const filterNames = ['event_type', 'project_id', 'before'];

export function EventsPage(): ReactNode {
  const { words, set, href } = useWords();
  const live = useLiveState();
  const query = useEvents(words);
  const isFiltered = filterNames.some((name) => words[name] !== undefined);
  return (
    <>
      <PageHeader title="Events" description={<ApiLinks />}>
        {live === 'live' && words.before === undefined && <StatusBadge status="live" label="Live" tone="good" />}
      </PageHeader>
      <FilterBar names={filterNames}>
        <SelectFilter word="event_type" label="Kind" options={eventTypeOptions} />
        <ProjectFilter />
        <TextFilter word="before" label="Up to number" />
      </FilterBar>
      <DataTable
        label="Events"
        query={query}
        columns={columns}
        idOf={({ id }) => id}
        href={({ id }) => href({ open: id })}
        openId={words.open}
        empty={
          isFiltered ? (
            <EmptyState title="No event matches">Change the filters, or clear them.</EmptyState>
          ) : (
            <EmptyState
              title="Nothing has happened yet"
              curl={{ method: 'POST', path: '/v1/projects', body: { name: 'Website', client_id: 'acme' } }}
            >
              Every change of a project becomes an event, and none is ever lost. Make the first:
            </EmptyState>
          )
        }
      />
      <EventDrawer id={words.open} onClose={() => set({ open: undefined })} />
    </>
  );
}

function EventDrawer({ id, onClose }: { readonly id: string | undefined; readonly onClose: () => void }): ReactNode {
  const query = useQuery({
    queryKey: keys.one('events', id ?? ''),
    queryFn: async () => await client.events.retrieve(id ?? ''),
    enabled: id !== undefined,
  });
  const event = query.data;
  return (
    <DetailDrawer opened={id !== undefined} onClose={onClose} title={event?.type ?? 'Event'} size={620}>
      {event !== undefined && <Shown event={event} />}
      {event === undefined && query.isError && <ErrorNotice error={query.error} retry={() => void query.refetch()} />}
      {event === undefined && query.isPending && (
        <div role="status" aria-busy="true" aria-label="Loading">
          <Rows count={8} />
        </div>
      )}
    </DetailDrawer>
  );
}

function Shown({ event: { id, seq, created_at, data, type } }: { readonly event: Event }): ReactNode {
  const { projectId } = data;
  return (
    <>
      <Details
        items={[
          { label: 'Number', value: seq },
          { label: 'Happened', value: <Time at={created_at} /> },
          ...(typeof projectId === 'string'
            ? [{ label: 'Project', value: <TextLink href={`/projects/${projectId}`}>{projectId}</TextLink> }]
            : []),
          {
            label: 'Deliveries',
            value: <TextLink href={`/developers/webhooks?tab=deliveries&event_type=${type}`}>Of this kind</TextLink>,
          },
          { label: 'Id', value: <Id id={id} /> },
        ]}
      />
      <Text component="div" my="md">
        <CodeBlock label="Payload" text={JSON.stringify(data, null, 2)} />
      </Text>
      <Curl request={{ path: `/v1/events/${id}` }} />
    </>
  );
}
