// Messages of PostgreSQL's protocol, version 3: the bytes a statement is sent as, and what the messages of its answer say.
// Pure: holds no connection and waits for nothing. Source: PostgreSQL's manual, "Frontend/Backend Protocol", "Message Formats".

import pg from 'pg';
import { valueTypes } from './values.ts';

/** What the first byte of a message from the server says it is; the others do not occur in an answer, or say nothing that is needed. */
export const messageTypes = {
  commandComplete: 0x43,
  dataRow: 0x44,
  errorResponse: 0x45,
  emptyQuery: 0x49,
  noData: 0x6e,
  rowDescription: 0x54,
  readyForQuery: 0x5a,
} as const;

/** What a server sends at any time, to nobody's question: a notification, a notice, a changed setting. */
const unasked = new Set([0x41, 0x4e, 0x53]);
export const isUnasked = (type: number): boolean => unasked.has(type);

/** What a server that waits for rows, or sends them, begins with: COPY, which is not spoken here. */
const copying = new Set([0x47, 0x48, 0x57]);
export const isCopy = (type: number): boolean => copying.has(type);

const PARSE = 0x50;
const DESCRIBE = 0x44;
const BIND = 0x42;
const EXECUTE = 0x45;
const SYNC = 0x53;
const QUERY = 0x51;
const STATEMENT = 0x53;

/** The byte that says the type, and four that say how long the rest is, themselves included. */
export const HEADER_BYTES = 5;
const LENGTH_BYTES = 4;

/** How many bytes from `at` on are needed to go on: those of the whole message, or of its header where that is not all there. */
export function neededAt(bytes: Buffer, at: number): number {
  if (bytes.length - at < HEADER_BYTES) return HEADER_BYTES;
  const length = bytes.readInt32BE(at + 1);
  if (length < LENGTH_BYTES) throw new Error('The database sent bytes that are no message of its protocol.');
  return 1 + length;
}

/** A text of one or more statements without parameters. */
export function encodeScript(text: string): Buffer {
  const bytes = Buffer.byteLength(text);
  const message = Buffer.allocUnsafe(HEADER_BYTES + bytes + 1);
  let at = writeHeader(message, 0, QUERY, LENGTH_BYTES + bytes + 1);
  at += message.write(text, at);
  message[at] = 0;
  return message;
}

export interface EncodedStatement {
  /** Under which the statement is prepared, in ASCII; the empty name is that of a statement for once. */
  readonly name: string;
  /** Text, a value in PostgreSQL's binary form, or nothing. */
  readonly parameters: readonly (string | Buffer | null)[];
  /** Given for a statement that is not prepared yet; its answer then begins with a description of the rows. */
  readonly text: string | null;
}

/** One statement, to be prepared or prepared, with all that is needed for an answer, as one piece of memory. */
export function encodeStatement({ name, parameters, text }: EncodedStatement): Buffer {
  const textBytes = text === null ? 0 : Buffer.byteLength(text);
  const preparing = text === null ? 0 : 2 * HEADER_BYTES + 2 * (name.length + 1) + textBytes + 1 + 2 + 1;
  let binding = LENGTH_BYTES + 1 + (name.length + 1) + 2 + 2 + 2;
  for (const parameter of parameters) binding += 2 + 4 + sizeOf(parameter);
  const executing = LENGTH_BYTES + 1 + 4;
  const message = Buffer.allocUnsafe(preparing + 1 + binding + 1 + executing + HEADER_BYTES);
  let at = text === null ? 0 : writePreparation(message, name, text, textBytes);

  at = writeHeader(message, at, BIND, binding);
  message[at++] = 0; // The portal without a name.
  at = writeName(message, at, name);
  at = message.writeUInt16BE(parameters.length, at);
  for (const parameter of parameters) at = message.writeInt16BE(Buffer.isBuffer(parameter) ? 1 : 0, at);
  at = message.writeUInt16BE(parameters.length, at);
  for (const parameter of parameters) at = writeParameter(message, at, parameter);
  at = message.writeInt16BE(0, at); // All columns of the answer as text.

  at = writeHeader(message, at, EXECUTE, executing);
  message[at++] = 0;
  at = message.writeInt32BE(0, at); // All rows.
  writeHeader(message, at, SYNC, LENGTH_BYTES);
  return message;
}

