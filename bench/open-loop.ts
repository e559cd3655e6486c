// Open-loop load: requests leave at a fixed rate whatever comes back, and each is timed from the moment it was meant to leave.
// Shared by the benchmarks: call `fireOpen`. The generator is a process of its own (open-loop/generator.ts); nothing is judged here.
//
// A closed loop waits for an answer before it asks again, so a server that stalls is asked less and its stalls count once. Here they count
// for every request that was due meanwhile. Connections are kept alive, carry one request at a time and are bounded; a request that finds
// none free waits, its clock running, for at most `patienceMs`, and is then counted as unsent: say so wherever that is not 0.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Distribution } from './open-loop/latencies.ts';

export interface OpenShot {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  /** JSON; instead of the load's body. */
  readonly body?: string;
}

export interface OpenLoad {
  readonly port: number;
  readonly shots: readonly OpenShot[];
  /** JSON of every shot that has none of its own. */
  readonly body?: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Each shot once, in order, and there must be enough of them; otherwise from the beginning again when they are used up. */
  readonly once: boolean;
  readonly perSecond: number;
  /** Of which results are kept. */
  readonly seconds: number;
  /** Before that: the same load, uncounted. */
  readonly warmUpSeconds?: number;
  /** At most so many; opened before the first request. */
  readonly connections?: number;
  /** How long a request may wait for a free connection. */
  readonly patienceMs?: number;
  /** How long an answer may take, from when its request was sent; its connection is closed then. */
  readonly timeoutMs?: number;
}

export interface OpenMeasure {
  /** Requests whose moment lay in the measured time; the sum of all the counts that follow. */
  readonly intended: number;
  /** 2xx. */
  readonly succeeded: number;
  /** 503. */
  readonly refused: number;
  /** Of these, without a Retry-After. */
  readonly refusedWithoutRetryAfter: number;
  /** Any other status. */
  readonly otherStatuses: Readonly<Record<string, number>>;
  /** Answers that did not come: the connection broke, or the time was up. */
  readonly broken: number;
  readonly timedOut: number;
  /** No connection was free in time. */
  readonly unsent: number;
  /** Successes a second of the measured time. */
  readonly goodPerSecond: number;
  /** From the intended start to the last byte of the answer. */
  readonly successMs: Distribution;
  /** The same of answers with 503 … */
  readonly refusalMs: Distribution;
  /** … and from when they were really sent: how early the server says no, without what the generator waited for a connection. */
  readonly refusalServedMs: Distribution;
  readonly successServedMs: Distribution;
  /** How late the generator looked for a connection. Much more than 1 or 2 ms: the generator itself was the bottleneck. */
  readonly generatorLateMs: Distribution;
}

export const openDefaults = { warmUpSeconds: 1, connections: 256, patienceMs: 1_000, timeoutMs: 10_000 } as const;

const generator = fileURLToPath(new URL('./open-loop/generator.ts', import.meta.url));
/** Beyond the load's own times: for starting, and for the last answers. */
const SLACK_MS = 60_000;

/** Plays one load and returns what came of it. Rejects when the server cannot be reached or there are too few shots. */
export async function fireOpen(load: OpenLoad): Promise<OpenMeasure> {
  const whole = { ...openDefaults, ...load };
  const needed = Math.ceil(whole.perSecond * (whole.warmUpSeconds + whole.seconds));
  if (whole.shots.length === 0 || (whole.once && whole.shots.length < needed))
    throw new Error(`${needed} requests are due and there are ${whole.shots.length} shots.`);
  const child = fork(generator, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced' });
  const limitMs = (whole.warmUpSeconds + whole.seconds) * 1000 + whole.timeoutMs + whole.patienceMs + SLACK_MS;
  const late = setTimeout(() => child.kill('SIGKILL'), limitMs);
  try {
    const ended = once(child, 'exit').then(([code]) => ({ failed: `The load generator ended with exit code ${code}.` }));
    const answered = once(child, 'message').then(([message]) => message as { measure: OpenMeasure } | { failed: string });
    child.send(whole);
    const outcome = await Promise.race([answered, ended]);
    if ('failed' in outcome) throw new Error(outcome.failed);
    return outcome.measure;
  } finally {
    clearTimeout(late);
    child.kill('SIGKILL');
  }
}
