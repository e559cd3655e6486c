// What counting a request costs on its road: two readings of the clock, one array, one histogram. Prints µs; `node bench/request-meter.ts`.
// Measures the meter alone, in a loop; the rest of a request is run.ts's business.

import { createRequestMeters } from '../server/src/operations/request-meters.ts';

const REQUESTS = 2_000_000;
const ROUNDS = 5;

const exchange = { meter: createRequestMeters().meterOf('getProject'), startedAtMs: 0 };

function roundUs(): number {
  const begunAtMs = performance.now();
  for (let request = 0; request < REQUESTS; request += 1) {
    exchange.startedAtMs = performance.now();
    // Durations of up to ten milliseconds, so that every bucket up to there is walked to.
    exchange.meter.answered(200, performance.now() - exchange.startedAtMs + (request % 1_000) / 100);
  }
  return ((performance.now() - begunAtMs) / REQUESTS) * 1_000;
}

const rounds = Array.from({ length: ROUNDS }, roundUs);
process.stdout.write(
  `${Math.min(...rounds).toFixed(3)} µs a request at best, ${Math.max(...rounds).toFixed(3)} at worst of ${ROUNDS} rounds\n`,
);
