// Tells the other processes what was committed: new events and changed keys. After the commit, coalesced, one at a time.
// A lost notification loses nothing: workers look by themselves now and then, and cached keys age.

import { setTimeout as pause } from 'node:timers/promises';
import type { Committed } from '../commands/carry-out.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Database } from '../store/database.ts';
import { EVENTS_CHANNEL } from '../webhooks/spread.ts';

export const KEYS_CHANNEL = 'keys';

/** A payload may have 8,000 bytes; past this many ids it is left empty, which means "look at all". */
const MAX_NAMED_WORKSPACES = 200;
const RETRY_PAUSE_MS = 250;
/** Between two announcements. The first after a rest goes at once; under load those of many commits go together. */
const GAP_MS = 5;
/** In a row; then it waits for the next commit to try again, and others notice by themselves meanwhile. */
const MAX_FAILURES = 20;

export function createAnnouncer(database: Database, onError: (error: unknown) => void) {
  const told = new Set<Uuid>();
  const keys = new Set<string>();
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    for (let failures = 0; (told.size > 0 || keys.size > 0) && failures <= MAX_FAILURES; ) {
      const workspaces = [...told];
      const changed = [...keys];
      told.clear();
      keys.clear();
      try {
        for (const key of changed) await database.notify(KEYS_CHANNEL, key);
        if (workspaces.length > 0)
          await database.notify(EVENTS_CHANNEL, workspaces.length > MAX_NAMED_WORKSPACES ? '' : workspaces.join(','));
        failures = 0;
        await pause(GAP_MS);
      } catch (error) {
        // Told again after a pause, together with what has come since.
        for (const workspaceId of workspaces) told.add(workspaceId);
        for (const key of changed) keys.add(key);
        failures += 1;
        onError(error);
        await pause(RETRY_PAUSE_MS);
      }
    }
    running = null;
  }

  return {
    announce(committed: Committed): void {
      for (const workspaceId of committed.workspaces) told.add(workspaceId);
      for (const key of committed.keys) keys.add(`${key.workspaceId}:${key.id}`);
      if (told.size > 0 || keys.size > 0) running ??= run();
    },
    /** Resolves when everything announced so far has been sent. */
    async settled(): Promise<void> {
      await running;
    },
  };
}
