// The event log from its end: the API lists it from its beginning, and its numbers have no gap, so that any page can be asked for by number.
// Finds the end with few requests, and remembers for each workspace how far the log went when it last looked.

import { client } from '../../client/client.ts';
import type { ListPage } from '../../client/queries.ts';
import type { Event, EventType } from '../../client/sdk.ts';
import { chosenWorkspace } from '../../client/workspace-choice.ts';

const PAGE_EVENTS = 50;
const MAX_PAGE_EVENTS = 100;
/** How far back a kind is looked for: the API filters the log by nothing. */
export const LOOKED_BACK_EVENTS = 1_000;
/** Growing steps reach any number that the log can have well before this. */
const MAX_PROBES = 100;
const STEP_GROWTH = 4;

const seen = new Map<string | null, number>();

/** A number that the log has certainly reached: by the latest delivery, where there is one. */
async function firstGuess(): Promise<number> {
  const { data } = await client.deliveries.list({ limit: 1 });
  return data[0]?.event_seq ?? 0;
}

/** The number of the last event; 0 in an empty log. */
export async function findLastSeq(): Promise<number> {
  const workspace = chosenWorkspace();
  let reached = seen.get(workspace) ?? (await firstGuess());
  // Nothing comes after this one; it may be the last itself.
  let beyond: number | null = null;
  let step = MAX_PAGE_EVENTS;
  let from = reached;
  for (let probe = 0; probe < MAX_PROBES; probe++) {
    const { data, has_more } = await client.events.list({ after_seq: from, limit: MAX_PAGE_EVENTS });
    const last = data.at(-1)?.seq;
    if (last === undefined && from === reached) break;
    if (last === undefined) beyond = from;
    else {
      reached = last;
      if (!has_more) break;
    }
    if (beyond !== null && beyond <= reached) break;
    step *= STEP_GROWTH;
    from = beyond === null ? reached + step : reached + Math.floor((beyond - reached) / 2);
  }
  seen.set(workspace, reached);
  return reached;
}

async function eventsUpTo(through: number, count: number): Promise<Event[]> {
  const after_seq = Math.max(0, through - count);
  if (through === after_seq) return [];
  const { data } = await client.events.list({ after_seq, limit: through - after_seq });
  return data.reverse();
}

/** A page of the log, latest first, from `through` backwards; null: from its end. The cursor of the next page is where it goes on. */
export async function loadEventPage(through: number | null): Promise<ListPage<Event>> {
  const from = through ?? (await findLastSeq());
  const items = await eventsUpTo(from, PAGE_EVENTS);
  return { items, next: from > PAGE_EVENTS ? String(from - PAGE_EVENTS) : null };
}

/** The events of one kind among the latest, in one page. */
export async function loadEventsOfType(type: EventType, through: number | null): Promise<ListPage<Event>> {
  const from = through ?? (await findLastSeq());
  const starts: number[] = [];
  for (let at = from; at > Math.max(0, from - LOOKED_BACK_EVENTS); at -= MAX_PAGE_EVENTS) starts.push(at);
  const items: Event[] = [];
  for (const start of starts) items.push(...(await eventsUpTo(start, MAX_PAGE_EVENTS)).filter((event) => event.type === type));
  return { items, next: null };
}
