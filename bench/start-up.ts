// How long a start takes, from the spawn of the process to the first 200 of /readyz: on an existing PostgreSQL, and on the embedded database.
// `node bench/start-up.ts [-- --starts n]`. Prints a table and ends with 1 where a median is over its limit. Judges nothing else.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { freePort, startCluster } from './cluster.ts';

import { median } from './results.ts';
import { trancheEnvironment } from './servers.ts';

const program = fileURLToPath(new URL('../server/bin/tranche.js', import.meta.url));
const POLL_MS = 5;
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 15_000;

const { values: flags } = parseArgs({ options: { starts: { type: 'string', default: '5' } } });
const starts = Number(flags.starts);

type Environment = Readonly<Record<string, string>>;

interface Case {
  readonly name: string;
  readonly limitMs: number;
  /** The variables of the next start. */
  readonly variables: () => Environment;
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const call = get({ host: '127.0.0.1', port, path: '/readyz', agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    call.on('error', () => resolve(false));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  await ended;
  clearTimeout(late);
}

async function startOnce(variables: Environment): Promise<number> {
  const port = await freePort();
  const begunAtMs = performance.now();
  const child = spawn(process.execPath, [program, 'serve'], {
    env: { PATH: process.env.PATH ?? '', NODE_ENV: 'production', ...variables, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    while (performance.now() - begunAtMs < START_LIMIT_MS) {
      if (child.exitCode !== null) throw new Error(`The server ended with exit code ${child.exitCode} before it was ready.`);
      if (await isReady(port)) return performance.now() - begunAtMs;
      await delay(POLL_MS);
    }
    throw new Error(`The server was not ready within ${START_LIMIT_MS / 1000} s.`);
  } finally {
    await stop(child);
  }
}

async function measure({ name, limitMs, variables }: Case): Promise<boolean> {
  await startOnce(variables()); // Files are in memory, compiled code is on disk, migrations are applied: as at every start but the first.
  const times: number[] = [];
  for (let i = 0; i < starts; i++) times.push(await startOnce(variables()));
  const mid = median(times);
  const verdict = mid <= limitMs ? `within ${limitMs} ms` : `OVER ${limitMs} ms`;
  const range = `${Math.round(Math.min(...times))}–${Math.round(Math.max(...times))}`;
  console.log(`${name.padEnd(34)} ${String(Math.round(mid)).padStart(6)} ms  (${range})  ${verdict}`);
  return mid <= limitMs;
}

async function main(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'tranche-start-up-'));
  const cluster = await startCluster();
  // The same encryption key at every start. Nothing is logged: the first look at /readyz may well come too early, and that is an error there.
  const key = { ...trancheEnvironment(), LOG_LEVEL: 'fatal' };
  let made = 0;
  try {
    const postgres = { ...key, DATABASE_URL: cluster.url('postgres'), DATA_DIR: scratch };
    const embedded = { ...key, DATA_DIR: join(scratch, 'embedded') };
    const cases: Case[] = [
      { name: 'An existing PostgreSQL', limitMs: 1_500, variables: () => postgres },
      { name: 'The embedded database, existing', limitMs: 3_000, variables: () => embedded },
      {
        name: 'The embedded database, first start',
        limitMs: 3_000,
        variables: () => ({ ...key, DATA_DIR: join(scratch, `new-${made++}`) }),
      },
    ];
    console.log(`Median of ${starts} starts, from spawn to the first 200 of /readyz`);
    for (const one of cases) if (!(await measure(one))) process.exitCode = 1;
  } finally {
    cluster.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

await main();
