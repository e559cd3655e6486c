// The lane: the one road for every write of the domain. Commands that arrive together commit together.
// Decides nothing about a command; queues it fairly, runs it in a batch, and gives its true outcome.

import type { Uuid } from '../domain/ids.ts';
import { CommitUnknown, DatabaseError, DatabaseUnavailable, TransactionAborted } from '../store/database.ts';
import type { RecordKey } from '../store/records.ts';
import { type BatchResult, type BatchServices, type CommandResult, runBatch } from './batch.ts';
import type { Command, Outcome } from './command.ts';
import { FairQueue, type Waiting } from './fair-queue.ts';
import { Pace } from './pace.ts';
import { Patience } from './patience.ts';

export const laneLimits = {
  /** One transaction: large enough to share a commit's cost widely, small enough that nobody waits long. */
  batchCommands: 256,
  batchRows: 2_000,
  batchBytes: 4 * 1024 * 1024,
  /** What may wait in memory; beyond it a client hears 503 at once instead of waiting without end. */
  queuedCommands: 4_096,
  queuedBytes: 64 * 1024 * 1024,
  /** Of these, what one workspace may take up, so that there is room for the others. */
  queuedOfWorkspace: 2_048,
  queuedBytesOfWorkspace: 32 * 1024 * 1024,
  /** Times that a command steps aside for another process's lock before it waits for the lock. */
  misses: 3,
  /** Workspaces whose locks are waited for at once, each on a connection of its own, while the batches of the others go on. */
  waits: 2,
  /** Runs of one batch in all, when the database asks to try again. */
  attempts: 4,
} as const;

/** What others may want to hear of a commit: the workspaces with new events, and the keys that changed. */
export interface Committed {
  readonly workspaces: readonly Uuid[];
  readonly keys: readonly RecordKey[];
  /** Whether who is a member, or as what, was changed. */
  readonly members: boolean;
}

export interface LaneServices extends BatchServices {
  /** Told after each commit, before the commands are answered. */
  readonly onCommitted: (committed: Committed) => void;
  /** Told of each batch that committed: its commands, and the time from the beginning of the transaction to the end of the commit. */
  readonly onBatch?: (commands: number, durationMs: number) => void;
  /** Requests are refused while they would wait longer than about so long for their batch; without it only the limits above hold. */
  readonly maxWaitMs?: number | undefined;
}

export interface Lane {
  /** Resolves to the answer or the refusal, once it is durable. Rejects when the database is out of reach or we have a defect. */
  submit<Result>(command: Command<Result>): Promise<Outcome>;
  /** How many commands wait for a batch. */
  queued(): number;
  /** Whether one more write of this workspace would wait too long. Costs next to nothing: it is asked before anything is done for a request. */
  isBusyFor(workspaceId: Uuid): boolean;
  /** Takes no more, and resolves when everything accepted is answered. */
  close(): Promise<void>;
}

/** Several lanes side by side; a workspace is always served by the same one. */
export function createLanes(count: number, services: LaneServices): Lane {
  const lanes = Array.from({ length: count }, () => createLane(services));
  const laneOf = (workspaceId: Uuid): Lane => lanes[Number.parseInt(workspaceId.slice(-6), 16) % count] as Lane;
  return {
    submit: (command) => laneOf(command.workspaceId).submit(command),
    queued: () => lanes.reduce((sum, lane) => sum + lane.queued(), 0),
    isBusyFor: (workspaceId) => laneOf(workspaceId).isBusyFor(workspaceId),
    close: async () => {
      await Promise.all(lanes.map((lane) => lane.close()));
    },
  };
}

