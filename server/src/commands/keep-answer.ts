// Keeps the answer of something that was done outside of the books, so that a repetition of the request gets it. Scope: the route's.

import { accept, type Decision, reject, rejectMissing } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import { type Command, type Envelope, SMALL } from './command.ts';

/** `result` null: nothing was done, because the answer of an earlier request is there to be repeated. */
export function keepAnswer<Result>(envelope: Envelope<Result>, webhookEndpointId: Uuid, result: Result | null): Command<Result> {
  return {
    ...envelope,
    ...SMALL,
    name: 'keep-answer',
    needs: { webhookEndpointId },
    decide(state): Decision<Result> {
      const endpoint = state.webhookEndpoint(webhookEndpointId);
      if (endpoint === undefined || endpoint.deletedAt !== null) return rejectMissing();
      return result === null
        ? reject('overloaded', 'The first request with this Idempotency-Key has not ended; repeat it.')
        : accept(result);
    },
  };
}
