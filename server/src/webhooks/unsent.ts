// The result of an attempt that never reached its receiver by a fault of ours: it counts in the schedule, or it would be made for ever.
// Pure; says nothing about the endpoint, which has done nothing.

import type { Uuid } from '../domain/ids.ts';
import type { DeliveryResult } from '../store/delivery-results.ts';
import { decideOutcome } from './schedule.ts';

export interface Unsent {
  readonly workspaceId: Uuid;
  readonly deliveryId: Uuid;
  readonly endpointId: Uuid;
  readonly leaseToken: Uuid;
  /** Attempts that count in the schedule, before this one. */
  readonly tries: number;
}

export function unsentResult(unsent: Unsent, error: string, now: Date, random: () => number): DeliveryResult {
  const { tries, ...keys } = unsent;
  const outcome = decideOutcome(tries + 1, { statusCode: null, retryAfter: null }, now, random);
  return {
    ...keys,
    generation: 0,
    verdict: 'unsent',
    holdMs: null,
    status: outcome.status,
    nextAttemptAt: outcome.status === 'pending' ? outcome.nextAttemptAt : null,
    startedAt: now,
    endedAt: now,
    statusCode: null,
    errorKind: 'not_sent',
    error,
    remoteAddress: null,
    responseHeaders: null,
    responseBody: null,
    responseTruncated: false,
  };
}
