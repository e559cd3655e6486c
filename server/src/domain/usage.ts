// What keys use of their rate limit, as people see it: this minute, and hour by hour.
// Pure types. Counted from leases that are over, never on the road of a request.

import type { Uuid } from './ids.ts';

export interface HourUsage {
  readonly hour: Date;
  readonly requests: number;
  readonly busiestMinute: number;
}

export interface KeyUsage {
  readonly keyId: Uuid;
  readonly name: string;
  readonly hint: string;
  /** Of this minute, over all processes, with what they hold in hand. */
  readonly used: number;
  /** Newest first. */
  readonly hours: readonly HourUsage[];
}