export function createLane(services: LaneServices): Lane {
  const queue = new FairQueue(laneLimits);
  const maxWaitMs = services.maxWaitMs ?? Number.POSITIVE_INFINITY;
  const pace = new Pace(maxWaitMs, laneLimits.batchCommands);
  const patience = new Patience(maxWaitMs);
  let running = false;
  let batchBegunAtMs = 0;
  let waits = 0;
  let closed = false;
  let onIdle: (() => void)[] = [];

  function start(): void {
    if (running) return;
    running = true;
    void run();
  }

  async function run(): Promise<void> {
    // A turn of the event loop lets the requests that arrived together join the first batch.
    await new Promise(setImmediate);
    while (queue.hasReady) {
      const taken = queue.take();
      const leftSome = queue.hasReady;
      batchBegunAtMs = performance.now();
      const missed = await runOnce(taken, 'skip', services);
      pace.ended(taken.length - missed.length, performance.now() - batchBegunAtMs, leftSome);
      for (const waiting of missed) queue.putBack(waiting);
      for (const { command, misses } of missed) if (misses >= laneLimits.misses && waits < laneLimits.waits) wait(command.workspaceId);
      if (missed.length === taken.length) await pause(1);
    }
    running = false;
    settle();
  }

  /** Waits for a workspace's lock, beside the batches of the others: whoever holds it, nobody else is held up. */
  function wait(workspaceId: Uuid): void {
    const taken = queue.hold(workspaceId);
    if (taken.length === 0) return; // Another of its commands has begun to wait already.
    waits += 1;
    void runOnce(taken, 'wait', services).then(() => {
      waits -= 1;
      queue.release(workspaceId);
      if (queue.hasReady) start();
      else settle();
    });
  }

  /** The busiest workspace is refused first: one that has less waiting than its share of the room is let in. */
  function isBusyFor(workspaceId: Uuid): boolean {
    const now = performance.now();
    const heldSinceMs = queue.heldSinceMs(workspaceId);
    if (heldSinceMs !== null) return queue.lengthOf(workspaceId) >= pace.room(now - heldSinceMs) && patience.isAtItsEnd(now);
    const waiting = queue.readySize;
    if (waiting < pace.leastRoom) return false;
    const room = pace.room(running ? now - batchBegunAtMs : 0);
    return waiting >= room && patience.isAtItsEnd(now) && queue.lengthOf(workspaceId) >= queue.shareOf(room);
  }

  function settle(): void {
    if (running || waits > 0) return;
    for (const done of onIdle) done();
    onIdle = [];
  }

  return {
    submit(command) {
      if (closed) return Promise.resolve({ code: 'overloaded', detail: 'The server is shutting down; nothing was changed.' });
      // The operator's own commands, which no request asked for, are only bound by what fits into memory.
      if (queue.isFullFor(command.workspaceId) || (command.keyId !== null && isBusyFor(command.workspaceId)))
        return Promise.resolve({ code: 'overloaded', detail: 'Too many writes are waiting; nothing was changed.' });
      return new Promise<Outcome>((resolve, reject) => {
        queue.add({ command, misses: 0, resolve, reject });
        if (queue.hasReady) start();
      });
    },
    queued: () => queue.size,
    isBusyFor,
    async close() {
      closed = true;
      if (running || waits > 0) await new Promise<void>((resolve) => onIdle.push(resolve));
    },
  };
}

/** Runs what was taken and returns what must wait for another process's lock. Never throws: the others are answered, refused or failed. */
async function runOnce(taken: readonly Waiting[], mode: 'skip' | 'wait', services: LaneServices): Promise<Waiting[]> {
  const begunAtMs = performance.now();
  let batch: BatchResult;
  try {
    batch = await runWithRetries(taken, mode, services);
  } catch (error) {
    if (error instanceof DatabaseError && error.isData && taken.length > 1) {
      // One command's data spoils the batch: halve it until that command stands alone.
      const middle = Math.ceil(taken.length / 2);
      const missed = await runOnce(taken.slice(0, middle), mode, services);
      return missed.concat(await runOnce(taken.slice(middle), mode, services));
    }
    for (const waiting of taken) waiting.reject(error);
    return [];
  }
  services.onBatch?.(taken.length, performance.now() - begunAtMs);
  services.onCommitted({ workspaces: batch.toldWorkspaces, keys: batch.changedKeys, members: batch.changedMembers });
  const missed: Waiting[] = [];
  taken.forEach((waiting, index) => {
    const result = batch.results[index] as CommandResult | null;
    if (result === null) {
      waiting.misses += 1;
      // In `wait` mode every existing head was locked, so this workspace does not exist.
      if (mode === 'wait') waiting.reject(new Error(`workspace ${waiting.command.workspaceId} has no head`));
      else missed.push(waiting);
    } else if ('error' in result) waiting.reject(result.error);
    else waiting.resolve(result.outcome);
  });
  return missed;
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
