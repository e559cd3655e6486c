// A PostgreSQL server of a test's own: a throw-away cluster on a free loopback port, which a test may stop, kill and start again.
// Uses the programs that are installed; installs nothing. Not for anything that should last: it does not fsync.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chownSync, constants, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';

const READY_TIMEOUT_MS = 60_000;
const READY_POLL_MS = 50;
const STOP_TIMEOUT_MS = 20_000;

/** Crashes that tests make are of processes, not of the machine, so what was written survives without fsync. */
const serverSettings = [
  'fsync=off',
  'full_page_writes=off',
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=200',
];

export interface PostgresServer {
  /** Of the database `postgres`; tests make their own databases beside it. */
  readonly url: string;
  /** fast: clients are cut off, the log is complete. immediate: like a crash, recovered at the next start. */
  stop(mode: 'fast' | 'immediate'): Promise<void>;
  /** Starts again after stop or kill9, on the same port with the same data; returns when it accepts connections. */
  start(): Promise<void>;
  kill9(): Promise<void>;
  /** Ends it and deletes its data. */
  remove(): Promise<void>;
}

interface Installation {
  readonly directory: string;
  /** PostgreSQL refuses to run as root; then it runs as this user. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function debianDirectories(): string[] {
  try {
    const root = '/usr/lib/postgresql';
    return readdirSync(root)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(root, version, 'bin'));
  } catch {
    return [];
  }
}

export function unprivilegedUser(): { uid: number; gid: number } | null {
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string): number =>
        Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // No such user; the next one may exist.
    }
  }
  return null;
}

/** The programs to run, or a sentence that says what is missing. */
function findInstallation(): Installation | string {
  const directories = [...(process.env.PATH ?? '').split(':').filter((path) => path !== ''), ...debianDirectories()];
  const directory = directories.find((path) => isExecutable(join(path, 'initdb')) && isExecutable(join(path, 'postgres')));
  if (directory === undefined) return 'no initdb and postgres on PATH or in /usr/lib/postgresql';
  if (process.getuid?.() !== 0) return { directory, user: null };
  const user = unprivilegedUser();
  return user === null ? 'running as root, and there is no user postgres or nobody to run PostgreSQL as' : { directory, user };
}

const installation = findInstallation();

/** Why PostgreSQL cannot be started here, or null. */
export const postgresMissing = typeof installation === 'string' ? installation : null;

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export function postgresUrl(port: number, database = 'postgres'): string {
  return `postgres://postgres@127.0.0.1:${port}/${database}`;
}

/** Resolves when the server answers; another process may be starting it. */
export async function untilReady(url: string): Promise<void> {
  const until = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (performance.now() > until) throw new Error(`PostgreSQL did not answer within ${READY_TIMEOUT_MS} ms`, { cause: error });
      await wait(READY_POLL_MS);
    }
  }
}

// The server ends with whoever holds the other end of the pipe, so that a killed test run leaves nothing behind.
const wrapper = 'exec 3<&0; "$@" & server=$!; echo $server; { cat <&3 >/dev/null; kill -INT $server 2>/dev/null; } & wait $server';

class Cluster implements PostgresServer {
  readonly url: string;
  readonly #found: Installation;
  readonly #home: string;
  readonly #port: number;
  #process: ChildProcess | null = null;
  #pid: number | null = null;

  constructor(found: Installation, home: string, port: number) {
    this.#found = found;
    this.#home = home;
    this.#port = port;
    this.url = postgresUrl(port);
  }

  get #options(): { cwd: string; uid?: number; gid?: number } {
    return { cwd: this.#home, ...(this.#found.user ?? {}) };
  }

