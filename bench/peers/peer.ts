// What every peer has in common: it is installed into a folder, set up on a database and started; then it takes part as any contestant.
// Knows no framework.

import { execFile, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../cluster.ts';
import type { Contestant } from '../contestants.ts';
import { type Door, openServer } from '../doors.ts';
import type { Load, Shot } from '../load.ts';
import { CONNECTIONS } from '../load.ts';
import { settle } from '../seed.ts';
import type { Server } from '../servers.ts';
import type { Work } from '../works.ts';

export interface Stage {
  /** Where it is installed; there is nobody else's there. */
  readonly folder: string;
  readonly databaseUrl: string;
  readonly rows: number;
  onEnd(end: () => unknown): void;
}

/** A framework as it takes part. */
export interface Peer {
  readonly name: string;
  /** What is installed, for the report. */
  readonly versions: string;
  /** Does nothing where it was done before. */
  install(folder: string): Promise<void>;
  start(stage: Stage): Promise<PeerWorks>;
}

/** A started peer: what to send to it, and where its payments are. */
export interface PeerWorks {
  readonly server: Server;
  reads(): readonly Shot[];
  creates(): readonly Shot[];
  /** Submitted milestones made ready in its database, one request each. */
  approvals(door: Door, count: number): Promise<readonly Shot[]>;
  readonly paymentsTable: string;
}

export const peerWorks = ['read', 'create', 'approve'] as const satisfies readonly Work[];

const FIRST_PACE = 2_000;
const HEADROOM = 1.6;
const FEWEST_PER_SECOND = 200;

/** Requests cut off by the end of a round finish first: counted until it no longer grows. */
async function countPayments(door: Door, table: string): Promise<number> {
  let last = -1;
  for (let tries = 0, same = 0; tries < 100 && same < 3; tries++) {
    const [row] = await door.query<{ n: number }>(`select count(*)::int as n from ${table}`);
    same = row?.n === last ? same + 1 : 0;
    last = row?.n ?? 0;
    await delay(100);
  }
  return last;
}

export async function asContestant(name: string, works: PeerWorks, databaseUrl: string): Promise<Contestant> {
  const door = await openServer(databaseUrl);
  let pace = FIRST_PACE;
  let before = 0;
  return {
    name,
    server: works.server,
    usesServer: true,
    plays: (work) => (peerWorks as readonly Work[]).includes(work),
    async prepare(work, seconds): Promise<Load> {
      const moves = work === 'approve' ? await works.approvals(door, Math.ceil(pace * seconds * HEADROOM)) : [];
      await settle(door);
      if (work === 'read') return { shots: works.reads(), once: false, seconds };
      if (work === 'create') return { shots: works.creates(), once: false, seconds };
      before = await countPayments(door, works.paymentsTable);
      return { shots: moves, once: true, seconds };
    },
    async check(work, _load, { answers, perSecond }) {
      if (work !== 'approve') return null;
      pace = Math.max(perSecond, FEWEST_PER_SECOND);
      const made = (await countPayments(door, works.paymentsTable)) - before;
      return made >= answers && made <= answers + CONNECTIONS ? null : `approve: ${answers} were answered, ${made} payments made`;
    },
    permit: () => undefined,
    async finish() {
      await works.server.stop();
      await door.close();
      return [];
    },
  };
}

const run = promisify(execFile);
const INSTALL_LIMIT_MS = 15 * 60_000;

/** What fetching packages may need; what else is set here stays here. */
const passedOn = ['PATH', 'HOME', 'NODE_EXTRA_CA_CERTS', 'HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'];

/** A command in the folder of a peer, bounded in time; what it printed last is told when it fails. */
export async function runIn(
  folder: string,
  command: string,
  parameters: readonly string[],
  environment: Record<string, string> = {},
): Promise<void> {
  const env = { ...Object.fromEntries(passedOn.map((name) => [name, process.env[name]])), ...environment };
  try {
    await run(command, parameters, { cwd: folder, env, timeout: INSTALL_LIMIT_MS, maxBuffer: 64 << 20 });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    const said = `${stdout}\n${stderr}`.trim().split('\n').slice(-8).join('\n');
    throw new Error(`${command} ${parameters.join(' ')} failed: ${said}`, { cause: error });
  }
}

const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 10_000;

export interface Program {
  readonly name: string;
  readonly folder: string;
  readonly parameters: readonly string[];
  readonly environment: Record<string, string>;
  /** Answers once it serves. */
  readonly readyPath: string;
}

/** Starts a server with a port of its own, and waits until it answers. */
export async function startProgram(program: Program): Promise<Server> {
  const port = await freePort();
  const said: string[] = [];
  const options: SpawnOptions = {
    cwd: program.folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production', ...program.environment, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  };
  const child = spawn(process.execPath, program.parameters, options);
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => said.push(String(chunk)) > 50 && said.shift());
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    await ended;
    clearTimeout(timer);
  };
  const deadline = Date.now() + START_LIMIT_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    try {
      await (await fetch(`http://127.0.0.1:${port}${program.readyPath}`)).arrayBuffer();
      return { name: program.name, port, pid: child.pid as number, stop };
    } catch {
      await delay(100);
    }
  }
  await stop();
  throw new Error(`${program.name} did not answer: ${said.join('').trim().split('\n').slice(-8).join('\n')}`);
}
