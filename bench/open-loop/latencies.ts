// Times in buckets that are one hundredth apart, so that millions of them take the memory of a few thousand numbers.
// Counts only; reads no clock.

export interface Distribution {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** The smallest time that is told apart from nothing: a microsecond. */
const SMALLEST_MS = 0.001;
const STEP = Math.log(1.01);
/** Up to about twenty minutes. */
const BUCKETS = 2_100;

export class Latencies {
  readonly #counts = new Float64Array(BUCKETS);
  #count = 0;
  #maxMs = 0;

  add(ms: number): void {
    const bucket = ms <= SMALLEST_MS ? 0 : Math.min(BUCKETS - 1, Math.floor(Math.log(ms / SMALLEST_MS) / STEP));
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#count += 1;
    if (ms > this.#maxMs) this.#maxMs = ms;
  }

  /** The time within which this share of all ended, at most a hundredth too long; NaN where there are none. */
  quantile(share: number): number {
    if (this.#count === 0) return Number.NaN;
    const rank = Math.max(1, Math.ceil(share * this.#count));
    let seen = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      seen += this.#counts[bucket] as number;
      if (seen >= rank) return Math.min(this.#maxMs, SMALLEST_MS * Math.exp(STEP * (bucket + 1)));
    }
    return this.#maxMs;
  }

  distribution(): Distribution {
    return {
      count: this.#count,
      p50Ms: this.quantile(0.5),
      p99Ms: this.quantile(0.99),
      maxMs: this.#count === 0 ? Number.NaN : this.#maxMs,
    };
  }
}
