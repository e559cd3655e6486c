// How long the next statement would wait for a connection: from what waits, and how long connections are held.
// Runs nothing and refuses nobody; it only says what is to be expected.

/** The weight of the latest hold in the average: sixteen holds are a few milliseconds of a busy service. */
const WEIGHT = 1 / 16;
/** One hold alone says little: it counts for no more than this many times the average, and so much more. */
const MOST_OF_AVERAGE = 4;
const MOST_BEYOND_MS = 10;
/** So few that wait say nothing: a burst, or a pause of the database that ends by itself. */
const NEGLIGIBLE_WAITING = 8;

/** A connection that is in use. */
export interface Hold {
  readonly sinceMs: number;
}

export class Holds {
  readonly #places: number;
  /** In the order of their beginning. */
  readonly #active = new Set<Hold>();
  #averageMs = 0;

  /** `places`: how many connections there are at most. */
  constructor(places: number) {
    this.#places = places;
  }

  begin(): Hold {
    const hold = { sinceMs: performance.now() };
    this.#active.add(hold);
    return hold;
  }

  end(hold: Hold): void {
    this.#active.delete(hold);
    const heldMs = Math.min(performance.now() - hold.sinceMs, MOST_OF_AVERAGE * this.#averageMs + MOST_BEYOND_MS);
    this.#averageMs += (heldMs - this.#averageMs) * WEIGHT;
  }

  /**
   * What one more would wait behind `waiting` others, who are served in turn. A database that has just become slow is seen by the age of
   * the holds before the first of them has ended: by their median, since a few are always held for long, waiting for a lock.
   */
  expectedWaitMs(waiting: number): number {
    if (waiting < Math.max(NEGLIGIBLE_WAITING, this.#places)) return 0;
    return (waiting * Math.max(this.#averageMs, this.#medianAgeMs())) / this.#places;
  }

  #medianAgeMs(): number {
    let left = this.#active.size >> 1;
    for (const { sinceMs } of this.#active) {
      if (left === 0) return performance.now() - sinceMs;
      left -= 1;
    }
    return 0;
  }
}
