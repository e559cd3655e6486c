// The last events of the log, newest first, each as it is committed.
// Keeps a handful; the whole log is a page of its own.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useCallback, useState } from 'react';
import { client } from '../../client/client.ts';
import { useLiveEvents, useLiveState } from '../../client/live-events.ts';
import { keys } from '../../client/queries.ts';
import type { Event } from '../../client/sdk.ts';
import { useSession } from '../../session/session.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Rows } from '../../ui/skeletons.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { PlainTimes, Time } from '../../ui/time.tsx';
import { eventWords } from './event-words.ts';
import classes from './home.module.css';
import { Panel } from './panel.tsx';

const SHOWN_EVENTS = 8;

/** The newest of both, each once. */
function newest(kept: readonly Event[], more: readonly Event[]): readonly Event[] {
  const bySeq = new Map([...kept, ...more].map((event) => [event.seq, event]));
  return [...bySeq.values()].sort((a, b) => b.seq - a.seq).slice(0, SHOWN_EVENTS);
}

export function LatestEvents({ latestSeq }: { readonly latestSeq: number }): ReactNode {
  const { workspace } = useSession();
  const [live, setLive] = useState<readonly Event[]>([]);
  useLiveEvents(useCallback((event) => setLive((before) => newest(before, [event])), []));
  const state = useLiveState();
  const from = Math.max(0, latestSeq - SHOWN_EVENTS);
  const query = useQuery({
    queryKey: keys.other('latest_events', workspace.id, from),
    queryFn: async () => (await client.events.list({ after_seq: from, limit: SHOWN_EVENTS })).data,
    placeholderData: keepPreviousData,
  });
  const events = newest(query.data ?? [], live);
  return (
    <Panel title="Latest events" aside={<span className={classes.faint}>{state === 'live' ? 'Live' : 'Connecting…'}</span>}>
      {query.isPending && <Rows count={6} />}
      {query.isError && events.length === 0 && <ErrorNotice error={query.error} retry={() => void query.refetch()} />}
      <PlainTimes value={true}>
        <ul className={classes.list}>
          {events.map((event) => (
            <li key={event.seq}>
              <Entry event={event} />
            </li>
          ))}
        </ul>
      </PlainTimes>
      <TextLink href="/developers/events" className={classes.more}>
        Event log
      </TextLink>
    </Panel>
  );
}

function Entry({ event }: { readonly event: Event }): ReactNode {
  const { title, about, amount, href } = eventWords(event);
  const parts = (
    <>
      <span className={classes.name}>{title}</span>
      <span className="amount">{amount}</span>
      <span className={classes.faint}>{about}</span>
      <span className={classes.faint}>
        <Time at={event.created_at} as="relative" />
      </span>
    </>
  );
  if (href === null) return <div className={classes.item}>{parts}</div>;
  return (
    <TextLink href={href} className={classes.item}>
      {parts}
    </TextLink>
  );
}
