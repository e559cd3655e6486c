// Reads by id that arrive together, as one query: the road of every GET of a single resource.
// Caches nothing: what it returns was read after it was asked for.

import type { Uuid } from '../domain/ids.ts';
import { encodeColumn } from './column-encoding.ts';
import type { Queryable } from './database.ts';
import type { Source } from './lists.ts';
import type { JsonColumns, JsonForm, Key } from './tables.ts';

/**
 * Reads of one query. When so many have come up they leave at once: the database then works on them while further requests are still being
 * parsed. Measured with 64 connections: 32 to 40 are alike; with fewer, queries cost more than they overlap, with more the other way round.
 */
export const MAX_BATCH = 36;

/**
 * Fewer leave at the end of the turn of the event loop they came up in, unless a query is under way: then they wait for it to return, or
 * to be `MAX_BATCH`, because small queries cost nearly as much as full ones. They wait for a database that answers, not for one that is stuck.
 */
const MAX_WAIT_MS = 5;

export type ByIdReader<Entity> = (workspaceId: Uuid, id: Uuid) => Promise<Entity | null>;

interface Waiting<Entity> extends Key {
  readonly resolve: (entity: Entity | null) => void;
  readonly reject: (error: unknown) => void;
}

const lookUpText = (select: string, { table, join = '' }: Source<unknown>): string =>
  `select ${select} from unnest($1::uuid[], $2::uuid[]) with ordinality as n(workspace_id, id, place), ` +
  `${table} t ${join} where t.workspace_id = n.workspace_id and t.id = n.id`;

/** What is there, each record at the place of its key, and null for what is not. */
type LookUp<Entity> = (queryable: Queryable, keys: readonly Key[]) => Promise<(Entity | null)[]>;

const columnsOf = (keys: readonly Key[]): Buffer[] =>
  (['workspaceId', 'id'] as const).map((part) => {
    const ids = keys.map((key) => key[part]);
    return encodeColumn('uuid', ids);
  });

function lookUpRows<Entity>(source: Source<Entity>): LookUp<Entity> {
  const text = lookUpText(`n.place::int, ${source.select}`, source);
  return async (queryable, keys) => {
    const found = new Array<Entity | null>(keys.length).fill(null);
    const rows = await queryable.query<{ place: number } & Record<string, unknown>>(text, columnsOf(keys));
    for (const row of rows) found[row.place - 1] = source.fromRow(row);
    return found;
  };
}

/** All rows as one value, which is decoded once: of a row of a dozen columns, a thirtieth of what a read costs this process. */
function lookUpJson<Entity>(source: Source<Entity>, { select, fromColumns }: JsonForm<Entity>['byKey']): LookUp<Entity> {
  const text = lookUpText(`json_build_array(${select('t')}, array_agg(n.place)) as columns`, source);
  return async (queryable, keys) => {
    const found = new Array<Entity | null>(keys.length).fill(null);
    const [answer] = await queryable.query<{ columns: JsonColumns }>(text, columnsOf(keys));
    const places = (answer?.columns.at(-1) ?? []) as number[];
    for (const [row, place] of places.entries())
      found[place - 1] = fromColumns(answer?.columns as JsonColumns, row, keys[place - 1] as Key);
    return found;
  };
}

/**
 * Finds records by the unique index on (workspace_id, id) that every source has, one look-up a key. The keys travel as two arrays, so that
 * one text and one plan serve batches of every size; each row says the place of its key.
 */
export function createByIdReader<Entity>(
  queryable: Queryable,
  source: Source<Entity>,
  options: { maxBatch?: number } = {},
): ByIdReader<Entity> {
  const { maxBatch = MAX_BATCH } = options;
  const lookUp = source.json === undefined ? lookUpRows(source) : lookUpJson(source, source.json.byKey);
  let waiting: Waiting<Entity>[] = [];
  let underWay = 0;
  let patience: NodeJS.Timeout | undefined;

  async function load(batch: readonly Waiting<Entity>[]): Promise<void> {
    try {
      const found = await lookUp(queryable, batch);
      for (const [i, { resolve }] of batch.entries()) resolve(found[i] as Entity | null);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    underWay -= 1;
    dispatchWhenIdle();
  }

  function dispatch(): void {
    const batch = waiting;
    if (batch.length === 0) return; // All of them have left already.
    waiting = [];
    underWay += 1;
    clearTimeout(patience);
    void load(batch);
  }

  function dispatchWhenIdle(): void {
    if (underWay === 0) dispatch();
  }

  function endOfTurn(): void {
    dispatchWhenIdle();
    if (waiting.length === 0) return;
    clearTimeout(patience);
    patience = setTimeout(dispatch, MAX_WAIT_MS);
  }

  return (workspaceId, id) =>
    new Promise((resolve, reject) => {
      const count = waiting.push({ workspaceId, id, resolve, reject });
      if (count === maxBatch) dispatch();
      // After the input events of this turn, so that requests that arrived together travel together.
      else if (count === 1) setImmediate(endOfTurn);
    });
}
