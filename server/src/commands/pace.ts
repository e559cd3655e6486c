// How fast a lane gets through its batches, and so how many commands may wait before the last of them waits too long.
// Measures only; refuses nobody.

/** The weight of the latest full batch in the averages. */
const WEIGHT = 1 / 4;
/** From so many commands on a batch shows what a full one takes. */
const TELLING_COMMANDS = 128;

export class Pace {
  readonly #maxWaitMs: number;
  #batchMs = 0;
  /** What a batch takes of a queue that has more: fewer than the limit where commands are large. */
  #batchCommands: number;

  constructor(maxWaitMs: number, batchCommands: number) {
    this.#maxWaitMs = maxWaitMs;
    this.#batchCommands = batchCommands;
  }

  /** A batch has ended; `leftSome`: more was waiting than it could take. */
  ended(commands: number, durationMs: number, leftSome: boolean): void {
    const isFull = leftSome || commands > this.#batchCommands;
    if (isFull) this.#batchCommands += (commands - this.#batchCommands) * WEIGHT;
    if (!isFull && commands < TELLING_COMMANDS) return;
    this.#batchMs = this.#batchMs === 0 ? durationMs : this.#batchMs + (durationMs - this.#batchMs) * WEIGHT;
  }

  /**
   * How many commands may wait when the batch under way has run for `runningMs`. One batch always may: what shares the next commit waits
   * only for those under way, and smaller batches would only make the lane slower.
   */
  room(runningMs: number): number {
    const batches = Math.floor(this.#maxWaitMs / Math.max(this.#batchMs, runningMs, 1));
    return this.#batchCommands * Math.max(1, batches);
  }

  /** What waits less than this is within the room, however slow the lane is. */
  get leastRoom(): number {
    return this.#batchCommands;
  }
}
