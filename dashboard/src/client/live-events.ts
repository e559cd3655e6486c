// The event log as it happens: one stream for all tabs of a browser, whose events make kept answers out of date.
// Shows nothing; pages that list events listen through useLiveEvents.

import { useEffect, useSyncExternalStore } from 'react';
import { client } from './client.ts';
import { resourcesTouchedBy, resourcesTouchedByChange } from './news.ts';
import { queryClient } from './queries.ts';
import type { Event } from './sdk.ts';

export type LiveState = 'connecting' | 'live' | 'lost';

type Listener = (event: Event) => void;

const listeners = new Set<Listener>();
const stateListeners = new Set<() => void>();
let state: LiveState = 'connecting';

/** News that comes in a burst is looked at together … */
const GATHER_MS = 300;
/** … and where it never ends, only so often: every look is some requests of the session's limit. */
const REST_MS = 3_000;

/** A list with more pages than this is only marked as out of date: asking for all of them at every event would be a load of its own. */
const MAX_PAGES_ASKED_AGAIN = 4;

const RETRY_MS = 5_000;

function setState(next: LiveState): void {
  if (state === next) return;
  state = next;
  for (const listener of stateListeners) listener();
}

const waiting = new Set<string>();
let isRefreshDue = false;
let refreshedAtMs = Number.NEGATIVE_INFINITY;

function refresh(): void {
  isRefreshDue = false;
  refreshedAtMs = performance.now();
  const resources = new Set(waiting);
  waiting.clear();
  void queryClient.invalidateQueries({
    predicate: ({ queryKey }) => resources.has(String(queryKey[0])),
    refetchType: 'none',
  });
  void queryClient.refetchQueries({
    type: 'active',
    predicate: ({ queryKey, state: { data } }) => {
      const pages = (data as { pages?: readonly unknown[] } | undefined)?.pages;
      return resources.has(String(queryKey[0])) && (pages === undefined || pages.length <= MAX_PAGES_ASKED_AGAIN);
    },
  });
}

function refreshSoon(resources: readonly string[]): void {
  for (const resource of resources) waiting.add(resource);
  if (!isRefreshDue) setTimeout(refresh, Math.max(GATHER_MS, refreshedAtMs + REST_MS - performance.now()));
  isRefreshDue = true;
}

function take(event: Event): void {
  refreshSoon(resourcesTouchedBy(event.type));
  for (const listener of listeners) listener(event);
}

interface Message {
  readonly event?: Event;
  readonly state?: LiveState;
  /** Kinds of records of which something changed without an event. */
  readonly changed?: readonly string[];
}

/** Holds the stream until `signal` ends it, and tells `tell` of everything that comes. */
async function follow(signal: AbortSignal, tell: (message: Message) => void): Promise<void> {
  while (!signal.aborted) {
    try {
      // The stream itself resumes where it was cut; what arrives here has given up.
      tell({ state: 'live' });
      const onChange = (changed: readonly string[]): void => tell({ changed });
      for await (const event of client.events.stream({}, { signal, maxRetries: 5, onChange })) {
        tell({ state: 'live' });
        tell({ event });
      }
    } catch {
      if (signal.aborted) return;
      tell({ state: 'lost' });
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/**
 * Follows the log of a workspace. A browser opens only six connections to a server over HTTP/1.1, so one tab holds the stream and tells the
 * others; when it closes, the next one takes over.
 */
export function startLiveEvents(workspaceId: string): () => void {
  const end = new AbortController();
  const hear = ({ event, state: next, changed }: Message): void => {
    if (next !== undefined) setState(next);
    if (event !== undefined) take(event);
    if (changed !== undefined) refreshSoon(resourcesTouchedByChange(changed));
  };
  const channel = new BroadcastChannel(`tranche.live.${workspaceId}`);
  channel.onmessage = ({ data }: MessageEvent<Message>) => hear(data);
  const lead = (): Promise<void> =>
    follow(end.signal, (message) => {
      hear(message);
      channel.postMessage(message);
    });
  // Pages that were not opened securely have no locks; each then follows by itself.
  if (navigator.locks === undefined) void lead();
  else {
    setState('live');
    navigator.locks.request(`tranche.live.${workspaceId}`, { signal: end.signal }, lead).catch(() => undefined);
  }
  return () => {
    end.abort();
    channel.close();
  };
}

/** Calls `listener` with each event as it is committed. The answers that it makes out of date are asked for again without it. */
export function useLiveEvents(listener: Listener): void {
  useEffect(() => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, [listener]);
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (changed) => {
      stateListeners.add(changed);
      return () => void stateListeners.delete(changed);
    },
    () => state,
  );
}