  create(): void {
    const flags = ['-D', join(this.#home, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
    execFileSync(join(this.#found.directory, 'initdb'), flags, { ...this.#options, stdio: 'pipe' });
  }

  /** A streaming standby of the server at `url`. */
  copy(url: string): void {
    const flags = ['-D', join(this.#home, 'data'), '-d', url, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'];
    // Of the same version, also where PATH leads to the server's programs by links and not to this one.
    const directory = dirname(realpathSync(join(this.#found.directory, 'postgres')));
    execFileSync(join(directory, 'pg_basebackup'), flags, { ...this.#options, stdio: 'pipe' });
  }

  /** A streaming standby of the server at `url`, made of the files it left when it stopped. */
  copyFiles(data: string, url: string): void {
    const own = join(this.#home, 'data');
    execFileSync('cp', ['-a', data, own], { stdio: 'pipe' });
    const { port } = new URL(url);
    execFileSync('sh', ['-c', 'touch "$0/standby.signal" && echo "$1" >> "$0/postgresql.auto.conf"', own, conninfo(port)], this.#options);
  }

  async start(): Promise<void> {
    const command = [join(this.#found.directory, 'postgres'), '-D', join(this.#home, 'data'), '-p', String(this.#port)];
    for (const setting of serverSettings) command.push('-c', setting);
    const until = performance.now() + READY_TIMEOUT_MS;
    for (;;) {
      const child = spawn('sh', ['-c', wrapper, 'sh', ...command], { ...this.#options, stdio: ['pipe', 'pipe', 'ignore'] });
      child.stdin?.on('error', () => undefined);
      this.#process = child;
      const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
      this.#pid = Number(line.toString());
      const gone = once(child, 'exit').then(() => 'gone');
      if ((await Promise.race([untilReady(this.url), gone])) !== 'gone') return;
      // After kill -9 the children of the old server need a moment to notice; until then its memory counts as in use.
      if (performance.now() > until) throw new Error('PostgreSQL did not start');
      await wait(READY_POLL_MS);
    }
  }

  stop(mode: 'fast' | 'immediate'): Promise<void> {
    return this.#end(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
  }

  kill9(): Promise<void> {
    return this.#end('SIGKILL');
  }

  async remove(): Promise<void> {
    await this.#end('SIGQUIT');
    rmSync(this.#home, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (child === null || this.#pid === null) return;
    this.#process = null;
    if (child.exitCode === null) {
      const gone = once(child, 'exit', { signal: AbortSignal.timeout(STOP_TIMEOUT_MS) });
      process.kill(this.#pid, signal);
      await gone;
    }
    child.stdin?.destroy();
  }
}

const conninfo = (port: string): string => `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres'`;

function newCluster(port: number): Cluster {
  if (typeof installation === 'string') throw new Error(`PostgreSQL cannot be started: ${installation}`);
  const home = mkdtempSync(join(tmpdir(), 'tranche-postgres-'));
  if (installation.user !== null) chownSync(home, installation.user.uid, installation.user.gid);
  return new Cluster(installation, home, port);
}

/** A running cluster of the caller's own, on `port` where one is given. The caller removes it. */
export async function startPostgres(port?: number): Promise<PostgresServer> {
  return startCluster(port ?? (await freePort()), (cluster) => cluster.create());
}

/** A running standby that streams from the server at `url`. The caller removes it. */
export async function startStandby(url: string): Promise<PostgresServer> {
  return startCluster(await freePort(), (cluster) => cluster.copy(url));
}

/** The same from the files of `server`, which is stopped for it in good order and started again. The caller removes it. */
export async function startStandbyFromFiles(server: PostgresServer): Promise<PostgresServer> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { data } = (await client.query(`select current_setting('data_directory') as data`)).rows[0] as { data: string };
  await client.end();
  await server.stop('fast');
  const port = await freePort();
  const standby = newCluster(port);
  standby.copyFiles(data, server.url);
  await server.start();
  await standby.start();
  return standby;
}

async function startCluster(port: number, make: (cluster: Cluster) => void): Promise<PostgresServer> {
  const cluster = newCluster(port);
  try {
    make(cluster);
    await cluster.start();
    return cluster;
  } catch (error) {
    await cluster.remove();
    throw error;
  }
}
