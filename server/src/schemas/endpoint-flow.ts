// How an endpoint is sent to, on the wire: its caps and order, which its owner sets, and its health, which its answers set.
// Describes and presents; decides nothing.

import { z } from 'zod';
import { breakerStates, type EndpointHealth } from '../domain/endpoint-flow.ts';
import {
  DEFAULT_MAX_CONCURRENCY,
  endpointOrderings,
  MAX_CONCURRENCY,
  MAX_RATE_PER_SECOND,
  type WebhookEndpoint,
} from '../domain/webhook-endpoint.ts';
import { countField, integerBetween, timestamp, wanted } from './text.ts';

const ordering = z.enum(endpointOrderings, wanted(`one of ${endpointOrderings.join(', ')}`)).meta({
  id: 'EndpointOrdering',
  description:
    '`none`: each event is sent as soon as it can be. `project`: the events of one project arrive one after the other; one that fails holds back ' +
    'the later ones of its project, and of no other, until it is delivered or given up.',
});
const maxConcurrency = integerBetween(1, MAX_CONCURRENCY, `a whole number from 1 to ${MAX_CONCURRENCY}`);
const ratePerSecond = integerBetween(1, MAX_RATE_PER_SECOND, `a whole number from 1 to ${MAX_RATE_PER_SECOND}`);

/** What a request may set. */
export const flowSettings = {
  max_concurrency: maxConcurrency.optional().meta({
    description: `Deliveries under way to it at once, at most. Default: ${DEFAULT_MAX_CONCURRENCY}.`,
  }),
  rate_limit_per_second: ratePerSecond.nullable().optional().meta({
    description: 'Deliveries begun in any one second, at most. Default: null, as many as there are.',
  }),
  ordering: ordering.optional().meta({ description: 'In which order events arrive, from those on that happen next. Default: `none`.' }),
};

/** What an answer shows. */
export const flowFields = {
  max_concurrency: countField('Deliveries under way to it at once, at most.', 1),
  rate_limit_per_second: z
    .number()
    .nullable()
    .meta({
      type: ['integer', 'null'],
      description: 'Deliveries begun in any one second, at most; null: as many as there are.',
    }),
  ordering,
  breaker: z.enum(breakerStates).meta({
    id: 'BreakerState',
    description:
      '`closed`: it is sent to. `open`: it has failed so often that only a probe is sent now and then. `half_open`: a probe is under way or was ' +
      'acknowledged, and deliveries are taken up again one by one.',
  }),
  consecutive_failures: countField('Failed attempts since the last one that it acknowledged.'),
  failing_since: timestamp('When the first of those failed; null while there are none.').nullable(),
  next_probe_at: timestamp('When an open breaker lets the next attempt through; null otherwise.').nullable(),
};

export const flowExample = {
  max_concurrency: DEFAULT_MAX_CONCURRENCY,
  rate_limit_per_second: null,
  ordering: 'none' as const,
  breaker: 'closed' as const,
  consecutive_failures: 0,
  failing_since: null,
  next_probe_at: null,
};

export function presentFlow({ maxConcurrency: concurrency, rateLimitPerSecond, ordering: order, health }: WebhookEndpoint) {
  return {
    max_concurrency: concurrency,
    rate_limit_per_second: rateLimitPerSecond,
    ordering: order,
    ...presentHealth(health),
  };
}

const presentHealth = ({ breaker, failures, failingSince, probeAt }: EndpointHealth) => ({
  breaker,
  consecutive_failures: failures,
  failing_since: failingSince?.toISOString() ?? null,
  next_probe_at: probeAt?.toISOString() ?? null,
});
