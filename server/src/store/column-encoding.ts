// Columns of a bulk write in PostgreSQL's binary array format: one parameter a column, whatever the number of rows.
// Neither side then writes or parses text: measured as half the time of the same rows sent as JSON. Knows no table.

import type { Uuid } from '../domain/ids.ts';

export type ColumnType =
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

/** How one type travels. The functions speak of a value that is not null; `write` returns the bytes it wrote, at most `maxSize`. */
interface Encoding {
  /** The element type of the array, and its object id in the system catalogue, which never changes. */
  readonly sentAs: string;
  readonly oid: number;
  /** Made once of each value, for what both others need. */
  readonly prepare?: (value: unknown) => unknown;
  maxSize(value: unknown): number;
  write(value: unknown, buffer: Buffer, offset: number): number;
}

const hexValues = new Uint8Array(128);
for (const [value, digit] of [...'0123456789abcdef'].entries()) hexValues[digit.charCodeAt(0)] = value;
/** Where the first of each byte's two digits stands in the text of a UUID. */
const uuidBytes = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

function writeUuid(value: unknown, buffer: Buffer, offset: number): number {
  const uuid = value as Uuid;
  for (let i = 0; i < 16; i++) {
    const at = uuidBytes[i] as number;
    buffer[offset + i] = ((hexValues[uuid.charCodeAt(at)] as number) << 4) | (hexValues[uuid.charCodeAt(at + 1)] as number);
  }
  return 16;
}

/** Up to this length writing each character beats the call that encodes a string. */
const SHORT_TEXT = 40;

function writeText(value: unknown, buffer: Buffer, offset: number): number {
  const text = value as string;
  const { length } = text;
  if (length > SHORT_TEXT) return buffer.write(text, offset);
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) return buffer.write(text, offset);
    buffer[offset + i] = code;
  }
  return length;
}

const asText = (prepare?: (value: unknown) => string): Encoding => ({
  sentAs: 'text',
  oid: 25,
  ...(prepare === undefined ? {} : { prepare }),
  // A UTF-16 unit is at most three bytes of UTF-8.
  maxSize: (value) => 3 * (value as string).length,
  write: writeText,
});

const WORD = 2 ** 32;

/** A 64-bit integer as two words, where a number holds it exactly: a fraction of the time of a BigInt. */
function writeInteger(value: number | bigint, buffer: Buffer, offset: number): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) return buffer.writeBigInt64BE(BigInt(value), offset) - offset;
  const high = Math.floor(number / WORD);
  buffer.writeInt32BE(high, offset);
  return buffer.writeUInt32BE(number - high * WORD, offset + 4) - offset;
}

/** Milliseconds from 1970 to 2000, where PostgreSQL counts from. */
const EPOCH_MS = 946_684_800_000;

