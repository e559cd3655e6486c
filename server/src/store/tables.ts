// How a record of the domain becomes a row and back, and the bulk statements every table of the lane shares.
// Knows no particular table; those stand in one module per aggregate.

import type { Uuid } from '../domain/ids.ts';
import { type ColumnType, encodeColumn, received, type SentColumn, sentRows } from './column-encoding.ts';
import type { Queryable } from './database.ts';
import { textParsers } from './values.ts';

interface Column<Field> {
  readonly column: string;
  readonly type: ColumnType;
  /** Set at the insert and never written again: identities, links, numbers. */
  readonly fixed?: true;
  /** From the domain's value to the column's, where the two differ. */
  readonly write?: (value: Field) => unknown;
  /** From the column's value to the domain's, where the two differ. */
  readonly read?: (value: never) => Field;
}

export type Columns<Entity> = { readonly [Field in keyof Entity]-?: Column<Entity[Field]> };

interface BulkStatement<Entity> {
  readonly text: string;
  parameters(entities: readonly Entity[]): Buffer[];
}

/**
 * Rows as one JSON value, an array a column: decoded at once where rows are decoded column by column, and written by PostgreSQL in five
 * sixths of the time of an array a row, since it looks up how to write a value once a column.
 */
export interface JsonForm<Entity> extends ColumnForm<(columns: JsonColumns, row: number) => Entity> {
  /** The same without the columns of the key, for whoever finds rows by it: two columns less to write, send and decode. */
  readonly byKey: ColumnForm<(columns: JsonColumns, row: number, key: Key) => Entity>;
}

interface ColumnForm<Reader> {
  /** An aggregate of every column, as arguments of `json_build_array`. Null of no rows. */
  select(alias: string): string;
  readonly fromColumns: Reader;
}

/** By which a record of a workspace is found: in every tenant table a unique index, in most the primary key. */
export interface Key {
  readonly workspaceId: Uuid;
  readonly id: Uuid;
}

export type JsonColumns = readonly (readonly unknown[])[];

export interface Table<Entity> {
  readonly name: string;
  /** `alias.column` of every column, for a select list. */
  select(alias: string): string;
  fromRow(row: Record<string, unknown>): Entity;
  /** Null where a row is more than its columns. */
  readonly json: JsonForm<Entity> | null;
  readonly insert: BulkStatement<Entity>;
  readonly update: BulkStatement<Entity>;
}

/** Columns of the kinds that many tables share or that need a conversion. */
export const columnTypes = {
  fixedUuid: (column: string): Column<string> => ({ column, type: 'uuid', fixed: true }),
  createdAt: { column: 'created_at', type: 'timestamptz(3)', fixed: true } satisfies Column<Date>,
  count: (column: string): Column<number> => ({
    column,
    type: 'bigint',
    read: ((value: bigint) => Number(value)) as (value: never) => number,
  }),
  bytes: (column: string): Column<Buffer> => ({ column, type: 'bytea' }),
};

type Field = readonly [name: string, column: Column<unknown>];

const isKey = ([, { column }]: Field): boolean => column === 'workspace_id' || column === 'id';

/** A table whose rows are written as one array a column: any number of rows is one text, and so one plan. */
export function defineTable<Entity>(name: string, columns: Columns<Entity>): Table<Entity> {
  const fields = Object.entries(columns) as unknown as Field[];
  const besidesKey = fields.filter((field) => !isKey(field));
  const names = fields.map(([, { column }]) => column);
  const changing = fields.filter(([, { fixed }]) => fixed !== true);
  const updated = [...fields.filter(isKey), ...changing];
  const assignments = sent(changing).map((column) => `${column[0]} = ${received(column)}`);
  return {
    name,
    select: (alias) => names.map((column) => `${alias}.${column}`).join(', '),
    fromRow: compileReader(
      'row',
      fields.map(([field, { column, read }]) => ({ field, value: `row[${JSON.stringify(column)}]`, read })),
    ),
    json: { ...jsonForm(fields, fields), byKey: jsonForm(fields, besidesKey) },
    insert: {
      text: `insert into ${name} (${names.join(', ')}) select ${sent(fields).map(received).join(', ')} from ${sentRows(sent(fields))}`,
      parameters: (entities) => encode(fields, entities),
    },
    update: {
      text: `update ${name} t set ${assignments.join(', ')} from ${sentRows(sent(updated))} where t.workspace_id = r.workspace_id and t.id = r.id`,
      parameters: (entities) => encode(updated, entities),
    },
  };
}

