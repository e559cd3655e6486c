// The lane: the one road for every write of the domain. Commands that arrive together commit together.
// Decides nothing about a command; queues it fairly, runs it in a batch, and gives its true outcome.

import type { Uuid } from '../domain/ids.ts';
import { CommitUnknown, DatabaseError, DatabaseUnavailable, TransactionAborted } from '../store/database.ts';
import type { RecordKey } from '../store/records.ts';
import { type AnyCommand, type BatchResult, type BatchServices, type CommandResult, runBatch } from './batch.ts';
import type { Command, Outcome } from './command.ts';

export const laneLimits = {
  /** One transaction: large enough to share a commit's cost widely, small enough that nobody waits long. */
  batchCommands: 256,
  batchRows: 2_000,
  batchBytes: 4 * 1024 * 1024,
  /** What may wait in memory; beyond it a client hears 503 at once instead of waiting without end. */
  queuedCommands: 4_096,
  queuedBytes: 64 * 1024 * 1024,
  /** Times that a command steps aside for another process's lock before it waits for the lock. */
  misses: 3,
  /** Runs of one batch in all, when the database asks to try again. */
  attempts: 4,
} as const;

/** What others may want to hear of a commit: the workspaces with new events, and the keys that changed. */
export interface Committed {
  readonly workspaces: readonly Uuid[];
  readonly keys: readonly RecordKey[];
}

export interface LaneServices extends BatchServices {
  /** Told after each commit, before the commands are answered. */
  readonly onCommitted: (committed: Committed) => void;
}

export interface Lane {
  /** Resolves to the answer or the refusal, once it is durable. Rejects when the database is out of reach or we have a defect. */
  submit<Result>(command: Command<Result>): Promise<Outcome>;
  /** Takes no more, and resolves when everything accepted is answered. */
  close(): Promise<void>;
}

interface Waiting {
  readonly command: AnyCommand;
  misses: number;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

/** Several lanes side by side; a workspace is always served by the same one. */
export function createLanes(count: number, services: LaneServices): Lane {
  const lanes = Array.from({ length: count }, () => createLane(services));
  return {
    submit: (command) => (lanes[Number.parseInt(command.workspaceId.slice(-6), 16) % count] as Lane).submit(command),
    close: async () => {
      await Promise.all(lanes.map((lane) => lane.close()));
    },
  };
}

export function createLane(services: LaneServices): Lane {
  const queue = new FairQueue();
  let running = false;
  let closed = false;
  let onIdle: (() => void)[] = [];

  async function run(): Promise<void> {
    // A turn of the event loop lets the requests that arrived together join the first batch.
    await new Promise(setImmediate);
    while (queue.size > 0) await runOnce(queue.take(), queue, services);
    running = false;
    for (const done of onIdle) done();
    onIdle = [];
  }

  return {
    submit(command) {
      if (closed) return Promise.resolve({ code: 'overloaded', detail: 'The server is shutting down; nothing was changed.' });
      if (queue.isFull) return Promise.resolve({ code: 'overloaded', detail: 'Too many writes are waiting; nothing was changed.' });
      return new Promise<Outcome>((resolve, reject) => {
        queue.add({ command, misses: 0, resolve, reject });
        if (!running) {
          running = true;
          void run();
        }
      });
    },
    async close() {
      closed = true;
      if (running) await new Promise<void>((resolve) => onIdle.push(resolve));
    },
  };
}

/** Runs what was taken; never throws: every command of it is answered, refused, failed or queued again. */
async function runOnce(taken: readonly Waiting[], queue: FairQueue, services: LaneServices): Promise<void> {
  const mode = taken.some((waiting) => waiting.misses >= laneLimits.misses) ? 'wait' : 'skip';
  let batch: BatchResult;
  try {
    batch = await runWithRetries(taken, mode, services);
  } catch (error) {
    if (error instanceof DatabaseError && error.isData && taken.length > 1) {
      // One command's data spoils the batch: halve it until that command stands alone.
      const middle = Math.ceil(taken.length / 2);
      await runOnce(taken.slice(0, middle), queue, services);
      await runOnce(taken.slice(middle), queue, services);
      return;
    }
    for (const waiting of taken) waiting.reject(error);
    return;
  }
  services.onCommitted({ workspaces: batch.toldWorkspaces, keys: batch.changedKeys });
  let missed = 0;
  taken.forEach((waiting, index) => {
    const result = batch.results[index] as CommandResult | null;
    if (result === null) {
      // In `wait` mode every existing head was locked, so this workspace does not exist.
      if (mode === 'wait') waiting.reject(new Error(`workspace ${waiting.command.workspaceId} has no head`));
      else {
        waiting.misses += 1;
        missed += 1;
        queue.putBack(waiting);
      }
    } else if ('error' in result) waiting.reject(result.error);
    else waiting.resolve(result.outcome);
  });
  if (missed === taken.length) await pause(1);
}

async function runWithRetries(taken: readonly Waiting[], mode: 'skip' | 'wait', services: LaneServices): Promise<BatchResult> {
  const commands = taken.map((waiting) => waiting.command);
  for (let attempt = 1; ; attempt++) {
    try {
      return await runBatch(commands, mode, services);
    } catch (error) {
      const retryable = error instanceof TransactionAborted || (error instanceof DatabaseError && error.isRetryable);
      if (retryable && attempt < laneLimits.attempts) {
        await pause(2 ** attempt);
        continue;
      }
      throw translate(error);
    }
  }
}

/** A lock or statement timeout is the database being busy, not a defect: the client may try again. */
function translate(error: unknown): unknown {
  if (error instanceof CommitUnknown || error instanceof DatabaseUnavailable) return error;
  const busy = error instanceof DatabaseError && ['55P03', '57014', '53200', '53100', '53300'].includes(error.sqlstate);
  const aborted = error instanceof TransactionAborted || (error instanceof DatabaseError && error.isRetryable);
  return busy || aborted ? new DatabaseUnavailable('the database is too busy', { cause: error }) : error;
}

const pause = (delayMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMs));

