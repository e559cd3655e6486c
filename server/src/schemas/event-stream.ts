// The event stream on the wire: its query, where it begins, and an example of what it sends.
// Its messages carry the same Event as the list; what sends them is in http.

import { z } from 'zod';
import { eventExample, eventTypesFilter, sequence } from './events.ts';

export const eventStreamQuery = z.strictObject({
  after_seq: sequence.optional().meta({
    type: 'integer',
    format: 'int64',
    minimum: 0,
    description:
      'Only events after this one, those that exist at once. Left out: those that are committed from now on. `Last-Event-ID` goes before it.',
  }),
  event_types: eventTypesFilter.optional().meta({
    description: 'Send these kinds only, with commas between. Left out: every kind.',
    example: 'milestone.approved,payment.released',
  }),
});

export const eventStreamExample = `retry: 2000
id: 3

id: 4
data: ${JSON.stringify(eventExample)}

: still here

`;

export const eventStreamText = z.string().meta({
  description:
    'Server-Sent Events. Each message is one event: `id` is its `seq`, `data` an Event as JSON. Comments keep the connection open; a message without data only moves the place on.',
});
