// A throw-away PostgreSQL for one run of the benchmark: made in a temporary directory, gone when the run ends.
// Durable as in production: fsync and synchronous_commit stay on. Touches no other cluster of the machine.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Cluster {
  /** The connection string of one of its databases. */
  url(database: string): string;
  /** The process that all its others descend from; null where somebody else runs it, perhaps elsewhere. */
  readonly pid: number | null;
  stop(): void;
}

/** A port nobody listens on right now. */
export async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

function findBinaries(): string {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const found = [...versions.map((version) => join(debian, version, 'bin')), ...(process.env.PATH ?? '').split(':')];
  const bin = found.find((directory) => existsSync(join(directory, 'initdb')));
  if (bin === undefined) {
    throw new Error(
      'PostgreSQL is not installed. On Debian: apt-get install postgresql. Or give the URL of a server in BENCH_DATABASE_URL.',
    );
  }
  return bin;
}

/** Settings a person would make for such a machine; all that is served here runs on the same. Everything else is PostgreSQL's default. */
export const clusterSettings = {
  shared_buffers: '512MB',
  max_wal_size: '4GB',
  max_connections: '200',
  checkpoint_timeout: '15min',
} as const;

export async function startCluster(): Promise<Cluster> {
  const bin = findBinaries();
  const directory = mkdtempSync(join(tmpdir(), 'tranche-bench-'));
  const asPostgres = (command: string, parameters: string[]): void => {
    const root = process.getuid?.() === 0;
    const line = root ? ['runuser', '-u', 'postgres', '--', join(bin, command), ...parameters] : [join(bin, command), ...parameters];
    execFileSync(line[0] as string, line.slice(1), { stdio: ['ignore', 'ignore', 'inherit'], cwd: directory });
  };
  if (process.getuid?.() === 0) execFileSync('chown', ['postgres', directory]);
  const data = join(directory, 'data');
  const port = await freePort();
  asPostgres('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-instructions']);
  const settings = Object.entries(clusterSettings).map(([name, value]) => `-c ${name}=${value}`);
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${directory} ${settings.join(' ')}`;
  asPostgres('pg_ctl', ['-D', data, '-l', join(directory, 'log'), '-w', '-t', '60', '-o', options, 'start']);
  let stopped = false;
  return {
    pid: Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]),
    url: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    stop() {
      if (stopped) return;
      stopped = true;
      asPostgres('pg_ctl', ['-D', data, '-m', 'immediate', '-w', '-t', '30', 'stop']);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A server that someone else runs: databases are made in it by name, and dropped at the end. */
export function joinCluster(url: string): Cluster {
  return {
    url(database) {
      const address = new URL(url);
      address.pathname = `/${database}`;
      return address.href;
    },
    pid: null,
    stop: () => undefined,
  };
}
