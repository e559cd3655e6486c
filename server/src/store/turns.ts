// Who may use the one connection of the embedded database: one at a time, in the order of asking.
// Runs nothing itself.

import { DatabaseUnavailable } from './database.ts';

/** Every caller is bounded itself (lanes, read batches, workers); more than this waiting means that one of them is not. */
const MAX_WAITING = 10_000;

export class Turns {
  #taken = false;
  #waiting: (() => void)[] = [];
  /** How many of `#waiting` have had their turn: cheaper than moving a long array up each time. */
  #served = 0;

  get isTaken(): boolean {
    return this.#taken;
  }

  /** How many callers wait for their turn. */
  get waiting(): number {
    return this.#waiting.length - this.#served;
  }

  /** Resolves when it is the caller's turn; the caller must then call `give`, whatever happens. */
  take(): Promise<void> {
    if (!this.#taken) {
      this.#taken = true;
      return Promise.resolve();
    }
    if (this.#waiting.length - this.#served >= MAX_WAITING) {
      return Promise.reject(new DatabaseUnavailable(`More than ${MAX_WAITING} statements are waiting for the embedded database.`));
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  give(): void {
    const next = this.#waiting[this.#served];
    if (next === undefined) {
      this.#taken = false;
      return;
    }
    this.#served += 1;
    if (this.#served === this.#waiting.length || this.#served > MAX_WAITING) {
      this.#waiting = this.#waiting.slice(this.#served);
      this.#served = 0;
    }
    next();
  }
}
