// The service as its users run it: a real `tranche serve` in a process and a directory of its own, on a port the system picks.
// Also the other commands of the command line. Knows what is printed and answered, and nothing of the inside.

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { emptyPostgresDatabase, testDatabases } from './databases.ts';

const program = fileURLToPath(new URL('../../bin/tranche.js', import.meta.url));

/** On a machine that is busy with other tests, a first start takes several seconds. */
const START_TIMEOUT_MS = 40_000;
const COMMAND_TIMEOUT_MS = 40_000;

export type Environment = Readonly<Record<string, string>>;

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely; a wrong guess fails the test.
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
  readonly text: string;
}

export interface Sent {
  readonly body?: unknown;
  readonly key?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

export interface ServerProcess {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The lines of the log, parsed. Throws where one is no JSON: then something else was written to standard error. */
  readonly log: () => Json[];
  /** Rejects when no whole answer came. */
  call(method: string, path: string, sent?: Sent): Promise<Answer>;
  /** Calls and insists on a success. */
  ok(method: string, path: string, sent?: Sent): Promise<Json>;
  signal(signal: NodeJS.Signals): void;
  /** When it is gone, and how. */
  readonly ended: Promise<Finished>;
  kill9(): Promise<void>;
  /** SIGTERM, and how it ended. */
  stop(): Promise<Finished>;
}

/** Nothing of this process's own environment but what programs need, so that a developer's settings decide nothing. */
function environment(variables: Environment): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR, NO_COLOR: '1', ...variables };
}

interface Child {
  readonly process: ChildProcess;
  readonly out: { stdout: string; stderr: string };
  readonly ended: Promise<Finished>;
}

function launch(words: readonly string[], variables: Environment, through: readonly string[] = []): Child {
  const [command, ...rest] = [...through, process.execPath, program, ...words] as [string, ...string[]];
  const child = spawn(command, rest, { env: environment(variables), stdio: ['ignore', 'pipe', 'pipe'] });
  const out = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (out.stderr += text));
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...out }) as Finished);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { process: child, out, ended };
}

/** Runs a command to its end. */
export async function tranche(words: readonly string[], variables: Environment): Promise<Finished> {
  const child = launch(words, variables);
  const late = setTimeout(() => child.process.kill('SIGKILL'), COMMAND_TIMEOUT_MS);
  return child.ended.finally(() => clearTimeout(late));
}

/**
 * Starts to serve and returns when it says where. Rejects, with what it said, when it ends instead. `through` is a command that becomes
 * the server, in surroundings of its own.
 */
export async function startServer(
  variables: Environment,
  options: readonly string[] = [],
  through: readonly string[] = [],
): Promise<ServerProcess> {
  const settings = { HOST: '127.0.0.1', PORT: '0', RATE_LIMIT_PER_MINUTE: '1000000', ...variables };
  const child = launch(['serve', ...options], settings, through);
  const late = setTimeout(() => child.process.kill('SIGKILL'), START_TIMEOUT_MS);
  const url = await Promise.race([addressOf(child, variables), child.ended]).finally(() => clearTimeout(late));
  if (typeof url !== 'string') throw new Error(`serve ended with ${url.code ?? url.signal}: ${url.stdout}${url.stderr}`);
  return asServer(child, url, variables.TRANCHE_API_KEY);
}

/** Waits for the last line of the greeting: how to go on, or where a key was configured, the address of the reference. */
async function addressOf({ process: child, out }: Child, variables: Environment): Promise<string> {
  const end = variables.TRANCHE_API_KEY === undefined ? /(npm run demo|keys create).*\n\n$/ : /(Reference|Others can reach).*\n\n$/;
  for (;;) {
    const found = /serves at (http:\S+)\n/.exec(out.stdout);
    if (found !== null && end.test(out.stdout)) return found[1] as string;
    await once(child.stdout as NodeJS.ReadableStream, 'data');
  }
}

export interface WorkerProcess {
  /** Where its operators ask. */
  readonly url: string;
  readonly stdout: () => string;
  readonly log: () => Json[];
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<Finished>;
  kill9(): Promise<void>;
  /** SIGTERM, and how it ended. */
  stop(): Promise<Finished>;
}

/** Starts `tranche worker`, with a port for its operators that the system picks, and returns when it delivers. */
export async function startWorkerProcess(variables: Environment): Promise<WorkerProcess> {
  const child = launch(['worker'], { METRICS_PORT: '0', WEBHOOK_NETWORK: 'any', ...variables });
  const late = setTimeout(() => child.process.kill('SIGKILL'), START_TIMEOUT_MS);
  const url = await Promise.race([operatorsOf(child), child.ended]).finally(() => clearTimeout(late));
  if (typeof url !== 'string') throw new Error(`worker ended with ${url.code ?? url.signal}: ${url.stdout}${url.stderr}`);
  const signal = (name: NodeJS.Signals): void => void child.process.kill(name);
  return {
    url,
    stdout: () => child.out.stdout,
    log: () => parseLog(child.out.stderr),
    signal,
    ended: child.ended,
    async kill9() {
      signal('SIGKILL');
      await child.ended;
    },
    stop() {
      signal('SIGTERM');
      return child.ended;
    },
  };
}

