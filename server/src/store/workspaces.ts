// Every SQL statement on workspaces themselves. They are made outside the lane, since there is no head yet to lock.

import type { ApiKey } from '../domain/api-key.ts';
import type { Workspace } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import { apiKeyTable } from './api-keys.ts';
import type { Database, Queryable } from './database.ts';
import { insertRows } from './tables.ts';

interface WorkspaceRow {
  id: Uuid;
  name: string;
  default_currency: string;
  created_at: Date;
}

const fromRow = (row: WorkspaceRow): Workspace => ({
  id: row.id,
  name: row.name,
  defaultCurrency: row.default_currency,
  createdAt: row.created_at,
});

/** Any number that nothing else in the database uses: processes that start at once set up one after the other. */
const SETUP_LOCK = 7_265_001;

/** The oldest workspace is the default one; null on an empty database. Primary key order, UUIDv7 being ordered by creation. */
export async function findDefaultWorkspace(queryable: Queryable): Promise<Workspace | null> {
  const rows = await queryable.query<WorkspaceRow>('select id, name, default_currency, created_at from workspaces order by id limit 1');
  return rows[0] === undefined ? null : fromRow(rows[0]);
}

export async function insertWorkspace(transaction: Queryable, workspace: Workspace, genesisHash: Buffer): Promise<void> {
  await transaction.query('insert into workspaces (id, name, default_currency, created_at) values ($1, $2, $3, $4)', [
    workspace.id,
    workspace.name,
    workspace.defaultCurrency,
    workspace.createdAt,
  ]);
  await transaction.query('insert into workspace_heads (workspace_id, event_hash, last_time) values ($1, $2, $3)', [
    workspace.id,
    genesisHash,
    workspace.createdAt,
  ]);
}

export interface Setup {
  /** Made where the database has no workspace yet. */
  readonly workspace: Workspace;
  readonly genesisHash: Buffer;
  /** Made together with the first workspace, so that exactly one process of several has a first key to show. */
  readonly firstKey: (workspaceId: Uuid) => ApiKey;
  /** Made in the default workspace where no key with its hash exists. */
  readonly configuredKey: ((workspaceId: Uuid) => ApiKey) | null;
}

export interface SetupResult {
  readonly workspace: Workspace;
  readonly madeFirstKey: boolean;
  /** The configured key as it stands in the database. */
  readonly configuredKey: ApiKey | null;
}

/** Makes the default workspace and the keys a start asks for, where they are missing: one transaction under an advisory lock. */
export function setUpWorkspace(database: Database, setup: Setup): Promise<SetupResult> {
  return database.transaction(async (transaction) => {
    await transaction.query('select pg_advisory_xact_lock($1)', [SETUP_LOCK]);
    const found = await findDefaultWorkspace(transaction);
    const workspace = found ?? setup.workspace;
    const madeFirstKey = found === null && setup.configuredKey === null;
    if (found === null) await insertWorkspace(transaction, workspace, setup.genesisHash);
    if (madeFirstKey) await insertRows(transaction, apiKeyTable, [setup.firstKey(workspace.id)]);
    let configuredKey: ApiKey | null = null;
    if (setup.configuredKey !== null) {
      const wanted = setup.configuredKey(workspace.id);
      // Index api_keys_by_hash.
      const rows = await transaction.query<Record<string, unknown>>(`select ${apiKeyTable.select('k')} from api_keys k where k.hash = $1`, [
        wanted.hash,
      ]);
      configuredKey = rows[0] === undefined ? wanted : apiKeyTable.fromRow(rows[0]);
      if (rows[0] === undefined) await insertRows(transaction, apiKeyTable, [wanted]);
    }
    return { workspace, madeFirstKey, configuredKey };
  });
}
