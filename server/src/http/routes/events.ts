// The routes that read the event log.
// They turn a query into a read and a record into an answer, and decide nothing.

import type { Uuid } from '../../domain/ids.ts';
import { eventExample, eventList, eventListQuery, eventResource, presentEvent } from '../../schemas/events.ts';
import { ABSENT } from '../mount.ts';
import { listEnvelope, listExample, type Reads } from '../reads.ts';
import { defineRoute, type Route } from '../route.ts';

export function eventReadRoutes(reads: Reads): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/events',
      operationId: 'listEvents',
      tag: 'Events',
      summary: 'List events',
      description:
        'The event log, oldest first, in the order of commits and without a gap. Unlike other lists it goes forward in time: `next_cursor` is ' +
        'the value of `after_seq` for the next page. On the last page, go on later from the `seq` of the last event you have.',
      scope: 'events:read',
      query: eventListQuery,
      success: {
        status: 200,
        description: 'A page of events.',
        schema: eventList,
        example: listExample(eventExample, String(eventExample.seq)),
      },
      errors: [],
      async handle({ caller, query }) {
        const page = await reads.listEvents(caller.workspaceId, query.after_seq, query.limit);
        const last = page.hasMore ? page.records.at(-1) : undefined;
        return listEnvelope(page, presentEvent, last === undefined ? null : String(last.seq));
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/events/:id',
      operationId: 'getEvent',
      tag: 'Events',
      summary: 'Read an event',
      description: 'The id is the `webhook-id` header of its deliveries.',
      scope: 'events:read',
      ids: { id: 'event' },
      success: { status: 200, description: 'The event.', schema: eventResource, example: eventExample },
      errors: [],
      async handle({ caller, ids }) {
        const event = await reads.getEvent(caller.workspaceId, ids.id as Uuid);
        return event === null ? ABSENT : { body: presentEvent(event) };
      },
    }),
  ];
}
