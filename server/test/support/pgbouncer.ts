// A PgBouncer of a test's own in transaction mode, with two server connections for any number of clients: whoever relies on a session is found out.
// Uses the program that is installed; installs nothing.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, postgresMissing, unprivilegedUser, untilReady } from './postgres-server.ts';

/** Fewer than any pool of ours, so that transactions of several clients take turns on one session. */
const SERVER_CONNECTIONS = 2;

const program = ['/usr/sbin/pgbouncer', ...(process.env.PATH ?? '').split(':').map((path) => join(path, 'pgbouncer'))].find((path) =>
  existsSync(path),
);

/** Why PgBouncer cannot be started here, or null. */
export const pgbouncerMissing = postgresMissing ?? (program === undefined ? 'pgbouncer is not installed' : null);
/** Where .ci/run says so, absence is a failure instead of a skip. */
export const canPool = pgbouncerMissing === null || process.env.TRANCHE_REQUIRE_PGBOUNCER === '1';

export interface Pooler {
  /** The same database, through the pooler. */
  through(url: string): string;
  stop(): Promise<void>;
}

// The pooler ends with whoever holds the other end of the pipe, so that a killed test run leaves nothing behind.
const wrapper = 'exec 3<&0; "$@" & pooler=$!; { cat <&3 >/dev/null; kill -KILL $pooler 2>/dev/null; } & wait $pooler';

/** In front of the server that `url` names, for every database of it. */
export async function startPgbouncer(url: string, mode: 'transaction' | 'session' = 'transaction'): Promise<Pooler> {
  if (program === undefined) throw new Error(`PgBouncer cannot be started: ${pgbouncerMissing}`);
  const { hostname, port: serverPort } = new URL(url);
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'tranche-pgbouncer-'));
  const user = process.getuid?.() === 0 ? unprivilegedUser() : null;
  writeFileSync(join(directory, 'users.txt'), '"postgres" ""\n');
  // Nothing is made easy: a start-up parameter that PgBouncer does not know is refused, as by default.
  const settings = [
    '[databases]',
    `* = host=${hostname} port=${serverPort}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = trust',
    `auth_file = ${join(directory, 'users.txt')}`,
    `pool_mode = ${mode}`,
    `default_pool_size = ${SERVER_CONNECTIONS}`,
    'max_client_conn = 500',
    'server_idle_timeout = 5',
  ];
  writeFileSync(join(directory, 'pgbouncer.ini'), `${settings.join('\n')}\n`);
  if (user !== null) chownSync(directory, user.uid, user.gid);
  const command = ['-c', wrapper, 'sh', program, '-q', join(directory, 'pgbouncer.ini')];
  const child: ChildProcess = spawn('sh', command, { cwd: directory, ...(user ?? {}), stdio: ['pipe', 'ignore', 'ignore'] });
  child.stdin?.on('error', () => undefined);
  const through = (direct: string): string => {
    const result = new URL(direct);
    result.port = String(port);
    return result.href;
  };
  await untilReady(through(url));
  return {
    through,
    async stop() {
      const gone = once(child, 'exit');
      child.stdin?.destroy();
      await gone;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
