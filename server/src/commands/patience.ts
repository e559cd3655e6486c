// Tells a burst, which passes by itself, from a line that does not get shorter: only the second is a reason to refuse anybody.
// Is told when a wait is too long, and measures nothing itself.

/** After so long without a wait that was too long, the next one is a burst again until it has lasted. */
const RECOVERED_AFTER_MS = 1_000;

export class Patience {
  readonly #graceMs: number;
  #firstMs = Number.NEGATIVE_INFINITY;
  #lastMs = Number.NEGATIVE_INFINITY;

  /** `graceMs`: for how long waits may be too long before that counts. */
  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /** A wait is too long at this moment: whether it has been so for longer than a burst takes. */
  isAtItsEnd(nowMs: number): boolean {
    if (nowMs - this.#lastMs > RECOVERED_AFTER_MS) this.#firstMs = nowMs;
    this.#lastMs = nowMs;
    return nowMs - this.#firstMs >= this.#graceMs;
  }
}
