// What waits for the lane: one line per workspace, taken from in turn, within limits on what may wait and on what one batch may hold.
// Runs nothing and answers nobody.

import type { Uuid } from '../domain/ids.ts';

import type { AnyCommand, Outcome } from './command.ts';

/** A command with its promise. */
export interface Waiting {
  readonly command: AnyCommand;
  misses: number;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

export interface QueueLimits {
  readonly batchCommands: number;
  readonly batchRows: number;
  readonly batchBytes: number;
  readonly queuedCommands: number;
  readonly queuedBytes: number;
  readonly queuedOfWorkspace: number;
  readonly queuedBytesOfWorkspace: number;
}

/** What waits of one workspace, in order. */
interface Line {
  readonly waiting: Waiting[];
  bytes: number;
  /** Since when its lock is waited for, while it is held. */
  heldSinceMs: number | null;
}

/** One line per workspace, taken from in turn, so that a busy workspace does not make a quiet one wait. */
export class FairQueue {
  readonly #lines = new Map<Uuid, Line>();
  /** Lines whose lock is being waited for: they grow, and are left out of the batches until `release`. */
  readonly #held = new Map<Uuid, Line>();
  readonly #limits: QueueLimits;
  #size = 0;
  #bytes = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  isFullFor(workspaceId: Uuid): boolean {
    const { queuedCommands, queuedBytes, queuedOfWorkspace, queuedBytesOfWorkspace } = this.#limits;
    if (this.#size >= queuedCommands || this.#bytes >= queuedBytes) return true;
    const line = this.#lineOf(workspaceId);
    return line !== undefined && (line.waiting.length >= queuedOfWorkspace || line.bytes >= queuedBytesOfWorkspace);
  }

  /** How many commands wait. */
  get size(): number {
    return this.#size;
  }

  /** How many of them wait for a batch, and not for a workspace's lock. */
  get readySize(): number {
    let held = 0;
    for (const { waiting } of this.#held.values()) held += waiting.length;
    return this.#size - held;
  }

  /** How many of one workspace wait. */
  lengthOf(workspaceId: Uuid): number {
    return this.#lineOf(workspaceId)?.waiting.length ?? 0;
  }

  /** What each workspace may have waiting when all of them share so much room. */
  shareOf(room: number): number {
    return room / Math.max(1, this.#lines.size);
  }

  /** Since when this workspace's lock is waited for; null when it is not. */
  heldSinceMs(workspaceId: Uuid): number | null {
    return this.#held.get(workspaceId)?.heldSinceMs ?? null;
  }

  /** Whether a batch can be taken. */
  get hasReady(): boolean {
    return this.#lines.size > 0;
  }

  add(waiting: Waiting): void {
    const line = this.#open(waiting.command.workspaceId);
    line.waiting.push(waiting);
    this.#count(line, waiting, 1);
  }

  putBack(waiting: Waiting): void {
    // Behind those put back before it in the same round, ahead of those that came later: order within a workspace is kept.
    const line = this.#open(waiting.command.workspaceId);
    const behind = line.waiting.findIndex((other) => other.misses < waiting.misses);
    line.waiting.splice(behind === -1 ? line.waiting.length : behind, 0, waiting);
    this.#count(line, waiting, 1);
  }

  /** The next batch: one command of each workspace in turn, until `most` or another limit is reached. Always at least one. */
  take(most = this.#limits.batchCommands): Waiting[] {
    const batch = new Filling({ ...this.#limits, batchCommands: Math.min(most, this.#limits.batchCommands) });
    while (this.#lines.size > 0) {
      for (const [workspaceId, line] of this.#lines) {
        if (!this.#moveNext(line, batch)) return this.#rotate(batch.taken);
        if (line.waiting.length === 0) this.#lines.delete(workspaceId);
      }
    }
    return batch.taken;
  }

  /** A batch of this workspace alone; the rest of its line is held until `release`. Empty where nothing is ready. */
  hold(workspaceId: Uuid): Waiting[] {
    const line = this.#lines.get(workspaceId);
    if (line === undefined) return [];
    this.#lines.delete(workspaceId);
    this.#held.set(workspaceId, line);
    line.heldSinceMs = performance.now();
    const batch = new Filling(this.#limits);
    while (this.#moveNext(line, batch));
    return batch.taken;
  }

  release(workspaceId: Uuid): void {
    const line = this.#held.get(workspaceId);
    this.#held.delete(workspaceId);
    if (line === undefined) return;
    line.heldSinceMs = null;
    if (line.waiting.length > 0) this.#lines.set(workspaceId, line);
  }

  /** The workspaces that were served go to the end of the round. */
  #rotate(taken: Waiting[]): Waiting[] {
    for (const workspaceId of new Set(taken.map((waiting) => waiting.command.workspaceId))) {
      const line = this.#lines.get(workspaceId);
      if (line === undefined) continue;
      this.#lines.delete(workspaceId);
      this.#lines.set(workspaceId, line);
    }
    return taken;
  }

  #moveNext(line: Line, batch: Filling): boolean {
    const [next] = line.waiting;
    if (next === undefined || !batch.accepts(next.command)) return false;
    line.waiting.shift();
    this.#count(line, next, -1);
    batch.add(next);
    return true;
  }

  #lineOf(workspaceId: Uuid): Line | undefined {
    return this.#lines.get(workspaceId) ?? this.#held.get(workspaceId);
  }

  #open(workspaceId: Uuid): Line {
    const found = this.#lineOf(workspaceId);
    if (found !== undefined) return found;
    const line: Line = { waiting: [], bytes: 0, heldSinceMs: null };
    this.#lines.set(workspaceId, line);
    return line;
  }

  #count(line: Line, waiting: Waiting, sign: 1 | -1): void {
    this.#size += sign;
    this.#bytes += sign * waiting.command.bytes;
    line.bytes += sign * waiting.command.bytes;
  }
}

/** A batch that is being filled up to its limits. */
class Filling {
  readonly taken: Waiting[] = [];
  readonly #limits: QueueLimits;
  #rows = 0;
  #bytes = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  accepts({ rows, bytes }: AnyCommand): boolean {
    if (this.taken.length === 0) return true;
    const { batchCommands, batchRows, batchBytes } = this.#limits;
    return this.taken.length < batchCommands && this.#rows + rows <= batchRows && this.#bytes + bytes <= batchBytes;
  }

  add(waiting: Waiting): void {
    this.taken.push(waiting);
    this.#rows += waiting.command.rows;
    this.#bytes += waiting.command.bytes;
  }
}
