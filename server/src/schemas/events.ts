// The event log on the wire: the resource, the query of its list (ascending by sequence number), and the presenter.
// Read only. What a webhook carries is in webhook-payloads.ts.

import { z } from 'zod';
import { allEventTypes, type Event, type EventType } from '../domain/event.ts';
import { encodeId } from '../domain/ids.ts';
import { formatTimestamp } from '../domain/timestamp.ts';
import { limitField, listOf } from './lists.ts';
import { countField, exampleId, idField, idFilter, timestamp, wanted } from './text.ts';

export const eventType = z
  .enum(allEventTypes, wanted(`one of ${allEventTypes.join(', ')}`))
  .meta({ id: 'EventType', description: 'The kind of event.' });

export const eventExample = {
  id: exampleId('event', 6),
  object: 'event' as const,
  seq: 4,
  type: 'payment.released' as const,
  created_at: '2026-03-21T08:00:00.000Z',
  data: { projectId: exampleId('project'), milestoneId: exampleId('milestone', 2), amount: 150000, currency: 'USD' },
};

export const eventResource = z
  .object({
    id: idField('event', 'Also the `webhook-id` header of its deliveries.'),
    object: z.literal('event'),
    seq: countField('Its place in the workspace: 1, 2, 3 … in the order of commits, without a gap.', 1),
    type: eventType,
    created_at: timestamp('When it happened.'),
    data: z.record(z.string(), z.unknown()).meta({ description: 'The payload: exactly the `data` that webhooks carry for this type.' }),
  })
  .meta({ id: 'Event', description: 'Something that happened. Events are never changed and never removed.', example: eventExample });

export function presentEvent(event: Event): z.output<typeof eventResource> {
  const { data } = JSON.parse(event.body) as { data: Record<string, unknown> };
  return {
    id: encodeId('event', event.id),
    object: 'event',
    seq: event.seq,
    type: event.type,
    created_at: formatTimestamp(event.createdAt),
    data,
  };
}

export const eventList = listOf('EventList', eventResource, eventExample, {
  description: 'One page of the event log, oldest first; with `order=desc` newest first.',
  nextCursor: 'The value of `after_seq` for the next page, with `order=desc` that of `before_seq`; null on the last page.',
  example: '4',
});

const SEQUENCE = 'a sequence number: 0, or the seq of an event';

/** A place in the event log, as text; a number from here on. */
export const sequence = z
  .string({ error: `Must be ${SEQUENCE}, given once.` })
  .transform((text, context): number => {
    const seq = /^\d{1,16}$/.test(text) ? Number(text) : -1;
    if (Number.isSafeInteger(seq) && seq >= 0) return seq;
    context.issues.push({ code: 'invalid_format', format: 'sequence', input: text, message: `Must be ${SEQUENCE}.` });
    return z.NEVER;
  })
  .meta({ type: 'integer', format: 'int64', minimum: 0 });

const TYPES = `kinds of event with commas between, none of them twice: ${allEventTypes.join(', ')}`;

const isEventType = (text: string): text is EventType => (allEventTypes as readonly string[]).includes(text);

/** Some kinds of events, as one text. */
export const eventTypesFilter = z.string({ error: `Must be ${TYPES}.` }).transform((text, context): ReadonlySet<EventType> => {
  const types = text.split(',');
  const known = types.filter(isEventType);
  if (known.length === types.length && new Set(known).size === known.length) return new Set(known);
  context.issues.push({ code: 'invalid_format', format: 'event_types', input: text, message: `Must be ${TYPES}.` });
  return z.NEVER;
});

export const eventListQuery = z.strictObject({
  limit: limitField,
  after_seq: sequence.default(0).meta({
    type: 'integer',
    format: 'int64',
    minimum: 0,
    description:
      'Return the events after this sequence number. Remember the last one you handled and ask on from there. Default: 0, the beginning.',
  }),
  before_seq: sequence.optional().meta({
    type: 'integer',
    format: 'int64',
    minimum: 0,
    description: 'Return the events before this sequence number. With `order=desc` it leads from page to page. Left out: up to the end.',
  }),
  order: z
    .enum(['asc', 'desc'], wanted('asc or desc'))
    .default('asc')
    .meta({ description: '`asc`: oldest first, which is how to follow the log. `desc`: newest first, which is how to look back.' }),
  event_types: eventTypesFilter.optional().meta({
    description: 'Only these kinds, with commas between. Left out: every kind.',
    example: 'milestone.approved,payment.released',
  }),
  project_id: idFilter('project').optional().meta({ description: 'Only events of this project and of what belongs to it.' }),
});
