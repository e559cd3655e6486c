// List reads that may be a little behind: asked for by a header, served by the replica, and by the primary wherever the replica will not do.
// Everything that is not asked for so sees its own writes. Knows no resource.

import type { Refusal } from '../domain/errors.ts';
import type { Replica } from '../store/replica.ts';
import { isRefusal, type Route } from './route.ts';
import { validationFailed } from './validation.ts';

export const CONSISTENCY_HEADER = 'Tranche-Consistency';
/** `strong` is what a list is without the header. */
export const consistencies = ['strong', 'eventual'] as const;

/** Whether a list may be a little behind, as the request says. */
export function parseConsistency(header: string | undefined): { readonly isEventual: boolean } | { readonly refusal: Refusal } {
  if (header === undefined || header === 'strong') return { isEventual: false };
  if (header === 'eventual') return { isEventual: true };
  const message = `Must be one of: ${consistencies.join(', ')}.`;
  return { refusal: validationFailed([{ pointer: `header/${CONSISTENCY_HEADER}`, code: 'not_allowed', message }]) };
}

/** How eventual reads went, for the metrics. */
export interface EventualCounts {
  replica: number;
  /** The replica was not usable, or failed. */
  primary: number;
}

export interface EventualReads {
  /** The way of a list when it may be behind; undefined for what is no list. */
  handleOf(route: Route): Route['handle'] | undefined;
}

/**
 * `replicaRoutes` are the same routes over reads of the replica. What the replica does not have, the primary may: a refusal of the replica is
 * never the last word, since a project that was made a moment ago may still be unknown there.
 */
export function createEventualReads(
  replica: Pick<Replica, 'isUsable' | 'ask'>,
  replicaRoutes: readonly Route[],
  counts: EventualCounts,
): EventualReads {
  const byName = new Map(replicaRoutes.map((route) => [route.operationId, route]));

  return {
    handleOf(route) {
      const twin = byName.get(route.operationId);
      if (twin === undefined) return undefined;
      return async (request) => {
        if (replica.isUsable()) {
          try {
            const outcome = await replica.ask(() => twin.handle(request));
            if (!isRefusal(outcome) && 'body' in outcome) {
              counts.replica += 1;
              return { ...outcome, headers: { ...outcome.headers, [CONSISTENCY_HEADER]: 'eventual' } };
            }
          } catch {
            // The replica has said why in the log; a failure that is not its own will show itself again on the primary.
          }
        }
        counts.primary += 1;
        return route.handle(request);
      };
    },
  };
}
