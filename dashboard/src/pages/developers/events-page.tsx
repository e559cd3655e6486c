// The event log, latest first and live at the top, with the payload of each beside it.
// The log itself goes forward; event-pages.ts reads it backwards.

import { Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useWords } from '../../app/words.ts';
import { client } from '../../client/client.ts';
import { useLiveState } from '../../client/live-events.ts';
import { keys, type ListPage, type ListQuery } from '../../client/queries.ts';
import type { Event, EventType } from '../../client/sdk.ts';
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
import { ApiLinks } from './api-links.tsx';
import { CodeBlock } from './code-block.tsx';
import { eventTypeOptions } from './event-kinds.ts';
import { LOOKED_BACK_EVENTS, loadEventPage, loadEventsOfType } from './event-pages.ts';

/** What an event is about, in its own words. */
function aboutText({ data }: Event): string {
  const { name, title, url, number, projectId } = data;
  const found = [name, title, url, number, projectId].find((word) => typeof word === 'string');
  return typeof found === 'string' ? found : '';
}

const columns: readonly Column<Event>[] = [
  { header: 'Number', cell: ({ seq }) => seq, width: 80 },
  { header: 'Kind', cell: ({ type }) => <span title={type}>{type}</span> },
  { header: 'About', cell: aboutText, width: '36%', wideOnly: true },
  { header: 'Happened', cell: ({ created_at }) => <Time at={created_at} as="relative" />, width: 110, align: 'right' },
];

function useEvents(type: EventType | undefined, before: string | undefined): ListQuery<Event> {
  const top = before !== undefined && /^\d{1,15}$/.test(before) ? Number(before) : null;
  return useInfiniteQuery({
    queryKey: keys.list('events', { type, top }),
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }): Promise<ListPage<Event>> => {
      const through = pageParam === null ? top : Number(pageParam);
      return type === undefined ? loadEventPage(through) : loadEventsOfType(type, through);
    },
    getNextPageParam: (last) => last.next,
  });
}

export function EventsPage(): ReactNode {
  const { words, set, href } = useWords();
  const live = useLiveState();
  const type = words.event_type as EventType | undefined;
  const query = useEvents(type, words.before);
  const isFiltered = type !== undefined || words.before !== undefined;
  return (
    <>
      <PageHeader title="Events" description={<ApiLinks />}>
        {live === 'live' && words.before === undefined && <StatusBadge status="live" label="Live" tone="good" />}
      </PageHeader>
      <FilterBar names={['event_type', 'before']}>
        <SelectFilter word="event_type" label="Kind" options={eventTypeOptions} />
        <TextFilter word="before" label="Up to number" />
        {type !== undefined && (
          <Text size="xs" c="dimmed">
            Among {words.before === undefined ? 'the latest' : 'the'} {LOOKED_BACK_EVENTS.toLocaleString()} events
            {words.before === undefined ? '' : ` up to ${words.before}`}
          </Text>
        )}
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
