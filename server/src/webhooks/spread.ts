// Which workspaces have events to fan out: those that a notification named, or all of them when none can be sure.
// Holds no event; what it forgets is found again by looking at all.

import type { Uuid } from '../domain/ids.ts';
import type { Database } from '../store/database.ts';
import { fanOut } from '../store/fan-out.ts';

/** The channel on which commits tell of new events: the ids of their workspaces with commas between, or nothing for "look at all". */
export const EVENTS_CHANNEL = 'events';
/** The channel on which it is told that deliveries were made due again: nothing is to be fanned out, but there is something to claim. */
export const DUE_CHANNEL = 'due';
/** Workspaces remembered from notifications; beyond it, all are looked at. */
const MAX_NAMED_WORKSPACES = 1_000;
/** Events that one pass fans out. */
const MAX_EVENTS = 500;

export interface Spread {
  /** Takes a notification in. */
  hear(payload: string): void;
  /** Makes the next pass look at all workspaces. */
  lookAtAll(): void;
  /** Fans out a bounded number of events. Tells whether there may be more, and how many deliveries it made. */
  pass(): Promise<{ readonly isBehind: boolean; readonly deliveries: number }>;
}

export function createSpread({ database, newId, now }: { database: Database; newId: () => Uuid; now: () => Date }): Spread {
  const named = new Set<Uuid>();
  let isBlind = true;
  return {
    hear(payload) {
      if (payload === '' || named.size > MAX_NAMED_WORKSPACES) isBlind = true;
      else for (const workspaceId of payload.split(',')) named.add(workspaceId);
    },
    lookAtAll() {
      isBlind = true;
    },
    async pass() {
      const workspaceIds = isBlind ? null : [...named];
      if (workspaceIds?.length === 0) return { isBehind: false, deliveries: 0 };
      isBlind = false;
      named.clear();
      try {
        const result = await fanOut(database, { workspaceIds, limit: MAX_EVENTS, newId, now: now() });
        for (const workspaceId of result.unfinished) named.add(workspaceId);
        if (result.more) isBlind = true;
        return { isBehind: isBlind || named.size > 0, deliveries: result.deliveries };
      } catch (error) {
        isBlind = true;
        throw error;
      }
    },
  };
}