/** The fields that are not `told` are those of the key, which the reader is handed then. */
function jsonForm<Reader>(fields: readonly Field[], told: readonly Field[]): ColumnForm<Reader> {
  const members = fields.map((field): Member => {
    const [name, { type, read }] = field;
    const at = told.indexOf(field);
    if (at < 0) return { field: name, value: `key[${JSON.stringify(name)}]`, read: undefined };
    return { field: name, value: `columns[${at}][row]`, read: after(textParsers[type], read) };
  });
  return {
    select: (alias) => told.map(([, { column, type }]) => `array_agg(${inJson(`${alias}.${column}`, type)})`).join(', '),
    fromColumns: compileReader('columns, row, key', members),
  };
}

/** As text where JSON has no form for it; an array by itself, since those of several rows need not have the same length. */
function inJson(column: string, type: ColumnType): string {
  if (type === 'text[]') return `to_json(${column})`;
  return type in textParsers ? `${column}::text` : column;
}

type Read = (value: never) => unknown;

/** `read` of what was parsed. */
function after(parse: ((text: string) => unknown) | undefined, read: Read | undefined): Read | undefined {
  if (parse === undefined || read === undefined) return parse ?? read;
  return (text) => read(parse(text) as never);
}

/** One field of an entity: where its value stands, as an expression, and what is made of it. */
interface Member {
  readonly field: string;
  readonly value: string;
  readonly read: Read | undefined;
}

/**
 * From a row to an entity, written out as one object literal: a loop over the fields costs half a microsecond a row, twenty times as
 * much, and every read pays it. The text holds only names of columns and fields from the code, never a value.
 */
function compileReader<Reader>(parameters: string, members: readonly Member[]): Reader {
  const texts = members.map(
    ({ field, value, read }, i) =>
      `${JSON.stringify(field)}: ${read === undefined ? value : `${value} === null ? null : read[${i}](${value})`}`,
  );
  const make = new Function('read', `return (${parameters}) => ({ ${texts.join(', ')} });`);
  return make(members.map(({ read }) => read)) as Reader;
}

// Every column is named, so that one added by a later migration keeps its default.
const sent = (fields: readonly Field[]): SentColumn[] => fields.map(([, { column, type }]) => [column, type]);

function encode<Entity>(fields: readonly Field[], entities: readonly Entity[]): Buffer[] {
  return fields.map(([field, { type, write }]) => {
    const values = entities.map((entity) => (entity as Record<string, unknown>)[field]);
    return encodeColumn(type, write === undefined ? values : values.map((value) => (value === null ? null : write(value))));
  });
}

/** One write of a batch: a statement with its parameters, not yet sent. */
export interface Write {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

export function insertOf<Entity>(table: Table<Entity>, entities: readonly Entity[]): Write {
  return { text: table.insert.text, parameters: table.insert.parameters(entities) };
}

/** Rewrites every column that may change, of rows that exist, found by their primary key (workspace_id, id). */
export function updateOf<Entity>(table: Table<Entity>, entities: readonly Entity[]): Write {
  return { text: table.update.text, parameters: table.update.parameters(entities) };
}

/** By the texts it is made of; as many as there are kinds of batches. */
const combined = new Map<string, string>();
const MAX_COMBINED = 400;

/**
 * Several writes as one statement: what a statement costs besides its rows (a message, a snapshot, an answer) is paid once. They see the
 * same snapshot and none sees another's rows; checks after the statement see all of them.
 */
export async function sendWrites(transaction: Queryable, writes: readonly Write[]): Promise<void> {
  const [first] = writes;
  if (first === undefined) return;
  if (writes.length === 1) {
    await transaction.query(first.text, first.parameters);
    return;
  }
  const key = writes.map(({ text }) => text).join(';');
  const text = combined.get(key) ?? combine(writes);
  if (combined.size < MAX_COMBINED) combined.set(key, text);
  await transaction.query(
    text,
    writes.flatMap(({ parameters }) => parameters),
  );
}

function combine(writes: readonly Write[]): string {
  let before = 0;
  const parts = writes.map(({ text, parameters }, i) => {
    const shifted = text.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + before}`);
    before += parameters.length;
    return `w${i} as (${shifted})`;
  });
  return `with ${parts.join(', ')} select`;
}

/** One table's rows, written at once, where no batch is gathered. */
export async function insertRows<Entity>(transaction: Queryable, table: Table<Entity>, entities: readonly Entity[]): Promise<void> {
  await transaction.query(table.insert.text, table.insert.parameters(entities));
}
