// How JavaScript values become PostgreSQL's text form and back, alike on both databases.
// Pure, and never pg's global type registry: another library in the process may depend on that one.

import pg from 'pg';

const oid = { bytea: 17, int8: 20, date: 1082, timestamptz: 1184, textArray: 1009, int8Array: 1016, dateArray: 1182 };

type Parser = (text: string) => unknown;

const defaultParser = pg.types.getTypeParser as (id: number, format?: 'text') => Parser;
const parseTextArray = defaultParser(oid.textArray) as (text: string) => (string | null)[];
const parseAnyTimestamp = defaultParser(oid.timestamptz) as (text: string) => Date;

const digit = (text: string, at: number): number => text.charCodeAt(at) - 48;
const two = (text: string, at: number): number => digit(text, at) * 10 + digit(text, at + 1);

/** The day read last, as text and as milliseconds since 1970: the times of a result nearly always share it. */
let day = '';
let dayMs = 0;

/**
 * `2026-01-31 12:34:56.789+00`, the form a session in UTC prints a `timestamptz(3)` in, read by position: many times faster than pg's
 * regular expression. Zeros at the end of the fraction are left out.
 */
function parseTimestamp(text: string): Date {
  const { length } = text;
  // Years below 1000 are left to pg: Date.UTC takes 99 for 1999.
  const plain =
    length >= 22 && length <= 26 && length !== 23 && text.charCodeAt(10) === 32 && text.charCodeAt(0) !== 48 && text.endsWith('+00');
  if (!plain) return parseAnyTimestamp(text);
  const its = text.slice(0, 10);
  if (its !== day) {
    dayMs = Date.UTC(two(text, 0) * 100 + two(text, 2), two(text, 5) - 1, two(text, 8));
    day = its;
  }
  let ms = dayMs + two(text, 11) * 3_600_000 + two(text, 14) * 60_000 + two(text, 17) * 1000;
  for (let at = 20, unit = 100; at < length - 3; at++, unit /= 10) ms += digit(text, at) * unit;
  return new Date(ms);
}

/** So many bytes at most V8 keeps beside the object, in its own heap. */
const MOST_WITHIN = 64;

/**
 * A hash gets memory of its own: what `Buffer.from` returns is a part of 64 KB that it shares out between all that is made at the time, and
 * one kept key would keep all of them.
 */
function parseBytes(text: string): Buffer {
  const shared = Buffer.from(text.slice(2), 'hex');
  if (shared.length > MOST_WITHIN) return shared;
  const own = Buffer.alloc(shared.length);
  own.set(shared);
  return own;
}

const parsers = new Map<number, Parser>([
  [oid.int8, BigInt],
  [oid.int8Array, (text) => parseTextArray(text).map((item) => (item === null ? null : BigInt(item)))],
  [oid.date, (text) => text],
  [oid.dateArray, parseTextArray],
  [oid.timestamptz, parseTimestamp],
  [oid.bytea, parseBytes],
]);

/** For what PostgreSQL was told to write as text, by the name of its type. What JSON has a form of its own for is not here. */
export const textParsers: Readonly<Record<string, Parser>> = { bigint: BigInt, 'timestamptz(3)': parseTimestamp, bytea: parseBytes };

/** For pg's `types` option, so that it holds for our connections only. */
export const valueTypes = {
  getTypeParser: ((id: number, format?: 'text') => parsers.get(id) ?? defaultParser(id, format)) as typeof pg.types.getTypeParser,
};

function encodeArray(items: readonly unknown[]): string {
  const encoded = items.map((item) => {
    if (Array.isArray(item)) return encodeArray(item);
    const value = encodeParameter(item);
    if (value === null) return 'NULL';
    const text = typeof value === 'string' ? value : `\\x${value.toString('hex')}`;
    return /["\\]/.test(text) ? `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"` : `"${text}"`;
  });
  return `{${encoded.join(',')}}`;
}

/**
 * A parameter as it is sent. Whatever throws here throws before anything is sent.
 */
export function encodeParameter(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return String(value);
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return value;
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (Array.isArray(value)) return encodeArray(value);
  return JSON.stringify(value);
}
