// How far the heap may grow between two full collections. Sets a switch of V8 and nothing else.

import { setFlagsFromString } from 'node:v8';

/**
 * By so much of what is alive, in percent. V8's own choice for a small heap that was idle for a while is about an eighth, a few megabytes: under load
 * it then collects everything each second or two, for 50 to 70 ms on two cores, and stays so. What is alive here is some 50 MB.
 */
const GROWTH_PERCENT = 150;

/**
 * For a process that goes on for long, once it has started: what V8 keeps compiled for the next start it keeps for its switches, too, and would
 * compile anew whatever is loaded after this. Within the limit that Node was started with, as ever.
 */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
