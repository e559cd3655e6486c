// Tells every process what changed without an event, for the pages that people look at. After the commit, coalesced, at most four times a second.
// A hint that cannot be sent is dropped: pages ask again by themselves now and then.

import { setTimeout as pause } from 'node:timers/promises';
import { type ChangeHints, hintTexts } from '../domain/change-hint.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Database } from '../store/database.ts';

export const CHANGES_CHANNEL = 'changes';

/** Between two announcements. The first after a rest goes at once; they are for eyes, and under load those of many commits go together. */
const GAP_MS = 250;

export function createHintAnnouncer(database: Pick<Database, 'notify'>, onError: (error: unknown) => void) {
  let waiting = new Map<Uuid, Set<string>>();
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    while (waiting.size > 0) {
      const texts = hintTexts(waiting);
      waiting = new Map();
      try {
        for (const text of texts) await database.notify(CHANGES_CHANNEL, text);
      } catch (error) {
        onError(error);
      }
      await pause(GAP_MS, undefined, { ref: false });
    }
    isRunning = false;
  }

  return {
    announce(hints: ChangeHints): void {
      if (hints.size === 0) return;
      for (const [workspaceId, resources] of hints) waiting.set(workspaceId, new Set([...(waiting.get(workspaceId) ?? []), ...resources]));
      if (!isRunning) void run();
    },
    /** Nothing more is sent: whoever stops does not wait for a hint. */
    stop(): void {
      waiting.clear();
    },
  };
}
