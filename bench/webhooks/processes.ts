// The processes of the webhook benchmark: the receiver, the bare loop and the worker as users run it. Each ends with the run.

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Cost } from '../process-costs.ts';
import type { FromBare, ToBare } from './bare.ts';
import type { Seen, ToReceiver } from './receiver.ts';

const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 15_000;
const ANSWER_LIMIT_MS = 600_000;

const children = new Set<ChildProcess>();

/** Ends what is left of the run, whatever happened to it. */
export function killAll(): void {
  for (const child of children) child.kill('SIGKILL');
}

function track(child: ChildProcess): ChildProcess {
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

async function message<T>(child: ChildProcess, kind: string, limitMs: number): Promise<T> {
  const signal = AbortSignal.timeout(limitMs);
  for (;;) {
    const [said] = (await once(child, 'message', { signal })) as [{ kind: string; error?: string }];
    if (said.kind === 'failed') throw new Error(said.error);
    if (said.kind === kind) return said as T;
  }
}

export async function forkScript(
  file: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ child: ChildProcess; port: number }> {
  const env = { PATH: process.env.PATH ?? '', NODE_ENV: 'production', ...environment };
  const child = track(fork(file, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }));
  const { port } = await message<{ port: number }>(child, 'listening', START_LIMIT_MS);
  return { child, port };
}

export interface Receiver {
  readonly origin: string;
  ask(kind: ToReceiver['kind']): Promise<Seen>;
  stop(): void;
}

export async function startReceiver(): Promise<Receiver> {
  const { child, port } = await forkScript(fileURLToPath(new URL('./receiver.ts', import.meta.url)));
  return {
    origin: `http://127.0.0.1:${port}`,
    async ask(kind) {
      const answer = message<{ seen: Seen }>(child, 'seen', START_LIMIT_MS);
      child.send({ kind });
      return (await answer).seen;
    },
    stop: () => void child.kill(),
  };
}

/** Deliveries a second of the bare loop, and what they cost it. */
export async function runBare(order: ToBare): Promise<{ readonly perSecond: number; readonly cost: Cost }> {
  const { child } = await forkScript(fileURLToPath(new URL('./bare.ts', import.meta.url)));
  const done = message<FromBare>(child, 'done', ANSWER_LIMIT_MS);
  child.send(order);
  const { startedAt, endedAt, ...cost } = await done;
  child.kill();
  return { perSecond: (order.requests / (endedAt - startedAt)) * 1000, cost };
}

export interface Worker {
  readonly pid: number;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL('../../server/bin/tranche.js', import.meta.url));

/** `tranche worker`, as an operator starts it. BENCH_TRANCHE_ENV="NODE_OPTIONS=--cpu-prof" profiles it. */
export async function startWorker(environment: Readonly<Record<string, string>>): Promise<Worker> {
  const extra = (process.env.BENCH_TRANCHE_ENV ?? '').split(' ').filter((pair) => pair !== '');
  const child = track(
    spawn(process.execPath, [program, 'worker'], {
      env: {
        PATH: process.env.PATH ?? '',
        NODE_ENV: 'production',
        LOG_LEVEL: 'warn',
        WEBHOOK_NETWORK: 'any',
        ...environment,
        ...Object.fromEntries(extra.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)])),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  const signal = AbortSignal.timeout(START_LIMIT_MS);
  let said = '';
  while (!said.includes('delivers webhooks')) {
    const [chunk] = (await once(child.stdout as NodeJS.ReadableStream, 'data', { signal })) as [Buffer];
    said += chunk.toString();
  }
  child.stdout?.resume();
  return {
    pid: child.pid as number,
    async stop() {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      await ended;
      clearTimeout(late);
    },
  };
}
