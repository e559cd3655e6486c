// The route that sends the event log as it grows, over a connection that stays open.
// Says where a stream begins; the stream itself is the business of event-streams.ts.

import { eventStreamExample, eventStreamQuery, eventStreamText } from '../../schemas/event-stream.ts';
import { sequence } from '../../schemas/events.ts';
import type { Reads } from '../reads.ts';
import { defineRoute, type Route } from '../route.ts';
import { validationFailed } from '../validation.ts';

export function eventStreamRoutes(reads: Reads): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/events/stream',
      operationId: 'streamEvents',
      tag: 'Events',
      summary: 'Stream events',
      description:
        'Server-Sent Events: what is committed, within milliseconds, in order and without a gap. Each message carries the `seq` of its event as ' +
        '`id`; a client that comes back with `Last-Event-ID` goes on from there, on any server. A reader that stops reading for 10 s is cut, a ' +
        'stream whose key is revoked ends, and one that is open counts as one request of the limit. It is for catching up without webhooks: ' +
        'nothing is stored about who has read what. To a person with a session it also sends messages of the kind `change`, which say what sort of ' +
        'record changed without an event, such as `{"resources": ["milestones"]}`; they may be missed.',
      scope: 'events:read',
      query: eventStreamQuery,
      success: {
        status: 200,
        description: 'The stream; it has no end of its own.',
        schema: eventStreamText,
        example: eventStreamExample,
        contentType: 'text/event-stream',
      },
      errors: ['too_many_streams'],
      async handle({ caller, query, lastEventId }) {
        const resumed = lastEventId === undefined ? undefined : sequence.safeParse(lastEventId);
        if (resumed?.success === false) return WRONG_ID;
        return reads.openEventStream(caller, {
          afterSeq: resumed?.data ?? query.after_seq ?? null,
          types: query.event_types ?? null,
          isResumed: resumed !== undefined,
        });
      },
    }),
  ];
}

const WRONG_ID = validationFailed([
  { pointer: 'header/Last-Event-ID', code: 'wrong_format', message: 'Must be the id of a message of this stream: the seq of an event.' },
]);
