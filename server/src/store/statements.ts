// One statement on one connection: its prepared name, its parameters, its rows, and its failure in the port's terms.
// Knows nothing of pools, transactions or which of the two databases it talks to.

import { createHash } from 'node:crypto';
import pg from 'pg';
import { ask } from './conversation.ts';
import { DatabaseError, DatabaseUnavailable } from './database.ts';
import { encodeParameter } from './values.ts';

/** Each name holds a plan in the memory of every connection; texts beyond this many are sent unnamed. Ours are a few dozen. */
const MAX_NAMED_STATEMENTS = 500;

const names = new Map<string, string>();

function statementName(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined) return known;
  if (names.size >= MAX_NAMED_STATEMENTS) return undefined;
  const name = `s_${createHash('sha256').update(text).digest('base64url').slice(0, 20)}`;
  names.set(text, name);
  return name;
}

/**
 * SQLSTATEs that say the server went, is going or refuses connections: 08 connection, 57P0x shutdown and start-up, 53300 too many clients,
 * 25006 a server that takes no writes, which is a standby that is not promoted yet, or no more the primary.
 */
const unavailableStates = /^(08...|57P0[1235]|53300|25P03|25006)$/;

/** What a failure from pg means to callers of the port. An error that did not come from the server or the socket is a bug and stays as it is. */
export function toPortError(error: unknown): Error {
  if (error instanceof pg.DatabaseError) {
    const sqlstate = error.code ?? 'XX000';
    // FATAL and PANIC end the connection, whatever the code says.
    const lost = unavailableStates.test(sqlstate) || error.severity === 'FATAL' || error.severity === 'PANIC';
    if (lost) return new DatabaseUnavailable(`The database ended the connection: ${error.message} (${sqlstate})`, { cause: error });
    return new DatabaseError(error.message, sqlstate, { cause: error });
  }
  if (error instanceof DatabaseUnavailable || error instanceof DatabaseError) return error;
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) return error;
  return new DatabaseUnavailable(`The database is out of reach: ${describe(error)}`, { cause: error });
}

/** Node reports a refused connection to several addresses as an error without a message of its own. */
export function describe(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(describe).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** Sends at once, before the first await: statements called in a row go out in a row. */
export async function runStatement<Row>(
  client: pg.ClientBase,
  named: boolean,
  text: string,
  parameters: readonly unknown[] | undefined,
): Promise<Row[]> {
  const name = named ? statementName(text) : undefined;
  try {
    return (await ask(client, { text, name, parameters: parameters?.map(encodeParameter) ?? [] })).rows as Row[];
  } catch (error) {
    throw toPortError(error);
  }
}

/** Several statements in one message, without parameters; the rows of the last. */
export async function runScript<Row>(client: pg.ClientBase, text: string): Promise<Row[]> {
  try {
    return (await ask(client, { text })).rows as Row[];
  } catch (error) {
    throw toPortError(error);
  }
}

/**
 * Whether a connection that failed so is better closed: its prepared statements are no longer what we believe them to be, because a
 * migration changed a result's columns (0A000) or a pooler handed the session to somebody else (26000, 42P05).
 */
export function spoilsConnection(error: unknown): boolean {
  // Behind one that no longer serves us may be a server that never will again, such as a former primary; the next one is asked for anew.
  if (error instanceof DatabaseUnavailable) return true;
  return error instanceof DatabaseError && ['0A000', '26000', '42P05'].includes(error.sqlstate);
}
