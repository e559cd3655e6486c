// What admission control costs a request that is let in: the question at the gate, and the tally around its work. Prints µs; `node bench/load-gate.ts`.
// Measures the gate alone, in a loop, with a real pool and lane that nobody waits for; the rest of a request is run.ts's business.

import { createLoadGate } from '../server/src/http/load-gate.ts';
import { Holds } from '../server/src/store/holds.ts';

const REQUESTS = 2_000_000;
const ROUNDS = 5;
const WORKSPACES = 64;
const AT_ONCE = 64;

const holds = new Holds(10);
const quiet = { info: () => {}, warn: () => {}, error: () => {} };
const gate = createLoadGate({
  databaseWaitMs: () => holds.expectedWaitMs(0),
  isLaneBusyFor: () => false,
  maxWaitMs: 250,
  uptimeMs: () => performance.now(),
  log: quiet,
});
const workspaces = Array.from({ length: WORKSPACES }, (_, i) => `01993c5a-8f00-7000-8000-${String(i).padStart(12, '0')}`);

function roundUs(): number {
  const tallies = workspaces.slice(0, AT_ONCE).map((workspaceId) => gate.began(workspaceId));
  const begunAtMs = performance.now();
  for (let request = 0; request < REQUESTS; request += 1) {
    const workspaceId = workspaces[request % WORKSPACES] as string;
    gate.refuses(workspaceId, request % 4 === 0);
    gate.ended(tallies[request % AT_ONCE] as (typeof tallies)[0]);
    tallies[request % AT_ONCE] = gate.began(workspaceId);
  }
  const tookMs = performance.now() - begunAtMs;
  for (const tally of tallies) gate.ended(tally);
  return (tookMs / REQUESTS) * 1_000;
}

const rounds = Array.from({ length: ROUNDS }, roundUs);
process.stdout.write(
  `${Math.min(...rounds).toFixed(3)} µs a request at best, ${Math.max(...rounds).toFixed(3)} at worst of ${ROUNDS} rounds\n`,
);
