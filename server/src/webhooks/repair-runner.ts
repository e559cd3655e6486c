// Carries repairs out, step by step, in turn over all that are open, until it is told to stop. Any number of processes may run one.
// Never stops by itself, sends nothing, and leaves the database as much time as it takes, so that live work is not held up.

import { setTimeout as pause } from 'node:timers/promises';
import type { Uuid } from '../domain/ids.ts';
import type { RepairProgress, WebhookRepair } from '../domain/webhook-repair.ts';
import { type Database, DatabaseError } from '../store/database.ts';
import type { Log } from '../store/log.ts';
import { closedReason, takeStep } from '../store/repair-steps.ts';
import { endStep, giveBackRepair, takeRepair } from '../store/webhook-repairs.ts';
import { createBell } from './bell.ts';
import { DUE_CHANNEL } from './spread.ts';

/** Told when a repair was asked for. */
export const REPAIRS_CHANNEL = 'repairs';

export interface RepairRunnerOptions {
  readonly database: Database;
  readonly now: () => Date;
  readonly newId: () => Uuid;
  readonly log: Log;
  /** How often it looks by itself, in case a notification was missed. */
  readonly pollMs?: number;
  /** After a step the database is left alone for this multiple of the time that the step took. */
  readonly restShare?: number;
  /** How long a step is left to its process; longer than any step by far. */
  readonly leaseMs?: number;
  readonly errorPauseMs?: number;
}

export interface RepairRunner {
  start(): Promise<void>;
  /** Ends after the step under way. What is left is taken up by another process, or by the next. */
  stop(): Promise<void>;
}

/** The step was not to be counted: it is undone with its transaction. */
class Overtaken extends Error {}

export function createRepairRunner(options: RepairRunnerOptions): RepairRunner {
  const { database, now, newId, log } = options;
  const { pollMs = 2_000, restShare = 1, leaseMs = 60_000, errorPauseMs = 1_000 } = options;
  const bell = createBell();
  const stopping = new AbortController();
  let unlisten: (() => Promise<void>) | null = null;
  let loop: Promise<void> | null = null;

  async function step(repair: WebhookRepair, token: Uuid): Promise<RepairProgress> {
    const { workspaceId, id, endpointId, action, dryRun, matched, changed, atDelivery, atSeq } = repair;
    const before = { matched, changed, atDelivery, atSeq, isDone: false };
    return database.transaction(async (transaction) => {
      const at = now();
      const sends = action !== 'cancel' && !dryRun;
      const stopReason = sends && endpointId !== null ? await closedReason(transaction, workspaceId, endpointId) : null;
      const progress = stopReason === null ? await takeStep(transaction, repair, before, at, newId) : before;
      const counted = await endStep(transaction, { workspaceId, id, token, progress, stopReason, now: at, restUntil: at });
      if (!counted) throw new Overtaken();
      return progress;
    });
  }

  /** Given back, or nobody would take it until the time has passed that a step is left to its process. */
  async function failed({ workspaceId, id }: WebhookRepair, token: Uuid, error: unknown): Promise<void> {
    await giveBackRepair(database, { workspaceId, id, token, restUntil: now() });
    // A deadlock is no reason to wait; whoever was in the way has gone on.
    if (error instanceof DatabaseError && error.isRetryable) return;
    log.error({ err: error, repairId: id }, 'a step of a repair failed and is taken again');
    await pause(errorPauseMs, undefined, { signal: stopping.signal }).catch(() => {});
  }

  /** Returns whether there was a step to take. */
  async function pass(): Promise<boolean> {
    const token = newId();
    const at = now();
    const repair = await takeRepair(database, at, token, new Date(at.getTime() + leaseMs));
    if (repair === null) return false;
    try {
      const progress = await step(repair, token);
      if (progress.changed > repair.changed && repair.action !== 'cancel') await database.notify(DUE_CHANNEL, '');
    } catch (error) {
      if (!(error instanceof Overtaken)) await failed(repair, token, error);
    }
    return true;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const began = performance.now();
      let isBusy = false;
      try {
        isBusy = await pass();
      } catch (error) {
        log.error({ err: error }, 'repairs could not be looked at; it is tried again');
        await pause(errorPauseMs, undefined, { signal: stopping.signal }).catch(() => {});
      }
      if (isBusy) await pause((performance.now() - began) * restShare, undefined, { signal: stopping.signal }).catch(() => {});
      else if (!stopping.signal.aborted) await bell.wait(pollMs);
    }
  }

  return {
    async start() {
      unlisten = await database.listen(REPAIRS_CHANNEL, () => bell.ring());
      loop = run();
    },
    async stop() {
      stopping.abort();
      bell.ring();
      await loop;
      await unlisten?.();
      unlisten = null;
    },
  };
}
