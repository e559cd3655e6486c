// How a record of the domain becomes a row and back, and the three bulk statements every table of the lane shares.
// Knows no particular table; those stand in one module per aggregate.

import type { Queryable } from './database.ts';

type ColumnType =
  | 'uuid'
  | 'text'
  | 'bigint'
  | 'integer'
  | 'smallint'
  | 'boolean'
  | 'timestamptz(3)'
  | 'date'
  | 'jsonb'
  | 'bytea'
  | 'text[]';

interface Column<Field> {
  readonly column: string;
  readonly type: ColumnType;
  /** Set at the insert and never written again: identities, links, numbers. */
  readonly fixed?: true;
  /** From the domain's value to what JSON carries, where the two differ. */
  readonly write?: (value: Field) => unknown;
  /** From the database's value to the domain's, where the two differ. */
  readonly read?: (value: never) => Field;
}

export type Columns<Entity> = { readonly [Field in keyof Entity]-?: Column<Entity[Field]> };

export interface Table<Entity> {
  readonly name: string;
  /** `alias.column` of every column, for a select list. */
  select(alias: string): string;
  fromRow(row: Record<string, unknown>): Entity;
  readonly insertText: string;
  readonly updateText: string;
  toJson(entities: readonly Entity[]): string;
}

const bytea = (bytes: Buffer): string => `\\x${bytes.toString('hex')}`;

/** Columns of the kinds that need a conversion. */
export const columnTypes = {
  fixedUuid: (column: string): Column<string> => ({ column, type: 'uuid', fixed: true }),
  createdAt: { column: 'created_at', type: 'timestamptz(3)', fixed: true } satisfies Column<Date>,
  count: (column: string): Column<number> => ({
    column,
    type: 'bigint',
    read: ((value: bigint) => Number(value)) as (value: never) => number,
  }),
  bytes: (column: string): Column<Buffer> => ({ column, type: 'bytea', write: bytea }),
};

/** A table whose rows are written through JSON, which carries any number of rows in one parameter and so in one plan. */
export function defineTable<Entity>(name: string, columns: Columns<Entity>): Table<Entity> {
  const fields = Object.entries(columns) as [keyof Entity & string, Column<unknown>][];
  const names = fields.map(([, { column }]) => column);
  // Named and typed outright rather than by the table's row type: a column added by a later migration keeps its default.
  // The names are short, since every row of the JSON repeats them.
  const short = (column: string): string => `c${names.indexOf(column)}`;
  const source = `json_to_recordset($1) as r(${fields.map(([, { column, type }]) => `${short(column)} ${type}`).join(', ')})`;
  const write = rowWriter(fields.map(([field, { column, type, write }]) => ({ field, type, name: short(column), write })));
  const assigned = fields.filter(([, { fixed }]) => fixed !== true).map(([, { column }]) => column);
  return {
    name,
    select: (alias) => names.map((column) => `${alias}.${column}`).join(', '),
    fromRow(row) {
      const entity: Record<string, unknown> = {};
      for (const [field, { column, read }] of fields) {
        const value = row[column];
        entity[field] = read === undefined || value === null ? value : read(value as never);
      }
      return entity as Entity;
    },
    insertText: `insert into ${name} (${names.join(', ')}) select ${names.map((column) => `r.${short(column)}`).join(', ')} from ${source}`,
    updateText:
      `update ${name} t set ${assigned.map((column) => `${column} = r.${short(column)}`).join(', ')} from ${source} ` +
      `where t.workspace_id = r.${short('workspace_id')} and t.id = r.${short('id')}`,
    toJson: (entities) => `[${entities.map(write).join(',')}]`,
  };
}

interface WrittenField {
  readonly field: string;
  readonly name: string;
  readonly type: ColumnType;
  readonly write?: ((value: unknown) => unknown) | undefined;
}

/** Values of these types hold no character that JSON would have to escape. */
const plainTypes: ReadonlySet<ColumnType> = new Set(['uuid', 'date']);

/** A record as a JSON object, null where there is nothing. Written out rather than built and stringified: half of a write's own work. */
function rowWriter<Entity>(fields: readonly WrittenField[]): (entity: Entity) => string {
  return (entity) => {
    let text = '{';
    for (const { field, name, type, write } of fields) {
      const value = (entity as Record<string, unknown>)[field];
      if (value === null) continue; // A name that is absent reads as NULL.
      if (text.length > 1) text += ',';
      text += `"${name}":`;
      if (write !== undefined) text += JSON.stringify(write(value));
      else if (plainTypes.has(type)) text += `"${value}"`;
      else if (value instanceof Date) text += `"${value.toISOString()}"`;
      else if (typeof value === 'bigint' || typeof value === 'number') text += value;
      else text += JSON.stringify(value);
    }
    return `${text}}`;
  };
}

export async function insertRows<Entity>(transaction: Queryable, table: Table<Entity>, entities: readonly Entity[]): Promise<void> {
  await transaction.query(table.insertText, [table.toJson(entities)]);
}

/** Rewrites every column that may change, of rows that exist, found by their primary key (workspace_id, id). */
export async function updateRows<Entity>(transaction: Queryable, table: Table<Entity>, entities: readonly Entity[]): Promise<void> {
  await transaction.query(table.updateText, [table.toJson(entities)]);
}
