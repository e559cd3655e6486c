// The lane: the one road for every write of the domain. Commands that arrive together commit together.
// Decides nothing about a command; queues it fairly, runs it in a batch, and gives its true outcome.

import { setTimeout as pause } from 'node:timers/promises';
import type { Uuid } from '../domain/ids.ts';
import { type CarryOutServices, carryOut, carryOutBehind, type OnSent } from './carry-out.ts';
import type { Command, Outcome } from './command.ts';
import { FairQueue, type Waiting } from './fair-queue.ts';
import { type Ahead, mayFollow } from './open-working-set.ts';
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
  /**
   * Batches under way: while one commits, the next is decided behind it. Never more: it takes over what that one leaves, and finds in the
   * database what the ones before that have left.
   */
  underWay: 2,
  /** A batch leaves half of all that is on its way to the next one, so that process and database work at the same time; but takes so many. */
  leastTaken: 16,
  /** It begins behind another one only when this share of all waits: a small batch costs nearly as much as a large one. */
  behindShare: 0.4,
  /**
   * After something came between two batches, or a head was found locked, other processes probably write to the same workspaces. For so long
   * batches go one by one and stand in line for their locks: to step aside again and again takes more of the database.
   */
  contendedMs: 1_000,
  /** Before it stands in line, a batch lets requests gather for so long: a small one holds its locks nearly as long as a large one. */
  gatherMs: 1,
  /** How long a batch waits for a lock there. Batches hold theirs for some milliseconds, and a few processes may stand in line before it. */
  lockWaitMs: 100,
  /** After a wait in vain none stands in line for so long: it is probably no batch that holds the lock, and other workspaces would wait too. */
  standAsideMs: 2_000,
} as const;

export interface LaneServices extends CarryOutServices {
  /** Requests are refused while they would wait longer than about so long for their batch; without it only the limits above hold. */
  readonly maxWaitMs?: number | undefined;
}

/** A batch that has begun. */
interface Begun {
  /** What the next one may be decided on; null before it is sent, and where it came to nothing. */
  ahead: Ahead | null;
  readonly ended: Promise<void>;
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
  /** The embedded database has one connection: there a batch would only wait for the one before. */
  const most = services.database.kind === 'postgres' ? laneLimits.underWay : 1;
  const underWay: Begun[] = [];
  /** Commands in the batches under way. */
  let carried = 0;
  /** Batches are decided one after the other. */
  let deciding: Begun | null = null;
  let latest: Begun | null = null;
  let contendedUntilMs = 0;
  let standAsideUntilMs = 0;
  /** When the batch under way began, or had the database for itself. */
  let runningSinceMs = 0;
  let waits = 0;
  let closed = false;
  let onIdle: (() => void)[] = [];

  /** Begins the next batch when there is something to do and room to do it. */
  function advance(): void {
    if (!queue.hasReady || deciding !== null || underWay.length >= most) return;
    const before = underWay.at(-1) ?? null;
    if (before !== null && !(canBeFollowed(before) && isWorthABatch(queue.readySize))) return;
    let end = (): void => undefined;
    const batch: Begun = { ahead: null, ended: new Promise((resolve) => (end = resolve)) };
    underWay.push(batch);
    deciding = latest = batch;
    if (before === null) runningSinceMs = performance.now();
    void run(batch, before).then(() => {
      underWay.splice(underWay.indexOf(batch), 1);
      if (deciding === batch) deciding = null;
      // It came to nothing, or nobody knows to what: the one behind it may yet hold, but what is loaded now may lack what that stands on.
      if (batch.ahead === null) latest = null;
      end();
      advance();
      settle();
    });
  }

  /** Not one that came to nothing and is carried out again, nor one that has not heard yet what became of it while a later one has. */
  const canBeFollowed = (batch: Begun): boolean => batch === latest && batch.ahead !== null && !isContended();
  const isContended = (): boolean => performance.now() < contendedUntilMs;
  const standsInLine = (): boolean => isContended() && performance.now() >= standAsideUntilMs;

