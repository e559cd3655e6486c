// The books of a process: the database brought up to date, the one road for writes, and the clock, ids and randomness that all of it shares.
// The lower half of the composition root; knows nothing of HTTP.

import { randomFillSync } from 'node:crypto';
import { accessSync, constants, mkdirSync } from 'node:fs';
import type { Logger } from 'pino';
import { createPasswordWork } from './accounts/password-work.ts';
import type { Committed } from './commands/carry-out.ts';
import { createLanes, type Lane } from './commands/lane.ts';
import { type Config, ConfigurationError, databaseOptions } from './config.ts';
import { createIdGenerator } from './domain/ids.ts';
import { createLog } from './log.ts';
import { createAnnouncer } from './operations/announcer.ts';
import { createHintAnnouncer } from './operations/hint-announcer.ts';
import { createOperations, type Operations } from './operations/operations.ts';
import { type Cipher, checkEncryptionKey, createCipher, loadEncryptionKey } from './store/cipher.ts';
import type { Database } from './store/database.ts';
import { readMigrations } from './store/migrations.ts';
import { openDatabase } from './store/open.ts';

export const clock = (): Date => new Date();
export const random = (bytes: Uint8Array): void => {
  randomFillSync(bytes);
};
export const newId = createIdGenerator(Date.now, random);

/** The database brought up to date, and what every use of the books needs. */
export interface Store {
  readonly database: Database;
  readonly cipher: Cipher;
  readonly lane: Lane;
  readonly operations: Operations;
  /** Migrations that this start applied. */
  readonly applied: readonly string[];
  /** Called after each commit, before its commands are answered; a serving process adds its own cache here. */
  readonly onCommitted: ((committed: Committed) => void)[];
  /** Called after each commit, to count it. */
  readonly onBatch: ((commands: number, durationMs: number) => void)[];
  close(): Promise<void>;
}

export async function openStore(config: Config, log: Logger = createLog(config)): Promise<Store> {
  if (config.DATABASE_URL === undefined) makeDataDirectory(config.DATA_DIR);
  const database = await openDatabase(databaseOptions(config), log);
  try {
    const applied = await database.migrate(await readMigrations());
    const required = config.DATABASE_URL !== undefined;
    const cipher = createCipher(loadEncryptionKey({ encryptionKey: config.ENCRYPTION_KEY, dataDir: config.DATA_DIR, required }));
    await checkEncryptionKey(database, cipher);
    return assembleStore(database, cipher, config, log, applied);
  } catch (error) {
    await database.close();
    throw error;
  }
}

function makeDataDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError(
      `DATA_DIR ${path} cannot be used: ${reason}. Give it to the user that runs Tranche, or choose another one.`,
    );
  }
}

/** The store around a database that is open and migrated. */
export function assembleStore(
  database: Database,
  cipher: Cipher,
  config: Pick<Config, 'LANES'> & Partial<Pick<Config, 'OVERLOAD_WAIT_MS'>>,
  log: Logger,
  applied: readonly string[] = [],
): Store {
  const announcer = createAnnouncer(database, (error) =>
    log.warn({ err: error }, 'a notification could not be sent; others will notice by themselves'),
  );
  const hints = createHintAnnouncer(database, (error) => log.warn({ err: error }, 'a hint of changes could not be sent'));
  const onCommitted: Store['onCommitted'] = [announcer.announce, (committed) => hints.announce(committed.hints)];
  const onBatch: Store['onBatch'] = [];
  const lane = createLanes(database.kind === 'pglite' ? 1 : config.LANES, {
    database,
    clock,
    newId,
    cipher,
    maxWaitMs: config.OVERLOAD_WAIT_MS,
    onCommitted: (committed) => {
      for (const listener of onCommitted) listener(committed);
    },
    onBatch: (commands, durationMs) => {
      for (const listener of onBatch) listener(commands, durationMs);
    },
  });
  return {
    database,
    cipher,
    lane,
    onCommitted,
    onBatch,
    applied,
    operations: createOperations({ database, lane, clock, newId, random, hashPassword: createPasswordWork().hash }),
    async close() {
      await lane.close();
      await announcer.settled();
      hints.stop();
      await database.close();
    },
  };
}
