// Keeps a number of worker processes alive: replaces one that dies, restarts all one after the other, and ends them together.
// Knows no cluster, socket or signal; workers are handed to it as plain objects. Serves nothing.

import type { Logger } from 'pino';
import type { Ended, WorkerProcess } from './worker-process.ts';

export const supervisorLimits = {
  /** From being started until it can work. A first start behind a slow database takes seconds. */
  startMs: 60_000,
  /** How long one that was told to retire may take: the slowest request, and the webhooks under way. */
  retireMs: 60_000,
  /** How long all may take to stop; each forces itself after 25 s. */
  stopMs: 28_000,
  /** The pause before the second replacement in a row; twice as long before each further one, up to the longest. */
  firstPauseMs: 500,
  longestPauseMs: 15_000,
  /** Who has worked for so long did not die of being started. */
  stableMs: 30_000,
  /** Deaths at the start of one worker's place, in a row, while no other one serves. */
  failedStarts: 5,
} as const;

export type SupervisorLimits = { readonly [Name in keyof typeof supervisorLimits]: number };

export type WorkerState = 'starting' | 'serving' | 'retiring';

export interface Member {
  /** Small, and of no other living process: a label whose values have a bound. */
  readonly number: number;
  readonly worker: WorkerProcess;
  readonly state: WorkerState;
}

export interface Counts {
  /** Deaths that nobody asked for. */
  crashes: number;
  /** Workers that retired for a successor. */
  retirements: number;
}

export interface SupervisorOptions {
  readonly count: number;
  readonly fork: () => WorkerProcess;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly uptimeMs: () => number;
  readonly limits?: Partial<SupervisorLimits>;
}

export interface Supervisor {
  /** Resolves when all can work; rejects with SupervisionEnded when they cannot be brought up. */
  start(): Promise<void>;
  /** Puts a new worker in the place of each, one after the other. Asked for meanwhile, it is done once more. */
  roll(): Promise<void>;
  /** Has every worker finish what it accepted; resolves when all are gone, with whether each ended in good order. */
  stop(): Promise<boolean>;
  /** Resolves when the workers keep dying and nothing is served any more; with the reason. */
  readonly gaveUp: Promise<string>;
  readonly members: readonly Member[];
  readonly counts: Readonly<Counts>;
}

/** The workers cannot be brought up; the message says why, and what the last one died of. */
export class SupervisionEnded extends Error {}

interface MutableMember extends Member {
  state: WorkerState;
  servesSinceMs: number;
}

/** A place that is to be filled with one living worker. */
interface Seat {
  member: MutableMember | null;
  /** Short lives in a row, and how many of them ended before they could work. */
  shortLives: number;
  failedStarts: number;
  successor: MutableMember | null;
}

const describeEnd = ({ code, signal }: Ended): string => (signal === null ? `exit code ${code}` : signal);

