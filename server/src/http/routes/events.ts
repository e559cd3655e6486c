// The routes that read the event log.
// They turn a query into a read and a record into an answer, and decide nothing.

import { eventExample, eventList, eventListQuery, eventResource, presentEvent } from '../../schemas/events.ts';
import { LOOKED_THROUGH_EVENTS } from '../../store/events.ts';
import { listEnvelope, listExample, type Reads, readsOne } from '../reads.ts';
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
        'The event log, in the order of commits and without a gap. Unlike other lists it goes forward in time: `next_cursor` is the value of ' +
        '`after_seq` for the next page. On the last page, go on later from the `seq` of the last event you have. With `order=desc` it goes ' +
        `back from the latest, and \`next_cursor\` is the value of \`before_seq\`. Where it is filtered, a page looks through ${LOOKED_THROUGH_EVENTS.toLocaleString('en')} ` +
        'events at most: it may hold fewer than `limit`, even none, and still have more after it.',
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
        const { after_seq, before_seq, order, event_types, project_id, limit } = query;
        const choice = { afterSeq: after_seq, beforeSeq: before_seq, order, types: event_types, projectId: project_id };
        const { records, next } = await reads.searchEvents(caller.workspaceId, choice, limit);
        return listEnvelope({ records, hasMore: next !== null }, presentEvent, next === null ? null : String(next));
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
      handle: readsOne(reads.getEvent, (event) => ({ body: presentEvent(event) })),
    }),
  ];
}
