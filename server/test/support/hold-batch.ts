// Runs a batch up to its COMMIT, hands over what it leaves, and commits, or fails, when told to.

import { type BatchServices, runBatch } from '../../src/commands/batch.ts';
import type { AnyCommand } from '../../src/commands/command.ts';
import type { Ahead } from '../../src/commands/open-working-set.ts';
import type { Database, Transaction } from '../../src/store/database.ts';

export function holdBatch(commands: readonly AnyCommand[], mode: 'skip' | Ahead, services: BatchServices) {
  const { database } = services;
  let release: (fail?: Error) => void = () => undefined;
  const gate = new Promise<void>((resolve, reject) => {
    release = (fail) => (fail === undefined ? resolve() : reject(fail));
  });
  const held: Database = Object.create(database, {
    transaction: {
      value: (work: (transaction: Transaction) => Promise<unknown>) =>
        database.transaction(async (transaction) => {
          const result = await work(transaction);
          await gate;
          return result;
        }),
    },
  });
  let ended: Promise<unknown> = Promise.resolve();
  const ahead = new Promise<Ahead>((resolve, reject) => {
    ended = runBatch(commands, mode, { ...services, database: held }, resolve);
    ended.catch(reject);
  });
  return { ahead, ended: ended.then(() => undefined), release };
}