/** An element of an array literal, quoted whatever it holds. */
const quoted = (item: string): string => `"${item.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

const encodings: Readonly<Record<ColumnType, Encoding>> = {
  uuid: { sentAs: 'uuid', oid: 2950, maxSize: () => 16, write: writeUuid },
  text: asText(),
  bigint: {
    sentAs: 'bigint',
    oid: 20,
    maxSize: () => 8,
    write: (value, buffer, offset) => writeInteger(value as number | bigint, buffer, offset),
  },
  integer: {
    sentAs: 'integer',
    oid: 23,
    maxSize: () => 4,
    write: (value, buffer, offset) => buffer.writeInt32BE(value as number, offset) - offset,
  },
  smallint: {
    sentAs: 'smallint',
    oid: 21,
    maxSize: () => 2,
    write: (value, buffer, offset) => buffer.writeInt16BE(value as number, offset) - offset,
  },
  boolean: {
    sentAs: 'boolean',
    oid: 16,
    maxSize: () => 1,
    write: (value, buffer, offset) => buffer.writeInt8(value === true ? 1 : 0, offset) - offset,
  },
  'timestamptz(3)': {
    sentAs: 'timestamptz',
    oid: 1184,
    maxSize: () => 8,
    write(value, buffer, offset) {
      const ms = (value as Date).getTime() - EPOCH_MS;
      // Microseconds, which a number holds exactly until the year 2285.
      return writeInteger(Number.isSafeInteger(ms * 1000) ? ms * 1000 : BigInt(ms) * 1000n, buffer, offset);
    },
  },
  // Seldom written: sent as text and cast, rather than with a format of their own.
  date: asText(),
  'text[]': asText((value) => `{${(value as readonly string[]).map(quoted).join(',')}}`),
  jsonb: asText((value) => JSON.stringify(value)),
  bytea: {
    sentAs: 'bytea',
    oid: 17,
    maxSize: (value) => (value as Buffer).length,
    write: (value, buffer, offset) => (value as Buffer).copy(buffer, offset),
  },
};

/** The type of the elements a column is sent as; where it differs from the column's own, the statement casts. */
export function sentAs(type: ColumnType): string {
  return encodings[type].sentAs;
}

/** Dimensions, whether there are nulls, the element type, the number of elements and the first index: five 32-bit numbers. */
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;
/** Up to so many bytes an element is copied faster than it is written anew. */
const SHORT_ELEMENT = 24;

/** The values of one column as a one-dimensional array. */
export function encodeColumn(type: ColumnType, values: readonly unknown[]): Buffer {
  const { oid, prepare, maxSize, write } = encodings[type];
  const prepared = prepare === undefined ? values : values.map((value) => (value === null ? null : prepare(value)));
  let size = HEADER_BYTES + LENGTH_BYTES * values.length;
  let hasNull = 0;
  for (const value of prepared) {
    if (value === null) hasNull = 1;
    else size += maxSize(value);
  }
  const buffer = Buffer.allocUnsafe(size);
  let offset = 0;
  for (const number of [1, hasNull, oid, values.length, 1]) offset = buffer.writeInt32BE(number, offset);
  let previous: unknown;
  let previousAt = Number.NEGATIVE_INFINITY;
  for (const value of prepared) {
    const at = offset;
    if (value === previous && at - previousAt <= SHORT_ELEMENT) {
      // Most rows of a batch share their workspace, project and time with the one before.
      for (const end = at + at - previousAt; offset < end; offset++) buffer[offset] = buffer[previousAt + offset - at] as number;
    } else {
      const length = value === null ? NULL_LENGTH : write(value, buffer, offset + LENGTH_BYTES);
      offset = buffer.writeInt32BE(length, offset) + Math.max(length, 0);
    }
    previous = value;
    previousAt = at;
  }
  return buffer.subarray(0, offset);
}

/** A column of sent rows: its name in the statement, and its type. */
export type SentColumn = readonly [name: string, type: ColumnType];

/** The sent columns as a table `r`, from the parameter with this number on. */
export function sentRows(columns: readonly SentColumn[], firstParameter = 1): string {
  const arrays = columns.map(([, type], i) => `$${firstParameter + i}::${sentAs(type)}[]`);
  return `unnest(${arrays.join(', ')}) as r(${columns.map(([name]) => name).join(', ')})`;
}

/** A column of `sentRows` as the type that it is meant to be. */
export function received([name, type]: SentColumn): string {
  const isCast = sentAs(type) !== type && type !== 'timestamptz(3)';
  return isCast ? `r.${name}::${type}` : `r.${name}`;
}

/** Rows of one shape that are sent along with a statement and are no table of their own. */
export interface SentRows<Row> {
  /** A subquery with all columns in their types, to stand in a FROM clause under an alias. */
  from(firstParameter: number): string;
  parameters(rows: readonly Row[]): Buffer[];
}

export function defineSentRows<Row>(types: { readonly [Name in keyof Row & string]-?: ColumnType }): SentRows<Row> {
  const columns = Object.entries<ColumnType>(types);
  return {
    from: (firstParameter) =>
      `(select ${columns.map((column) => `${received(column)} as ${column[0]}`).join(', ')} from ${sentRows(columns, firstParameter)})`,
    parameters: (rows) =>
      columns.map(([name, type]) =>
        encodeColumn(
          type,
          rows.map((row) => row[name as keyof Row]),
        ),
      ),
  };
}
