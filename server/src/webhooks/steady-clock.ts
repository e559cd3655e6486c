// A clock that follows the database's and does not jump: between two looks at it, time passes by a counter that only ever grows.
// So all processes agree on when something is due, whatever the clocks of their machines say.

export interface SteadyClock {
  now(): Date;
  /** Takes the database's time in, as it is at this moment. */
  learn(time: Date): void;
}

export function createSteadyClock({ wall, uptimeMs }: { wall: () => number; uptimeMs: () => number }): SteadyClock {
  // Until the database has been asked, the machine's clock will do.
  let offsetMs = wall() - uptimeMs();
  return {
    now: () => new Date(uptimeMs() + offsetMs),
    learn(time) {
      offsetMs = time.getTime() - uptimeMs();
    },
  };
}