async function operatorsOf({ process: child, out }: Child): Promise<string> {
  for (;;) {
    const found = /Health +(http:\S+)\n\n/.exec(out.stdout);
    if (found !== null) return found[1] as string;
    await once(child.stdout as NodeJS.ReadableStream, 'data');
  }
}

/** Every sample of a metrics page: `name{labels}` to value. Throws at a line that is not of the text format. */
export async function readMetrics(url: string, token?: string): Promise<Map<string, number>> {
  const answer = await fetch(`${url}/metrics`, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } });
  if (answer.status !== 200) throw new Error(`/metrics answered ${answer.status}`);
  const samples = new Map<string, number>();
  for (const line of (await answer.text()).trimEnd().split('\n')) {
    if (/^# (HELP \w+ \S.*|TYPE \w+ (counter|gauge|histogram))$/.test(line)) continue;
    const sample = /^([a-z_]\w*(?:\{\w+="[^"]*"(?:,\w+="[^"]*")*\})?) ([0-9.e+-]+|\+Inf|NaN)$/.exec(line);
    if (sample === null) throw new Error(`not a line of the text format: ${line}`);
    samples.set(sample[1] as string, sample[2] === '+Inf' ? Number.POSITIVE_INFINITY : Number(sample[2]));
  }
  return samples;
}

function asServer(child: Child, url: string, ownKey: string | undefined): ServerProcess {
  async function call(method: string, path: string, { body, key = ownKey, idempotencyKey }: Sent = {}): Promise<Answer> {
    const headers: Record<string, string> = {};
    if (key !== undefined) headers.authorization = `Bearer ${key}`;
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
    const answer = await fetch(`${url}${path}`, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text), text };
  }
  const signal = (name: NodeJS.Signals): void => void child.process.kill(name);
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.process.pid as number,
    stdout: () => child.out.stdout,
    stderr: () => child.out.stderr,
    log: () => parseLog(child.out.stderr),
    call,
    async ok(method, path, sent) {
      const answer = await call(method, path, sent);
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.body;
    },
    signal,
    ended: child.ended,
    async kill9() {
      signal('SIGKILL');
      await child.ended;
    },
    stop() {
      signal('SIGTERM');
      return child.ended;
    },
  };
}

export function parseLog(text: string): Json[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

// --- where it keeps its books ---------------------------------------------------------------------------------------------------------

/** A directory that is deleted when the test ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tranche-process-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const cacheDirectory = fileURLToPath(new URL('../../../node_modules/.cache/tranche-tests/', import.meta.url));
const migrations = fileURLToPath(new URL('../../src/store/migrations/', import.meta.url));
const engine = fileURLToPath(new URL('../../../node_modules/@electric-sql/pglite/package.json', import.meta.url));

/** A migrated, empty data directory to copy: to make one takes the engine seconds. Anew whenever the engine or a migration changes. */
async function emptyDataDirectory(): Promise<string> {
  const content = createHash('sha256').update(readFileSync(engine));
  for (const name of readdirSync(migrations).sort()) content.update(readFileSync(join(migrations, name)));
  const directory = join(cacheDirectory, `data-${content.digest('hex').slice(0, 16)}`);
  if (existsSync(directory)) return directory;
  const unfinished = `${directory}.${process.pid}`;
  const made = await tranche(['migrate'], { DATA_DIR: unfinished });
  if (made.code !== 0) throw new Error(made.stderr);
  try {
    renameSync(unfinished, directory);
  } catch {
    // Another test process was faster.
    rmSync(unfinished, { recursive: true, force: true });
  }
  return directory;
}

/** A data directory of the test's own, migrated and empty. */
export async function dataDirectory(): Promise<string> {
  const directory = join(temporaryDirectory(), 'data');
  mkdirSync(directory, { mode: 0o700 });
  cpSync(await emptyDataDirectory(), directory, { recursive: true });
  return directory;
}

/** A full-access key to start a server with. */
export const someKey = (): string => `test_${randomBytes(20).toString('hex')}`;

export interface Place {
  readonly name: 'embedded' | 'PostgreSQL';
  readonly available: boolean;
  readonly reason?: string | undefined;
  /** Fresh books; the variables make a server keep them there, with a key of its own. */
  readonly make: () => Promise<Record<string, string>>;
}

/** A server's variables for PostgreSQL; with another `url` where something stands in between. */
export function postgresVariables(url: string): Record<string, string> {
  return {
    DATABASE_URL: url,
    DATABASE_POOL_SIZE: '6',
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: temporaryDirectory(),
    TRANCHE_API_KEY: someKey(),
  };
}

const postgres = testDatabases.find(({ name }) => name === 'PostgreSQL');

export const places: readonly Place[] = [
  { name: 'embedded', available: true, make: async () => ({ DATA_DIR: await dataDirectory(), TRANCHE_API_KEY: someKey() }) },
  {
    name: 'PostgreSQL',
    available: postgres?.available === true,
    reason: postgres?.reason,
    make: async () => postgresVariables(await emptyPostgresDatabase()),
  },
];

export const hasPostgres = postgres?.available === true;
