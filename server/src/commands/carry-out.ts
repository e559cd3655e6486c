// Carries out what was taken from the queue: as one batch, again where the database asks for it, in halves where one command spoils it.
// Gives every command its true outcome. Takes nothing from a queue; never throws.

import { setTimeout as pause } from 'node:timers/promises';
import type { ChangeHints } from '../domain/change-hint.ts';
import type { Uuid } from '../domain/ids.ts';
import { CommitUnknown, DatabaseError, DatabaseUnavailable, TransactionAborted } from '../store/database.ts';
import type { RecordKey } from '../store/records.ts';
import { type BatchResult, type BatchServices, type CommandResult, runBatch } from './batch.ts';
import type { Waiting } from './fair-queue.ts';
import type { Ahead, Mode } from './open-working-set.ts';

/** Runs of one batch in all, when the database asks to try again. */
const ATTEMPTS = 4;

/** What others may want to hear of a commit: the workspaces with new events, and the keys that changed. */
export interface Committed {
  readonly workspaces: readonly Uuid[];
  readonly keys: readonly RecordKey[];
  /** Whether who is a member, or as what, was changed. */
  readonly members: boolean;
  /** What changed without an event. */
  readonly hints: ChangeHints;
}

export interface CarryOutServices extends BatchServices {
  /** Told after each commit, before the commands are answered. */
  readonly onCommitted: (committed: Committed) => void;
  /** Told of each batch that committed: its commands, and the time from the beginning of the transaction to the end of the commit. */
  readonly onBatch?: (commands: number, durationMs: number) => void;
}

type LockMode = Exclude<Mode, Ahead>;

/** Told what a batch leaves to the next one when its COMMIT is sent; and null when that came to nothing. */
export type OnSent = (ahead: Ahead | null) => void;

/**
 * Returns what must wait for another process's lock; the others are answered, refused or failed. With a number of milliseconds as mode a
 * lock that is not free by then is left out, as with `skip`, and `onLockTimeout` is told.
 */
export async function carryOut(
  taken: readonly Waiting[],
  mode: LockMode,
  services: CarryOutServices,
  onSent: OnSent = () => undefined,
  onLockTimeout: () => void = () => undefined,
): Promise<Waiting[]> {
  const begunAtMs = performance.now();
  let batch: BatchResult;
  try {
    batch = await runWithRetries(taken, mode, services, onSent, onLockTimeout);
  } catch (error) {
    if (error instanceof DatabaseError && error.isData && taken.length > 1) {
      // One command's data spoils the batch: halve it until that command stands alone.
      const middle = Math.ceil(taken.length / 2);
      const missed = await carryOut(taken.slice(0, middle), mode, services);
      return missed.concat(await carryOut(taken.slice(middle), mode, services));
    }
    for (const waiting of taken) waiting.reject(error);
    return [];
  }
  return answer(taken, batch, begunAtMs, mode, services);
}

/** Decided on what the batch before leaves behind. Null when that did not come to pass: then nothing was changed, and nobody is answered. */
export async function carryOutBehind(
  taken: readonly Waiting[],
  ahead: Ahead,
  services: CarryOutServices,
  onSent: OnSent,
): Promise<Waiting[] | null> {
  const begunAtMs = performance.now();
  let batch: BatchResult;
  try {
    batch = await runBatch(commandsOf(taken), ahead, services, onSent);
  } catch (error) {
    onSent(null);
    // Whatever the database refused may have come of the batch before, as may the want of a connection, which that one waits for at its
    // COMMIT; by itself it gets its own retries and its own error.
    if (error instanceof DatabaseError || error instanceof TransactionAborted || error instanceof DatabaseUnavailable) return null;
    for (const waiting of taken) waiting.reject(error);
    return [];
  }
  return answer(taken, batch, begunAtMs, 'skip', services);
}

const commandsOf = (taken: readonly Waiting[]) => taken.map((waiting) => waiting.command);

function answer(taken: readonly Waiting[], batch: BatchResult, begunAtMs: number, mode: LockMode, services: CarryOutServices): Waiting[] {
  services.onBatch?.(taken.length, performance.now() - begunAtMs);
  const { toldWorkspaces: workspaces, changedKeys: keys, changedMembers: members, changeHints: hints } = batch;
  services.onCommitted({ workspaces, keys, members, hints });
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

async function runWithRetries(
  taken: readonly Waiting[],
  firstMode: LockMode,
  services: CarryOutServices,
  onSent: OnSent,
  onLockTimeout: () => void,
): Promise<BatchResult> {
  let mode = firstMode;
  for (let attempt = 1; ; attempt++) {
    try {
      return await runBatch(commandsOf(taken), mode, services, onSent);
    } catch (error) {
      onSent(null);
      if (typeof mode === 'number' && error instanceof DatabaseError && error.sqlstate === LOCK_NOT_AVAILABLE) {
        onLockTimeout();
        mode = 'skip';
        continue;
      }
      const retryable = error instanceof TransactionAborted || (error instanceof DatabaseError && error.isRetryable);
      if (retryable && attempt < ATTEMPTS) {
        await pause(2 ** attempt);
        continue;
      }
      throw translate(error);
    }
  }
}

const LOCK_NOT_AVAILABLE = '55P03';

/** A lock or statement timeout is the database being busy, not a defect: the client may try again. */
function translate(error: unknown): unknown {
  if (error instanceof CommitUnknown || error instanceof DatabaseUnavailable) return error;
  const busy = error instanceof DatabaseError && [LOCK_NOT_AVAILABLE, '57014', '53200', '53100', '53300'].includes(error.sqlstate);
  const aborted = error instanceof TransactionAborted || (error instanceof DatabaseError && error.isRetryable);
  return busy || aborted ? new DatabaseUnavailable('the database is too busy', { cause: error }) : error;
}
