// How far the heap may grow between two full collections. Sets a switch of V8 and nothing else.

import { setFlagsFromString } from 'node:v8';

/**
 * By so much of what is alive, some 50 MB, in percent. The next collection begins when less is left of that than the young generation may
 * have, 64 MB: at 150 % it began after 7 MB, where the one before had been at rest. Without any, V8 chooses about an eighth after a rest and
 * collects everything each second or two under load, for 50 to 70 ms on two cores.
 */
const GROWTH_PERCENT = 300;

/**
 * For a process that goes on for long, once it has started: what V8 keeps compiled for the next start it keeps for its switches, too, and would
 * compile anew whatever is loaded after this. Within the limit that Node was started with, as ever.
 */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