/** One queue per workspace, taken from in turn, so that a busy workspace does not make a quiet one wait. */
class FairQueue {
  readonly #byWorkspace = new Map<Uuid, Waiting[]>();
  size = 0;
  #bytes = 0;

  get isFull(): boolean {
    return this.size >= laneLimits.queuedCommands || this.#bytes >= laneLimits.queuedBytes;
  }

  add(waiting: Waiting): void {
    this.#queueOf(waiting).push(waiting);
    this.#count(waiting, 1);
  }

  putBack(waiting: Waiting): void {
    // Behind those put back before it in the same round, ahead of those that came later: order within a workspace is kept.
    const queue = this.#queueOf(waiting);
    const behind = queue.findIndex((other) => other.misses < waiting.misses);
    queue.splice(behind === -1 ? queue.length : behind, 0, waiting);
    this.#count(waiting, 1);
  }

  /** The next batch: one command of each workspace in turn, until a limit is reached. Always at least one. */
  take(): Waiting[] {
    const taken: Waiting[] = [];
    let rows = 0;
    let bytes = 0;
    while (this.size > 0) {
      for (const [workspaceId, queue] of this.#byWorkspace) {
        const next = queue[0] as Waiting;
        const { command } = next;
        const full =
          taken.length >= laneLimits.batchCommands ||
          rows + command.rows > laneLimits.batchRows ||
          bytes + command.bytes > laneLimits.batchBytes;
        if (full && taken.length > 0) return this.#rotate(taken);
        queue.shift();
        if (queue.length === 0) this.#byWorkspace.delete(workspaceId);
        this.#count(next, -1);
        taken.push(next);
        rows += command.rows;
        bytes += command.bytes;
      }
    }
    return taken;
  }

  /** The workspace that was served first goes to the end of the round. */
  #rotate(taken: Waiting[]): Waiting[] {
    const served = new Set(taken.map((waiting) => waiting.command.workspaceId));
    for (const workspaceId of served) {
      const queue = this.#byWorkspace.get(workspaceId);
      if (queue === undefined) continue;
      this.#byWorkspace.delete(workspaceId);
      this.#byWorkspace.set(workspaceId, queue);
    }
    return taken;
  }

  #queueOf(waiting: Waiting): Waiting[] {
    const { workspaceId } = waiting.command;
    const found = this.#byWorkspace.get(workspaceId);
    if (found !== undefined) return found;
    const queue: Waiting[] = [];
    this.#byWorkspace.set(workspaceId, queue);
    return queue;
  }

  #count(waiting: Waiting, sign: 1 | -1): void {
    this.size += sign;
    this.#bytes += sign * waiting.command.bytes;
  }
}