function writePreparation(message: Buffer, name: string, text: string, textBytes: number): number {
  let at = writeHeader(message, 0, PARSE, LENGTH_BYTES + name.length + 1 + textBytes + 1 + 2);
  at = writeName(message, at, name);
  at += message.write(text, at);
  message[at++] = 0;
  at = message.writeInt16BE(0, at); // The server finds the types of the parameters.
  at = writeHeader(message, at, DESCRIBE, LENGTH_BYTES + 1 + name.length + 1);
  message[at++] = STATEMENT;
  return writeName(message, at, name);
}

function writeHeader(message: Buffer, at: number, type: number, length: number): number {
  message[at] = type;
  return message.writeInt32BE(length, at + 1);
}

function writeName(message: Buffer, at: number, name: string): number {
  const end = at + message.write(name, at, 'latin1');
  message[end] = 0;
  return end + 1;
}

const sizeOf = (parameter: string | Buffer | null): number =>
  parameter === null ? 0 : typeof parameter === 'string' ? Buffer.byteLength(parameter) : parameter.length;

function writeParameter(message: Buffer, start: number, parameter: string | Buffer | null): number {
  if (parameter === null) return message.writeInt32BE(-1, start);
  const at = start + 4;
  const size = typeof parameter === 'string' ? message.write(parameter, at) : parameter.copy(message, at);
  message.writeInt32BE(size, start);
  return at + size;
}

/** How the rows of a statement are read. */
export interface Shape {
  readonly names: readonly string[];
  readonly parsers: readonly ((text: string) => unknown)[];
}

/** Table, column, type, size, modifier and form of a field, after its name. */
const FIELD_BYTES = 18;
const TYPE_OFFSET = 6;

/** Of the content of a RowDescription. */
export function readShape(message: Buffer, start: number): Shape {
  const count = message.readUInt16BE(start);
  const names: string[] = [];
  const parsers: Shape['parsers'][number][] = [];
  for (let i = 0, at = start + 2; i < count; i++) {
    const end = message.indexOf(0, at);
    names.push(message.toString('utf8', at, end));
    parsers.push(valueTypes.getTypeParser(message.readInt32BE(end + 1 + TYPE_OFFSET), 'text'));
    at = end + 1 + FIELD_BYTES;
  }
  return { names, parsers };
}

/** Of the content of a DataRow. */
export function readRow({ names, parsers }: Shape, message: Buffer, start: number): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  let at = start + 2;
  for (const [i, name] of names.entries()) {
    const size = message.readInt32BE(at);
    at += 4;
    row[name] = size < 0 ? null : parsers[i]?.(message.toString('utf8', at, at + size));
    if (size > 0) at += size;
  }
  return row;
}

/** Of the content of a CommandComplete: `COMMIT`, `INSERT`. */
export const readCommand = (message: Buffer, start: number, end: number): string =>
  message.toString('latin1', start, end - 1).split(' ', 1)[0] as string;

/** The letters that name the fields of an error, and what pg calls them. */
const errorFields: Readonly<Record<string, keyof pg.DatabaseError>> = {
  C: 'code',
  D: 'detail',
  H: 'hint',
  P: 'position',
  W: 'where',
  s: 'schema',
  t: 'table',
  c: 'column',
  n: 'constraint',
};

/** Of the content of an ErrorResponse. */
export function readError(message: Buffer, start: number, end: number): pg.DatabaseError {
  const told = new Map<string, string>();
  for (const field of message.toString('utf8', start, end).split('\0')) if (field !== '') told.set(field.charAt(0), field.slice(1));
  const error = new pg.DatabaseError(told.get('M') ?? 'The database gave no reason.', end - start, 'error');
  // In English, whatever the language of the server's messages; servers before 9.6 did not say it so.
  error.severity = told.get('V') ?? told.get('S');
  for (const [letter, field] of Object.entries(errorFields)) if (told.has(letter)) Object.assign(error, { [field]: told.get(letter) });
  return error;
}
