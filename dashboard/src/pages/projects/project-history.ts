// The events of one project, out of the log of the workspace: the log is in the order of time, so the search begins where the project does.
// Reads a bounded number of pages at a time; what happens while it is shown comes in by itself.

import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { client } from '../../client/client.ts';
import { useLiveEvents } from '../../client/live-events.ts';
import { keys } from '../../client/queries.ts';
import type { Event, Project } from '../../client/sdk.ts';
import { placeBefore } from './project-history-place.ts';

const PAGE_EVENTS = 100;
/** How many pages of the log are looked through at a time. */
const MAX_PAGES_AT_ONCE = 10;
interface Stretch {
  readonly events: readonly Event[];
  /** The seq up to which the log was looked through; null at its end. */
  readonly next: number | null;
}

async function eventAfter(seq: number, signal: AbortSignal): Promise<Event | undefined> {
  return (await client.events.list({ after_seq: seq, limit: 1 }, { signal })).data[0];
}

const isOf =
  (projectId: string) =>
  ({ data }: Event): boolean =>
    data.projectId === projectId;

async function lookThrough(projectId: string, from: number, signal: AbortSignal): Promise<Stretch> {
  const events: Event[] = [];
  let seq = from;
  for (let page = 0; page < MAX_PAGES_AT_ONCE; page++) {
    const { data, has_more } = await client.events.list({ after_seq: seq, limit: PAGE_EVENTS }, { signal });
    events.push(...data.filter(isOf(projectId)));
    seq = data.at(-1)?.seq ?? seq;
    if (!has_more) return { events, next: null };
  }
  return { events, next: seq };
}

export function useProjectHistory({ id, created_at }: Project) {
  const [fresh, setFresh] = useState<readonly Event[]>([]);
  useLiveEvents(useCallback((event: Event) => isOf(id)(event) && setFresh((known) => [...known, event]), [id]));
  const query = useInfiniteQuery({
    queryKey: keys.other('project-history', id),
    initialPageParam: null as number | null,
    staleTime: 0,
    refetchOnWindowFocus: false,
    queryFn: async ({ pageParam, signal }): Promise<Stretch> =>
      lookThrough(id, pageParam ?? (await placeBefore(created_at, (seq) => eventAfter(seq, signal))), signal),
    getNextPageParam: ({ next }) => next,
  });
  const bySeq = new Map([...(query.data?.pages ?? []).flatMap(({ events }) => events), ...fresh].map((event) => [event.seq, event]));
  return { query, events: [...bySeq.values()].toSorted((a, b) => b.seq - a.seq) };
}
