// Every SQL statement on idempotency keys: looked up and written by the lane, in the transaction of the effect.

import type { Uuid } from '../domain/ids.ts';
import type { Queryable } from './database.ts';
import type { Write } from './tables.ts';

export interface IdempotencyRecord {
  readonly workspaceId: Uuid;
  readonly key: string;
  readonly fingerprint: Buffer;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The answer's text; encrypted when `sealed`. */
  readonly body: string;
  readonly sealed: boolean;
  readonly createdAt: Date;
}

interface IdempotencyRow {
  workspace_id: Uuid;
  key: string;
  fingerprint: Buffer;
  status: number;
  headers: Record<string, string>;
  body: string;
  sealed: boolean;
  created_at: Date;
}

/** By the primary key (workspace_id, key); the heads' locks keep others from writing the same keys meanwhile. */
export async function findIdempotencyRecords(
  transaction: Queryable,
  keys: readonly { readonly workspaceId: Uuid; readonly key: string }[],
): Promise<IdempotencyRecord[]> {
  const rows = await transaction.query<IdempotencyRow>(
    `select i.* from unnest($1::uuid[], $2::text[]) as n(workspace_id, key)
     join idempotency_keys i on i.workspace_id = n.workspace_id and i.key = n.key`,
    [keys.map((key) => key.workspaceId), keys.map((key) => key.key)],
  );
  return rows.map(({ workspace_id, created_at, ...row }) => ({ ...row, workspaceId: workspace_id, createdAt: created_at }));
}

export function insertIdempotencyRecords(records: readonly IdempotencyRecord[]): Write {
  const rows = records.map(({ workspaceId, createdAt, fingerprint, ...row }) => ({
    ...row,
    workspace_id: workspaceId,
    fingerprint: `\\x${fingerprint.toString('hex')}`,
    created_at: createdAt,
  }));
  return {
    text: `
      insert into idempotency_keys (workspace_id, key, fingerprint, status, headers, body, sealed, created_at)
      select workspace_id, key, fingerprint, status, headers, body, sealed, created_at
      from json_to_recordset($1)
        as r(workspace_id uuid, key text, fingerprint bytea, status smallint, headers jsonb, body text, sealed boolean, created_at timestamptz(3))`,
    parameters: [JSON.stringify(rows)],
  };
}

/** Deletes up to `limit` records from before a time, through the index on created_at; returns how many. */
export async function pruneIdempotencyRecords(queryable: Queryable, before: Date, limit: number): Promise<number> {
  const rows = await queryable.query(
    `delete from idempotency_keys i
     using (select workspace_id, key from idempotency_keys where created_at < $1 order by created_at limit $2) old
     where i.workspace_id = old.workspace_id and i.key = old.key
     returning 1`,
    [before, limit],
  );
  return rows.length;
}
