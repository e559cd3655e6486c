// Clearing away the attempts to sign in whose window is over. Whoever tries many addresses leaves a row for each, and no success comes after.
// In small bites with pauses between them, so that nobody waits for it.

import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../store/database.ts';
import { pruneAttempts } from '../store/people.ts';

const BITE = 1_000;
/** Bites of one round; what is left waits for the next round. */
const MAX_BITES = 5_000;
const BITE_PAUSE_MS = 20;

/** Returns how many went. */
export async function clearAttempts(database: Database, now: Date, signal?: AbortSignal): Promise<number> {
  let cleared = 0;
  for (let bites = 0; bites < MAX_BITES && signal?.aborted !== true; bites++) {
    const gone = await pruneAttempts(database, now, BITE);
    cleared += gone;
    if (gone < BITE) break;
    await pause(BITE_PAUSE_MS);
  }
  return cleared;
}
