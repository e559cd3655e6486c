// Brings the schema up to date: reads the SQL files beside this one and applies those that the database does not have yet.
// Takes no lock; the adapter holds one while this runs.

import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { DatabaseError, type Migration } from './database.ts';
import { runScript, runStatement } from './statements.ts';

const directory = new URL('./migrations/', import.meta.url);
const fileName = /^\d{4}_[a-z0-9_]+\.sql$/;

/** The database is ahead of this build. */
export class NewerSchema extends Error {
  constructor(names: readonly string[]) {
    super(
      `A newer build has been here: the database has migrations that this one does not know (${names.join(', ')}). ` +
        'Run that build or a later one, or restore a backup from before it.',
    );
    this.name = 'NewerSchema';
  }
}

/** Every migration of this build, in the order of the names. */
export async function readMigrations(): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort();
  const odd = files.filter((file) => !fileName.test(file));
  if (odd.length > 0) throw new Error(`A migration is named like 0001_what_it_does.sql; these are not: ${odd.join(', ')}`);
  return Promise.all(
    files.map(async (file) => ({ name: file.slice(0, -'.sql'.length), sql: await readFile(new URL(file, directory), 'utf8') })),
  );
}

/** Each in a transaction of its own, together with the note that it was applied. Returns the names of those applied now. */
export async function applyMigrations(client: pg.ClientBase, migrations: readonly Migration[]): Promise<string[]> {
  await runScript(
    client,
    'create table if not exists schema_migrations (name text primary key, applied_at timestamptz(3) not null default now())',
  );
  const rows = await runScript<{ name: string }>(client, 'select name from schema_migrations order by name');
  const applied = new Set(rows.map((row) => row.name));
  for (const { name } of migrations) applied.delete(name);
  if (applied.size > 0) throw new NewerSchema([...applied]);

  const present = new Set(rows.map((row) => row.name));
  const added: string[] = [];
  for (const migration of migrations.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (present.has(migration.name)) continue;
    await applyOne(client, migration);
    added.push(migration.name);
  }
  return added;
}

/** Times that a migration is begun again, when it and a write of an older build waited for each other and the database ended it. */
const DEADLOCK_RETRIES = 5;
const DEADLOCK = '40P01';

async function applyOne(client: pg.ClientBase, { name, sql }: Migration, retries = DEADLOCK_RETRIES): Promise<void> {
  await runScript(client, 'begin');
  try {
    await runScript(client, sql);
    await runStatement(client, false, 'insert into schema_migrations (name) values ($1)', [name]);
    await runScript(client, 'commit');
  } catch (error) {
    await runScript(client, 'rollback').catch(() => undefined);
    if (retries > 0 && error instanceof DatabaseError && error.sqlstate === DEADLOCK) return applyOne(client, { name, sql }, retries - 1);
    throw new Error(`Migration ${name} failed and was rolled back: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
