// Every SQL statement on API keys. Each says which index or lock it relies on.

import type { ApiKey } from '../domain/api-key.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Queryable } from './database.ts';
import { defineList, type Source } from './lists.ts';
import { columnTypes, defineTable } from './tables.ts';

export const apiKeyTable = defineTable<ApiKey>('api_keys', {
  workspaceId: columnTypes.fixedUuid('workspace_id'),
  id: columnTypes.fixedUuid('id'),
  name: { column: 'name', type: 'text' },
  hash: columnTypes.bytes('hash'),
  hint: { column: 'hint', type: 'text' },
  scopes: { column: 'scopes', type: 'text[]' },
  expiresAt: { column: 'expires_at', type: 'timestamptz(3)' },
  revokedAt: { column: 'revoked_at', type: 'timestamptz(3)' },
  createdAt: columnTypes.createdAt,
});

const byHashText = `select ${apiKeyTable.select('k')} from api_keys k where k.hash = any($1::bytea[])`;

/** The keys with these hashes, whatever their state, over all workspaces. Relies on the unique index api_keys_by_hash. */
export async function findKeysByHash(queryable: Queryable, hashes: readonly Buffer[]): Promise<ApiKey[]> {
  const rows = await queryable.query<Record<string, unknown>>(byHashText, [hashes]);
  return rows.map(apiKeyTable.fromRow);
}

// Finds each row by the primary key (workspace_id, key_id), in its order, so that two processes cannot wait for each other.
const touchText = `
  insert into api_key_uses as u (workspace_id, key_id, used_at)
  select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as r (workspace_id, key_id, used_at) order by 1, 2
  on conflict (workspace_id, key_id) do update set used_at = greatest(u.used_at, excluded.used_at)`;

/** Notes when keys were last used, one entry a key. Outside the lane: it changes nothing that a decision looks at. */
export async function touchKeys(queryable: Queryable, uses: readonly { workspaceId: Uuid; keyId: Uuid; usedAt: Date }[]): Promise<void> {
  await queryable.query(touchText, [uses.map((use) => use.workspaceId), uses.map((use) => use.keyId), uses.map((use) => use.usedAt)]);
}

export interface ApiKeyWithUse {
  readonly id: Uuid;
  readonly key: ApiKey;
  readonly lastUsedAt: Date | null;
}

/** Each key with its last use: one look-up by the primary key of api_key_uses (workspace_id, key_id), forced by the lateral limit. */
export const apiKeySource: Source<ApiKeyWithUse> = {
  select: `${apiKeyTable.select('t')}, u.used_at`,
  table: 'api_keys',
  join: 'left join lateral (select x.used_at from api_key_uses x where x.workspace_id = t.workspace_id and x.key_id = t.id limit 1) u on true',
  fromRow: (row) => ({ id: row.id as Uuid, key: apiKeyTable.fromRow(row), lastUsedAt: row.used_at as Date | null }),
};

/** The keys of a workspace, revoked and expired ones included: the primary key (workspace_id, id). */
export const listApiKeys = defineList<ApiKeyWithUse, object>({ source: apiKeySource, conditions: {} });
