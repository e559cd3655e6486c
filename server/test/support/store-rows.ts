// Rows for tests of the store, and how a refusal of the database is named.
// Only what the schema demands; no rule of the domain is followed.

import { randomUUID } from 'node:crypto';
import { DatabaseError, type Queryable } from '../../src/store/database.ts';

const now = new Date('2026-01-31T12:34:56.789Z');

/** The SQLSTATE that the work failed with, or 'succeeded'. */
export async function sqlstateOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof DatabaseError) return error.sqlstate;
    throw error;
  }
  return 'succeeded';
}

export async function addWorkspace(database: Queryable, name = 'w'): Promise<string> {
  const id = randomUUID();
  await database.query('insert into workspaces (id, name, created_at) values ($1, $2, $3)', [id, name, now]);
  return id;
}
