// Pages of records, newest first, by keyset: every list of the API but the event log is made here.
// Knows no particular table. Values are always bound; the text depends only on which filters are given, so that it can stay prepared.

import type { Uuid } from '../domain/ids.ts';
import type { Queryable } from './database.ts';
import type { JsonColumns, JsonForm, Table } from './tables.ts';

/** Which records by the time of their creation. */
export interface TimeRange {
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

export interface PageRequest extends TimeRange {
  /** 1–100; one more is read to learn whether there is another page. */
  readonly limit: number;
  /** Only records older than this id. It is a position: no record needs to have it. */
  readonly startingAfter?: Uuid | undefined;
  /** The page just before this id, still newest first. Not together with `startingAfter`. */
  readonly endingBefore?: Uuid | undefined;
}

export interface Page<Entity> {
  readonly records: Entity[];
  /** Whether there is more in the direction of the paging: older records, or newer ones with `endingBefore`. */
  readonly hasMore: boolean;
}

/** Where records come from: a table under the alias `t`, perhaps joined with one row of another, and how a row of it is read. */
export interface Source<Entity> {
  /** Holds `t.workspace_id` and `t.id`. */
  readonly select: string;
  readonly table: string;
  readonly join?: string;
  fromRow(row: Record<string, unknown>): Entity;
  /** The same as one value; left out where there is none for it. */
  readonly json?: JsonForm<Entity>;
}

export function tableSource<Entity>({ name, json, ...table }: Table<Entity>): Source<Entity> {
  const source: Source<Entity> = { select: table.select('t'), table: name, fromRow: table.fromRow };
  return json === null ? source : { ...source, json };
}

/** The SQL of one filter; `bind` passes a value as a parameter and returns its name. */
export type Condition<Value> = (value: Value, bind: (value: unknown) => string) => string;

export const equals =
  (column: string): Condition<unknown> =>
  (value, bind) =>
    `${column} = ${bind(value)}`;

/**
 * A filter over a closed set of values that is written into the text, because a partial index serves only a condition that the planner
 * can see. The texts come from the table given here, never from the value.
 */
export function oneOf<Value extends string>(texts: Readonly<Record<Value, string>>): Condition<Value> {
  return (value) => texts[value];
}

type Conditions<Filters> = { readonly [Filter in keyof Filters]-?: Condition<NonNullable<Filters[Filter]>> };

export interface ListDefinition<Entity, Filters> {
  readonly source: Source<Entity>;
  /** Holds for every record of the list. */
  readonly always?: string;
  readonly conditions: Conditions<Filters>;
}

export interface SumDefinition<Filters> {
  readonly table: string;
  /** The column that is added up. */
  readonly amount: string;
  /** Columns that are told apart besides the currency. */
  readonly group: string;
  readonly conditions: Conditions<Filters>;
}

export interface SumRow {
  readonly currency: string;
  readonly count: number;
  /** As text: a sum may be larger than any column of ours. */
  readonly amount: string;
}

/** The same choice as a list's, added up: every record that is chosen is read, along the index that the list would be read by. */
export function defineSums<Filters extends object>(definition: SumDefinition<Filters>) {
  const conditions = Object.entries(definition.conditions) as [keyof Filters & string, Condition<unknown>][];
  const { table, amount, group } = definition;
  return <Groups>(queryable: Queryable, workspaceId: Uuid, filters: Filters, times: TimeRange): Promise<(SumRow & Groups)[]> => {
    const parameters: unknown[] = [workspaceId];
    const bind = (value: unknown): string => `$${parameters.push(value)}`;
    const where = ['t.workspace_id = $1'];
    for (const [filter, condition] of conditions) {
      const value = filters[filter];
      if (value !== undefined) where.push(condition(value, bind));
    }
    where.push(...positions(times, bind));
    return queryable.query(
      `select t.currency, ${group}, count(*)::integer as count, sum(${amount})::text as amount from ${table} t
       where ${where.join(' and ')} group by t.currency, ${group} order by t.currency`,
      parameters,
    );
  };
}

export type List<Entity, Filters> = (queryable: Queryable, workspaceId: Uuid, filters: Filters, page: PageRequest) => Promise<Page<Entity>>;

/**
 * A list of one workspace in the order of `(workspace_id, …, id)`. The filters that lead an index come with their index in the module
 * of the table; the others are looked at row by row along the way.
 */
export function defineList<Entity, Filters extends object>(definition: ListDefinition<Entity, Filters>): List<Entity, Filters> {
  const { source, always } = definition;
  const conditions = Object.entries(definition.conditions) as [keyof Filters & string, Condition<unknown>][];
  const read = source.json !== undefined && source.join === undefined ? jsonReader(source.json) : rowReader(source);
  return async (queryable, workspaceId, filters, page) => {
    const parameters: unknown[] = [workspaceId];
    const bind = (value: unknown): string => `$${parameters.push(value)}`;
    const where = ['t.workspace_id = $1'];
    if (always !== undefined) where.push(always);
    for (const [filter, condition] of conditions) {
      const value = filters[filter];
      if (value !== undefined) where.push(condition(value, bind));
    }
    where.push(...positions(page, bind));
    const backwards = page.endingBefore !== undefined;
    const order = `order by t.id ${backwards ? 'asc' : 'desc'}`;
    const rest = `from ${source.table} t where ${where.join(' and ')} ${order} limit ${bind(page.limit + 1)}`;
    const records = await read(queryable, rest, order, parameters);
    const hasMore = records.length > page.limit;
    if (hasMore) records.length = page.limit;
    if (backwards) records.reverse();
    return { records, hasMore };
  };
}

/** Reads what `rest`, from FROM to the limit, chooses, in this order. */
type Reader<Entity> = (queryable: Queryable, rest: string, order: string, parameters: readonly unknown[]) => Promise<Entity[]>;

const rowReader =
  <Entity>({ select, join, fromRow }: Source<Entity>): Reader<Entity> =>
  async (queryable, rest, order, parameters) => {
    // What is joined is looked up for the rows of the page only, whatever the planner makes of a limit it does not know.
    const text = join === undefined ? `select ${select} ${rest}` : `select ${select} from (select t.* ${rest}) t ${join} ${order}`;
    return (await queryable.query<Record<string, unknown>>(text, parameters)).map(fromRow);
  };

/** All rows as one value, which is decoded at once: a page costs this process a sixth less. The aggregates keep the order of the rows they are given. */
const jsonReader =
  <Entity>({ select, fromColumns }: JsonForm<Entity>): Reader<Entity> =>
  async (queryable, rest, _order, parameters) => {
    const text = `select json_build_array(${select('t')}) as columns from (select t.* ${rest}) t`;
    const [answer] = await queryable.query<{ columns: JsonColumns | [null] }>(text, parameters);
    const [first = null] = answer?.columns ?? [];
    return first === null ? [] : first.map((_, row) => fromColumns(answer?.columns as JsonColumns, row));
  };

/**
 * How far the time within an id may be from the record's `created_at`. The two differ by what passed between making the id and the
 * commit's time, and by how far the clocks of several machines differ.
 */
export const CLOCK_SLACK_MS = 5 * 60_000;

/** The smallest UUID of a millisecond; no UUIDv7 is equal to it. */
export function firstIdOf(ms: number): Uuid {
  const stamp = Math.min(Math.max(Math.trunc(ms), 0), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0');
  return `${stamp.slice(0, 8)}-${stamp.slice(8)}-0000-0000-000000000000`;
}

const newer = (a: Uuid | undefined, b: Uuid): Uuid => (a === undefined || a < b ? b : a);
const older = (a: Uuid | undefined, b: Uuid): Uuid => (a === undefined || a > b ? b : a);

/**
 * Cursors and times become bounds of the id, which is what the indexes are ordered by: a page far back in time costs no more than the
 * first one. The exact time is compared as well, for the few records within the slack.
 */
export function positions(page: Omit<PageRequest, 'limit'>, bind: (value: unknown) => string): string[] {
  const { createdAfter, createdBefore } = page;
  let above = page.endingBefore;
  let below = page.startingAfter;
  if (createdAfter !== undefined) above = newer(above, firstIdOf(createdAfter.getTime() - CLOCK_SLACK_MS));
  if (createdBefore !== undefined) below = older(below, firstIdOf(createdBefore.getTime() + CLOCK_SLACK_MS));
  const bounds: string[] = [];
  if (above !== undefined) bounds.push(`t.id > ${bind(above)}`);
  if (below !== undefined) bounds.push(`t.id < ${bind(below)}`);
  if (createdAfter !== undefined) bounds.push(`t.created_at > ${bind(createdAfter)}`);
  if (createdBefore !== undefined) bounds.push(`t.created_at < ${bind(createdBefore)}`);
  return bounds;
}
