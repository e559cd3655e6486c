// The ways into a database of the benchmark: one connection to a server, or the embedded database while nobody serves it.
// Opens and closes; knows no table.

import pg from 'pg';
import type { Queryable } from '../server/src/store/database.ts';
import { readMigrations } from '../server/src/store/migrations.ts';
import { openPglite } from '../server/src/store/pglite.ts';
import { openPostgres } from '../server/src/store/postgres.ts';
import { valueTypes } from '../server/src/store/values.ts';

export interface Door extends Queryable {
  close(): Promise<void>;
}

/** Prints what goes wrong and nothing else: the terminal belongs to the table. */
export const quietLog = { info: () => undefined, warn: console.warn, error: console.error };

/** Pipelined: statements may be sent without waiting for the ones before them. */
export async function openServer(url: string): Promise<Door> {
  const client = new pg.Client({ connectionString: url, pipeline: true, types: valueTypes });
  // A connection that is cut while nobody waits for it (its database is dropped at the end) must not end the run.
  client.on('error', () => undefined);
  await client.connect();
  return {
    query: async <Row>(text: string, parameters?: readonly unknown[]) => {
      const { rows } = await (parameters === undefined ? client.query(text) : client.query(text, parameters as unknown[]));
      return rows as Row[];
    },
    close: () => client.end(),
  };
}

/** Brings the schema of a database up to date, as the service does at its start. */
export async function migrate(url: string): Promise<void> {
  const database = await openPostgres({ url, preparedStatements: true, poolSize: 1, log: quietLog });
  await database.migrate(await readMigrations());
  await database.close();
}

/** The embedded database in a directory, made and migrated; the server must not be running on it. */
export async function openDirectory(dataDir: string): Promise<Door> {
  const database = await openPglite({ dataDir, log: quietLog });
  await database.migrate(await readMigrations());
  return database;
}
