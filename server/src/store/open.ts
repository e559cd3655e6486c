// Chooses the database by configuration: a PostgreSQL server where DATABASE_URL names one, the embedded one otherwise.
// Opens only; migrations are the caller's next step.

import type { Database, Queryable } from './database.ts';
import type { Log } from './log.ts';
import { PoolerInTheWay } from './pooler.ts';
import { openPostgres, type PostgresPort } from './postgres.ts';

const OLDEST_MAJOR = 15;
const DEFAULT_POOL_SIZE = 10;

export interface DatabaseConfig {
  readonly databaseUrl?: string | undefined;
  readonly databaseDirectUrl?: string | undefined;
  readonly preparedStatements: boolean;
  readonly dataDir: string;
  readonly poolSize?: number | undefined;
}

/** The server is too old for what the service relies on. */
export class UnsupportedDatabase extends Error {
  constructor(version: string) {
    super(
      `The database is PostgreSQL ${version}; version ${OLDEST_MAJOR} or later is needed. Upgrade it, or point DATABASE_URL at another server.`,
    );
    this.name = 'UnsupportedDatabase';
  }
}

/** Throws `DatabaseUnavailable` when no server answers, `UnsupportedDatabase` when it is too old, `PoolerInTheWay` as it says, `DirectoryInUse` when the directory is taken. */
export async function openDatabase(config: DatabaseConfig, log: Log): Promise<Database> {
  if (config.databaseUrl === undefined) {
    // Not loaded where a server takes its place.
    const { openPglite } = await import('./pglite.ts');
    return openPglite({ dataDir: config.dataDir, log });
  }
  const database = await openPostgres({
    url: config.databaseUrl,
    directUrl: config.databaseDirectUrl,
    preparedStatements: config.preparedStatements,
    poolSize: config.poolSize ?? DEFAULT_POOL_SIZE,
    log,
  });
  try {
    // Whatever the first statement came to, it shows who answers; and a pooler that nobody knows of may be why it failed.
    const asked = await refuseOldServer(database).catch((error: Error) => error);
    refusePooler(database, config);
    if (asked instanceof Error) throw asked;
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** A pooler is fine where the configuration knows of it. The same address twice says that it gives every client a session of its own. */
function refusePooler(database: PostgresPort, { databaseUrl, databaseDirectUrl, preparedStatements }: DatabaseConfig): void {
  if (!database.isPooled() || databaseDirectUrl === databaseUrl) return;
  if (databaseDirectUrl === undefined) throw new PoolerInTheWay('DATABASE_URL');
  if (preparedStatements) throw new PoolerInTheWay('PREPARED_STATEMENTS');
}

export async function refuseOldServer(database: Queryable): Promise<void> {
  const rows = await database.query<{ number: number; version: string }>(
    `select current_setting('server_version_num')::integer as number, current_setting('server_version') as version`,
  );
  const server = rows[0];
  if (server === undefined || server.number < OLDEST_MAJOR * 10_000)
    throw new UnsupportedDatabase(server?.version ?? 'of an unknown version');
}
