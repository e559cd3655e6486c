// Counts the API's requests by operation and status, and how long their answers took.
// On the road of every request: one array write and one histogram each, nothing else. Knows no request, key or workspace.

import { type Family, Histogram, REQUEST_BOUNDS_S, type Sample } from './instruments.ts';

/** HTTP statuses are below this. */
const STATUSES = 600;

/** What the HTTP layer is handed, one for each operation. */
export interface RequestMeter {
  answered(status: number, durationMs: number): void;
}

export interface RequestMeters {
  meterOf(operation: string): RequestMeter;
  families(): Family[];
}

class OperationMeter implements RequestMeter {
  readonly byStatus = new Uint32Array(STATUSES);
  readonly durationsS = new Histogram(REQUEST_BOUNDS_S);

  answered(status: number, durationMs: number): void {
    this.byStatus[status] = (this.byStatus[status] as number) + 1;
    this.durationsS.observe(durationMs / 1000);
  }
}

export function createRequestMeters(): RequestMeters {
  const meters = new Map<string, OperationMeter>();
  return {
    meterOf(operation) {
      const meter = meters.get(operation) ?? new OperationMeter();
      meters.set(operation, meter);
      return meter;
    },
    families() {
      const samples: Sample[] = [];
      for (const [operation, { byStatus }] of meters)
        byStatus.forEach((value, status) => {
          if (value > 0) samples.push({ labels: { operation, status: String(status) }, value });
        });
      return [
        { name: 'tranche_http_requests_total', help: 'Requests answered, by operation and status.', type: 'counter', samples },
        {
          name: 'tranche_http_request_duration_seconds',
          help: 'From the end of the headers of a request until its answer was handed to the socket.',
          type: 'histogram',
          series: Array.from(meters, ([operation, { durationsS }]) => ({ labels: { operation }, histogram: durationsS })),
        },
      ];
    },
  };
}
