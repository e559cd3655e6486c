// Tells the other processes what was committed: new events and changed keys. After the commit, coalesced, one at a time.
// A lost notification loses nothing: workers look by themselves now and then, and cached keys age.

import type { Committed } from '../commands/lane.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Database } from '../store/database.ts';
import { EVENTS_CHANNEL } from '../webhooks/spread.ts';

export const KEYS_CHANNEL = 'keys';

/** A payload may have 8,000 bytes; past this many ids it is left empty, which means "look at all". */
const MAX_NAMED_WORKSPACES = 200;

export function createAnnouncer(database: Database, onError: (error: unknown) => void) {
  let told = new Set<Uuid>();
  let keys: string[] = [];
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    while (told.size > 0 || keys.length > 0) {
      const workspaces = [...told];
      const changed = keys;
      told = new Set();
      keys = [];
      try {
        for (const key of changed) await database.notify(KEYS_CHANNEL, key);
        if (workspaces.length > 0)
          await database.notify(EVENTS_CHANNEL, workspaces.length > MAX_NAMED_WORKSPACES ? '' : workspaces.join(','));
      } catch (error) {
        onError(error);
      }
    }
    running = null;
  }

  return {
    announce(committed: Committed): void {
      for (const workspaceId of committed.workspaces) told.add(workspaceId);
      for (const key of committed.keys) keys.push(`${key.workspaceId}:${key.id}`);
      if (told.size > 0 || keys.length > 0) running ??= run();
    },
    /** Resolves when everything announced so far has been sent. */
    async settled(): Promise<void> {
      await running;
    },
  };
}
