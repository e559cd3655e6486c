// Reads by id that arrive in the same tick, as one query: the road of every GET of a single resource.
// Caches nothing: what it returns was read after it was asked for.

import DataLoader from 'dataloader';
import type { Uuid } from '../domain/ids.ts';
import type { Queryable } from './database.ts';
import type { Source } from './lists.ts';

/** Bounds the rows and parameters of one query; more arrivals become several queries. */
export const MAX_BATCH = 512;

export type ByIdReader<Entity> = (workspaceId: Uuid, id: Uuid) => Promise<Entity | null>;

interface Key {
  readonly workspaceId: Uuid;
  readonly id: Uuid;
}

/**
 * Finds records by the unique index on (workspace_id, id) that every source has, one look-up a key. The keys travel as two arrays, so that
 * one text and one plan serve batches of every size.
 */
export function createByIdReader<Entity>(
  queryable: Queryable,
  source: Source<Entity>,
  options: { maxBatch?: number } = {},
): ByIdReader<Entity> {
  const text =
    `select ${source.select} from unnest($1::uuid[], $2::uuid[]) as n(workspace_id, id), ${source.table} t ${source.join ?? ''} ` +
    'where t.workspace_id = n.workspace_id and t.id = n.id';

  async function load(keys: readonly Key[]): Promise<(Entity | null)[]> {
    const rows = await queryable.query<Record<string, unknown>>(text, [keys.map((key) => key.workspaceId), keys.map((key) => key.id)]);
    const found = new Map<string, Entity>();
    for (const row of rows) found.set(`${row.workspace_id}${row.id}`, source.fromRow(row));
    return keys.map((key) => found.get(`${key.workspaceId}${key.id}`) ?? null);
  }

  const loader = new DataLoader<Key, Entity | null>(load, {
    cache: false,
    maxBatchSize: options.maxBatch ?? MAX_BATCH,
    // After the input events of this tick, so that requests that arrived together travel together.
    batchScheduleFn: (dispatch) => {
      setImmediate(dispatch);
    },
  });
  return (workspaceId, id) => loader.load({ workspaceId, id });
}
