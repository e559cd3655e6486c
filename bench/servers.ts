// The servers that are measured, each a process of its own: bare, by hand, and this service as it is served on either database.
// Starts and stops processes; measures nothing.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from './cluster.ts';

export const serverNames = ['bare', 'by hand', 'tranche', 'embedded'] as const;
export type ServerName = (typeof serverNames)[number];

export interface Server {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 15_000;
const POLL_MS = 50;
const root = fileURLToPath(new URL('..', import.meta.url));

const commands: Record<ServerName, string[]> = {
  bare: ['bench/bare/server.ts'],
  'by hand': ['bench/by-hand/server.ts'],
  tranche: ['server/bin/tranche.js', 'serve'],
  // The same, with a directory in place of a server's address.
  embedded: ['server/bin/tranche.js', 'serve'],
};

/** What this service needs besides the database; every guard is on, and only the limit is out of reach. */
export function trancheEnvironment(): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    RATE_LIMIT_PER_MINUTE: '100000000',
    LOG_LEVEL: 'warn',
    TRANCHE_API_KEY: `bench_${randomBytes(16).toString('hex')}`,
  };
}

function extraEnvironment(): Record<string, string> {
  const pairs = (process.env.BENCH_TRANCHE_ENV ?? '').split(' ').filter((pair) => pair !== '');
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}

/** Of one server; a broken one could say the same for every request. */
const MAX_COMPLAINT_BYTES = 4_000;

function showComplaints(child: ChildProcess): void {
  let shown = 0;
  child.stderr?.on('data', (chunk: Buffer) => {
    if (shown >= MAX_COMPLAINT_BYTES) return;
    process.stderr.write(chunk.subarray(0, MAX_COMPLAINT_BYTES - shown));
    shown += chunk.length;
    if (shown >= MAX_COMPLAINT_BYTES) process.stderr.write('\n… and more of the kind.\n');
  });
}

async function waitUntilAnswering(child: ChildProcess, name: ServerName, port: number): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`The ${name} server ended with exit code ${child.exitCode} before it answered.`);
    try {
      // Any answer will do: a 404 says as well as a 200 that somebody is there.
      await (await fetch(`http://127.0.0.1:${port}/healthz`)).arrayBuffer();
      return;
    } catch {
      await delay(POLL_MS);
    }
  }
  child.kill('SIGKILL');
  throw new Error(`The ${name} server did not answer within ${START_LIMIT_MS / 1000} s.`);
}

export async function startServer(name: ServerName, environment: Record<string, string>): Promise<Server> {
  const port = await freePort();
  const child = spawn(process.execPath, commands[name], {
    cwd: root,
    // BENCH_TRANCHE_ENV="LANES=4 NODE_OPTIONS=--cpu-prof" tries a setting of this service or profiles it.
    env: {
      PATH: process.env.PATH ?? '',
      NODE_ENV: 'production',
      ...environment,
      ...(name === 'tranche' || name === 'embedded' ? extraEnvironment() : {}),
      PORT: String(port),
    },
    // What a server prints at its start (a first key, say) is not ours to show; what goes wrong is.
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  showComplaints(child);
  await waitUntilAnswering(child, name, port);
  return {
    name,
    port,
    pid: child.pid as number,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}