export function createSupervisor({ count, fork, log, uptimeMs, limits: given }: SupervisorOptions): Supervisor {
  const limits: SupervisorLimits = { ...supervisorLimits, ...given };
  const seats: Seat[] = Array.from({ length: count }, () => ({ member: null, shortLives: 0, failedStarts: 0, successor: null }));
  const members = new Set<MutableMember>();
  const counts: Counts = { crashes: 0, retirements: 0 };
  const pauses = new Set<NodeJS.Timeout>();
  let isStopping = false;
  let stopping: Promise<boolean> | null = null;
  let rolling: Promise<void> | null = null;
  let rollAgain = false;
  const gaveUp = Promise.withResolvers<string>();
  /** Resolved whenever something changed that `start` waits for. */
  let changed = Promise.withResolvers<void>();

  function tellChange(): void {
    changed.resolve();
    changed = Promise.withResolvers();
  }

  function freeNumber(): number {
    const taken = new Set(Array.from(members, ({ number }) => number));
    for (let number = 1; ; number += 1) if (!taken.has(number)) return number;
  }

  /** Starts a worker; resolves with whether it can work. What it does not say in time is taken for a no. */
  function launch(): { member: MutableMember; isFit: Promise<boolean> } {
    const worker = fork();
    const member: MutableMember = { number: freeNumber(), worker, state: 'starting', servesSinceMs: 0 };
    members.add(member);
    const late = setTimeout(() => {
      log.error({ process: worker.pid }, 'a serving process was not ready in time and is killed');
      worker.kill('SIGKILL');
    }, limits.startMs);
    const isFit = Promise.race([
      worker.fit.then((unfit) => {
        if (unfit === null) return true;
        log.error({ process: worker.pid, reason: unfit }, 'a serving process cannot work');
        giveUp(unfit);
        return false;
      }),
      worker.ended.then(() => false),
    ]).then((fit) => {
      clearTimeout(late);
      if (fit && members.has(member)) {
        member.state = 'serving';
        member.servesSinceMs = uptimeMs();
      }
      tellChange();
      return fit;
    });
    void worker.ended.then(() => members.delete(member) && tellChange());
    return { member, isFit };
  }

  function giveUp(reason: string): void {
    // While another one serves there is something to lose by ending.
    if (!isStopping && !Array.from(members).some(({ state }) => state !== 'starting')) gaveUp.resolve(reason);
  }

  /** Fills a seat and keeps it filled. */
  function fill(seat: Seat): void {
    const { member, isFit } = launch();
    seat.member = member;
    void isFit.then((fit) => {
      if (fit) seat.failedStarts = 0;
    });
    watch(seat, member);
  }

  function watch(seat: Seat, member: MutableMember): void {
    void member.worker.hangs.then(() => relieve(seat, member));
    void member.worker.ended.then((end) => {
      // Retired, or already replaced: nobody misses it.
      if (seat.member !== member) return;
      seat.member = null;
      if (isStopping) return;
      mourn(seat, member, end);
      if (seat.successor === null) refill(seat);
    });
  }

  function mourn(seat: Seat, { worker, state, servesSinceMs }: MutableMember, end: Ended): void {
    counts.crashes += 1;
    const hasServed = state === 'serving';
    seat.shortLives = hasServed && uptimeMs() - servesSinceMs >= limits.stableMs ? 1 : seat.shortLives + 1;
    seat.failedStarts = hasServed ? 0 : seat.failedStarts + 1;
    const how = { process: worker.pid, code: end.code, signal: end.signal };
    log.error(how, hasServed ? 'a serving process died and is replaced' : 'a serving process died at its start; another one is started');
    if (seat.failedStarts >= limits.failedStarts)
      giveUp(
        `The serving processes die at their start, ${seat.failedStarts} times in a row, the last with ${describeEnd(end)}. The log above says why.`,
      );
  }

  /** The first replacement comes at once, further ones after longer and longer pauses. */
  function refill(seat: Seat): void {
    const pauseMs =
      seat.shortLives <= 1 ? 0 : Math.min(limits.longestPauseMs, limits.firstPauseMs * 2 ** Math.min(seat.shortLives - 2, 16));
    void pause(pauseMs).then(() => {
      if (!isStopping) fill(seat);
    });
  }

  /** Never ends once all are told to stop. */
  function pause(pauseMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        pauses.delete(timer);
        resolve();
      }, pauseMs);
      pauses.add(timer);
    });
  }

  /** Replaces one that hangs, again until it is done: what made it hang, such as a database that is away, may keep another one from starting. */
  async function relieve(seat: Seat, member: MutableMember): Promise<void> {
    for (let pauseMs: number = limits.firstPauseMs; ; pauseMs = Math.min(limits.longestPauseMs, 2 * pauseMs)) {
      if (seat.member !== member || isStopping) return;
      await replace(seat);
      if (seat.member === member) await pause(pauseMs);
    }
  }

  /** Has a new worker take over from the one in a seat. False when the new one could not be brought up; then the old one stays. */
  async function replace(seat: Seat): Promise<boolean> {
    const old = seat.member;
    // An empty seat is about to be filled anyway, and one that is being changed already is not changed twice.
    if (old === null || seat.successor !== null || isStopping) return true;
    const { member, isFit } = launch();
    seat.successor = member;
    const fit = await isFit;
    seat.successor = null;
    if (isStopping) return false;
    if (!fit) {
      if (seat.member === null) refill(seat);
      return false;
    }
    seat.member = member;
    watch(seat, member);
    // The old one may have died meanwhile; then there is nobody to retire.
    if (!members.has(old)) return true;
    old.state = 'retiring';
    counts.retirements += 1;
    old.worker.retire();
    await within(old.worker, limits.retireMs);
    return true;
  }

  /** Waits for a worker's end, and brings it about when it takes too long. */
  async function within(worker: WorkerProcess, timeoutMs: number): Promise<Ended> {
    const late = setTimeout(() => {
      log.error({ process: worker.pid }, 'a serving process took too long to end and is killed');
      worker.kill('SIGKILL');
    }, timeoutMs);
    return worker.ended.finally(() => clearTimeout(late));
  }

  async function rollOnce(): Promise<void> {
    log.info({ processes: count }, 'rolling restart: a new process takes the place of each, one after the other');
    for (const seat of seats) {
      if (isStopping) return;
      if (!(await replace(seat))) {
        if (!isStopping) log.error({}, 'the rolling restart was given up: the new process did not come up; the old ones go on');
        return;
      }
    }
    log.info({ processes: count }, 'rolling restart done');
  }

  async function stopAll(): Promise<boolean> {
    isStopping = true;
    tellChange();
    for (const timer of pauses) clearTimeout(timer);
    const inOrder = await Promise.all(
      Array.from(members, async ({ worker, state }) => {
        worker.kill('SIGTERM');
        const { code, signal } = await within(worker, limits.stopMs);
        // One that was still starting has accepted nothing, and dies of the signal.
        return code === 0 || (state === 'starting' && signal === 'SIGTERM');
      }),
    );
    return inOrder.every((ended) => ended);
  }

  return {
    async start() {
      for (const seat of seats) fill(seat);
      let reason: string | null = null;
      const fault = gaveUp.promise.then((words) => {
        reason = words;
      });
      while (reason === null && !isStopping && !seats.every(({ member }) => member?.state === 'serving'))
        await Promise.race([changed.promise, fault]);
      if (reason !== null) throw new SupervisionEnded(reason);
    },
    async roll() {
      if (rolling !== null) {
        rollAgain = true;
        return rolling;
      }
      rolling = (async () => {
        do {
          rollAgain = false;
          await rollOnce();
        } while (rollAgain && !isStopping);
      })().finally(() => {
        rolling = null;
      });
      return rolling;
    },
    stop: () => (stopping ??= stopAll()),
    gaveUp: gaveUp.promise,
    get members() {
      return [...members];
    },
    counts,
  };
}
