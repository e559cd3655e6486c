// One process per data directory: two that write to one embedded database silently lose each other's data.
// A lock of the operating system, through SQLite since Node has no flock: whatever way the holder ends, kill -9 included, it is free.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';

/** When a service restarts, the old process may still be finishing what it accepted. */
const WAIT_MS = 5_000;
const POLL_MS = 50;

export class DirectoryInUse extends Error {
  constructor(directory: string, holder: string | null) {
    super(
      `Another process${holder === null ? '' : ` (pid ${holder})`} is using the data directory ${directory}, which can serve one at a time. ` +
        'Stop that process, or set DATA_DIR to another directory, or set DATABASE_URL to share a PostgreSQL server between processes.',
    );
    this.name = 'DirectoryInUse';
  }
}

/** Locks the directory, which must exist, and returns what frees it. Throws `DirectoryInUse` when it stays taken for `waitMs`. */
export async function lockDirectory(directory: string, waitMs = WAIT_MS): Promise<() => void> {
  const until = performance.now() + waitMs;
  // The pid is for people only; it may be out of date and decides nothing.
  const pidFile = join(directory, 'lock.pid');
  for (;;) {
    const release = tryLock(join(directory, 'lock'));
    if (release !== null) {
      writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
      return release;
    }
    if (performance.now() >= until) throw new DirectoryInUse(directory, readPid(pidFile));
    await wait(POLL_MS);
  }
}

function tryLock(path: string): (() => void) | null {
  const database = new DatabaseSync(path);
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    const SQLITE_BUSY = 5;
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return null;
    throw error;
  }
  // Nothing is written into it, so there is nothing to commit.
  return () => database.close();
}

function readPid(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null;
  }
}
