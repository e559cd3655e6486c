// The request of an attempt, put together as the server does it: the body exactly, and those headers that can be known afterwards.
// Pure. Signatures are made anew for each attempt and are not kept; values of an endpoint's own headers can be read by nobody.

import type { Delivery, DeliveryAttempt, Event } from '../../client/sdk.ts';

/** The exact bytes: the event's kind, then its data, in the order in which they are stored. */
export const webhookBody = ({ type, data }: Pick<Event, 'type' | 'data'>): string => JSON.stringify({ event: type, data });

const MS_PER_SECOND = 1_000;

export function requestHeaders(
  { event_id, event_seq, previous_event_seq }: Pick<Delivery, 'event_id' | 'event_seq' | 'previous_event_seq'>,
  { number, started_at }: Pick<DeliveryAttempt, 'number' | 'started_at'>,
  own: readonly string[],
): Record<string, string> {
  return {
    ...Object.fromEntries(own.map((name) => [name, '••••••••'])),
    'content-type': 'application/json',
    'webhook-id': event_id,
    'webhook-timestamp': String(Math.floor(new Date(started_at).getTime() / MS_PER_SECOND)),
    'webhook-signature': '(made anew for each attempt; not kept)',
    'Tranche-Seq': String(event_seq),
    ...(previous_event_seq === null ? {} : { 'Tranche-Prev-Seq': String(previous_event_seq) }),
    'Tranche-Attempt': String(number),
    'user-agent': 'Tranche/(the version that sent it)',
  };
}
