// The process that generates an open-loop load: is sent one load, plays it, answers with the measure.
// Keeps to the clock and not to the answers. Its bounds: connections, patience and timeout of the load.

import type { OpenLoad, OpenMeasure, OpenShot } from '../open-loop.ts';
import { Latencies } from './latencies.ts';
import { type AnswerHead, requestBytes, Wire } from './wire.ts';

type WholeLoad = Required<Omit<OpenLoad, 'body' | 'headers'>> & Pick<OpenLoad, 'body' | 'headers'>;

/** Requests become due in steps of the timer's own grain. */
const STEP_MS = 1;
const SWEEP_MS = 50;

/** A queue that neither moves its elements nor grows for ever. */
class Waiting {
  #times: number[] = [];
  #at = 0;
  get size(): number {
    return this.#times.length - this.#at;
  }
  push(intendedAtMs: number): void {
    this.#times.push(intendedAtMs);
  }
  first(): number {
    return this.#times[this.#at] as number;
  }
  shift(): void {
    this.#at += 1;
    if (this.#at > 4_096) {
      this.#times = this.#times.slice(this.#at);
      this.#at = 0;
    }
  }
}

class Generator {
  readonly #load: WholeLoad;
  readonly #requests: Buffer[];
  readonly #free: Wire[] = [];
  readonly #wires = new Set<Wire>();
  readonly #waiting = new Waiting();
  readonly #success = new Latencies();
  readonly #successServed = new Latencies();
  readonly #refusal = new Latencies();
  readonly #refusalServed = new Latencies();
  readonly #late = new Latencies();
  readonly #others: Record<string, number> = {};
  #next = 0;
  #beginsAtMs = 0;
  #countsFromMs = 0;
  #unsent = 0;
  #broken = 0;
  #timedOut = 0;
  #withoutRetryAfter = 0;
  #isOver = false;

  constructor(load: WholeLoad) {
    this.#load = load;
    const headers = load.headers ?? {};
    this.#requests = load.shots.map((shot: OpenShot) => requestBytes({ ...shot, body: shot.body ?? load.body }, headers));
  }