  const onTheirWay = (): number => queue.readySize + carried;
  const isWorthABatch = (waiting: number): boolean => waiting >= laneLimits.behindShare * onTheirWay();

  /** How much a batch takes: as much as there is, where nothing will begin behind it. */
  function fairSize(): number {
    if (most === 1 || isContended()) return laneLimits.batchCommands;
    const share = Math.max(laneLimits.leastTaken, Math.ceil(onTheirWay() / most));
    return carried > 0 || isWorthABatch(queue.readySize - share) ? share : laneLimits.batchCommands;
  }

  async function run(batch: Begun, before: Begun | null): Promise<void> {
    // A turn of the event loop lets the requests that arrived together join the batch.
    await (standsInLine() && queue.readySize < laneLimits.batchCommands ? pause(laneLimits.gatherMs) : new Promise(setImmediate));
    if (!queue.hasReady) return; // Its workspace has begun to wait for a lock.
    const size = fairSize();
    const taken = queue.take(size);
    // What was only left to the next one says nothing of how much a batch can take.
    const leftSome = queue.hasReady && (taken.length < size || size >= laneLimits.batchCommands);
    carried += taken.length;
    const missed = await carryOutInTurn(taken, batch, before);
    carried -= taken.length;
    const now = performance.now();
    pace.ended(taken.length - missed.length, now - runningSinceMs, leftSome);
    runningSinceMs = now;
    for (const waiting of missed) queue.putBack(waiting);
    for (const { command, misses } of missed) if (misses >= laneLimits.misses && waits < laneLimits.waits) wait(command.workspaceId);
    if (missed.length === taken.length) await pause(1);
  }

  async function carryOutInTurn(taken: readonly Waiting[], batch: Begun, before: Begun | null): Promise<Waiting[]> {
    const onSent: OnSent = (ahead) => {
      batch.ahead = ahead;
      if (deciding !== batch) return;
      deciding = null;
      advance();
    };
    const ahead = before?.ahead ?? null;
    if (ahead !== null && taken.every(({ command }) => mayFollow(command))) {
      const missed = await carryOutBehind(taken, ahead, services, onSent);
      if (missed !== null) return missed;
      contendedUntilMs = performance.now() + laneLimits.contendedMs;
    }
    await before?.ended;
    const missed = await carryOut(taken, standsInLine() ? laneLimits.lockWaitMs : 'skip', services, onSent, () => {
      standAsideUntilMs = performance.now() + laneLimits.standAsideMs;
    });
    if (missed.length > 0) contendedUntilMs = performance.now() + laneLimits.contendedMs;
    return missed;
  }

  /** Waits for a workspace's lock, beside the batches of the others: whoever holds it, nobody else is held up. */
  function wait(workspaceId: Uuid): void {
    const taken = queue.hold(workspaceId);
    if (taken.length === 0) return; // Another of its commands has begun to wait already.
    waits += 1;
    void carryOut(taken, 'wait', services).then(() => {
      waits -= 1;
      queue.release(workspaceId);
      advance();
      settle();
    });
  }

  /** The busiest workspace is refused first: one that has less waiting than its share of the room is let in. */
  function isBusyFor(workspaceId: Uuid): boolean {
    const now = performance.now();
    const heldSinceMs = queue.heldSinceMs(workspaceId);
    if (heldSinceMs !== null) return queue.lengthOf(workspaceId) >= pace.room(now - heldSinceMs) && patience.isAtItsEnd(now);
    const waiting = queue.readySize;
    if (waiting < pace.leastRoom) return false;
    const room = pace.room(underWay.length > 0 ? now - runningSinceMs : 0);
    return waiting >= room && patience.isAtItsEnd(now) && queue.lengthOf(workspaceId) >= queue.shareOf(room);
  }

  function settle(): void {
    if (underWay.length > 0 || waits > 0) return;
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
        advance();
      });
    },
    queued: () => queue.size,
    isBusyFor,
    async close() {
      closed = true;
      if (underWay.length > 0 || waits > 0) await new Promise<void>((resolve) => onIdle.push(resolve));
    },
  };
}