  async play(): Promise<OpenMeasure> {
    await Promise.all(Array.from({ length: this.#load.connections }, () => this.#open()));
    const { perSecond, warmUpSeconds, seconds } = this.#load;
    const total = Math.ceil(perSecond * (warmUpSeconds + seconds));
    this.#beginsAtMs = performance.now();
    this.#countsFromMs = this.#beginsAtMs + warmUpSeconds * 1000;
    const sweep = setInterval(() => this.#sweep(), SWEEP_MS);
    await new Promise<void>((resolve) => {
      const step = (): void => {
        const now = performance.now();
        const due = Math.min(total, Math.floor(((now - this.#beginsAtMs) * perSecond) / 1000) + 1);
        for (; this.#next < due; this.#next++) this.#start(this.#beginsAtMs + (this.#next * 1000) / perSecond, now);
        if (this.#next < total) setTimeout(step, STEP_MS);
        else resolve();
      };
      step();
    });
    await this.#drain();
    clearInterval(sweep);
    this.#isOver = true;
    for (const wire of this.#wires) wire.close();
    return this.#measure();
  }

  #open(): Promise<void> {
    return new Promise((resolve, reject) => {
      const wire: Wire = new Wire(
        this.#load.port,
        { onAnswer: (answered, head) => this.#answered(answered, head), onGone: (gone) => this.#gone(gone) },
        (error) => {
          if (error !== null) return reject(error);
          this.#wires.add(wire);
          this.#offer(wire);
          resolve();
        },
      );
    });
  }

  #counts(intendedAtMs: number): boolean {
    return intendedAtMs >= this.#countsFromMs;
  }

  #start(intendedAtMs: number, nowMs: number): void {
    if (this.#counts(intendedAtMs)) this.#late.add(nowMs - intendedAtMs);
    const wire = this.#free.pop();
    if (wire === undefined) this.#waiting.push(intendedAtMs);
    else this.#send(wire, intendedAtMs);
  }

  #send(wire: Wire, intendedAtMs: number): void {
    wire.intendedAtMs = intendedAtMs;
    wire.sentAtMs = performance.now();
    wire.send(this.#requests[this.#nextShot()] as Buffer);
  }

  #shot = 0;
  #nextShot(): number {
    const shot = this.#shot;
    this.#shot = (shot + 1) % this.#requests.length;
    return shot;
  }

  /** A connection is free: the one who has waited for longest takes it, unless his patience is at its end. */
  #offer(wire: Wire): void {
    this.#giveUp();
    if (this.#waiting.size === 0) {
      this.#free.push(wire);
      return;
    }
    const intendedAtMs = this.#waiting.first();
    this.#waiting.shift();
    this.#send(wire, intendedAtMs);
  }

  #giveUp(): void {
    const until = performance.now() - this.#load.patienceMs;
    while (this.#waiting.size > 0 && this.#waiting.first() < until) {
      if (this.#counts(this.#waiting.first())) this.#unsent += 1;
      this.#waiting.shift();
    }
  }

  #answered(wire: Wire, { status, hasRetryAfter }: AnswerHead): void {
    if (this.#counts(wire.intendedAtMs)) {
      const now = performance.now();
      if (status >= 200 && status < 300) {
        this.#success.add(now - wire.intendedAtMs);
        this.#successServed.add(now - wire.sentAtMs);
      } else if (status === 503) {
        this.#refusal.add(now - wire.intendedAtMs);
        this.#refusalServed.add(now - wire.sentAtMs);
        if (!hasRetryAfter) this.#withoutRetryAfter += 1;
      } else this.#others[status] = (this.#others[status] ?? 0) + 1;
    }
    if (wire.isOpen) this.#offer(wire);
  }

  #gone(wire: Wire): void {
    this.#wires.delete(wire);
    const at = this.#free.indexOf(wire);
    if (at !== -1) this.#free.splice(at, 1);
    if (wire.isBusy && this.#counts(wire.intendedAtMs)) this.#broken += 1;
    if (this.#isOver) return;
    // Another takes its place; where the server lets nobody in, requests wait for the ones that are left.
    this.#open().catch(() => undefined);
  }

  #sweep(): void {
    this.#giveUp();
    const until = performance.now() - this.#load.timeoutMs;
    for (const wire of this.#wires) {
      if (!wire.isBusy || wire.sentAtMs > until) continue;
      if (this.#counts(wire.intendedAtMs)) this.#timedOut += 1;
      wire.isBusy = false;
      wire.close();
    }
  }

  /** Until everything that was due is answered or given up; both have their bounds. */
  async #drain(): Promise<void> {
    const until = performance.now() + this.#load.timeoutMs + this.#load.patienceMs + 2 * SWEEP_MS;
    while (performance.now() < until) {
      if (this.#waiting.size === 0 && ![...this.#wires].some((wire) => wire.isBusy)) return;
      await new Promise((resolve) => setTimeout(resolve, SWEEP_MS));
    }
  }

  #measure(): OpenMeasure {
    const [success, refusal] = [this.#success.distribution(), this.#refusal.distribution()];
    const others = Object.values(this.#others).reduce((sum, count) => sum + count, 0);
    return {
      intended: success.count + refusal.count + others + this.#broken + this.#timedOut + this.#unsent,
      succeeded: success.count,
      refused: refusal.count,
      refusedWithoutRetryAfter: this.#withoutRetryAfter,
      otherStatuses: this.#others,
      broken: this.#broken,
      timedOut: this.#timedOut,
      unsent: this.#unsent,
      goodPerSecond: success.count / this.#load.seconds,
      successMs: success,
      refusalMs: refusal,
      refusalServedMs: this.#refusalServed.distribution(),
      successServedMs: this.#successServed.distribution(),
      generatorLateMs: this.#late.distribution(),
    };
  }
}

process.once('message', (load: WholeLoad) => {
  new Generator(load).play().then(
    (measure) => process.send?.({ measure }),
    (error: unknown) =>
      process.send?.({ failed: `The load could not be played: ${error instanceof Error ? error.message : String(error)}` }),
  );
});
// The parent is gone, and with it everybody who would read the measure.
process.once('disconnect', () => process.exit(0));
