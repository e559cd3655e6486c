// What the schema itself promises, whoever writes: books that balance and are never rewritten, no link across workspaces, migrations applied once.
// One suite, run on the embedded database and on a PostgreSQL server.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database, Migration, Queryable } from '../src/store/database.ts';
import { NewerSchema, readMigrations } from '../src/store/migrations.ts';
import { type OpenDatabase, testDatabases } from './support/databases.ts';
import { addWorkspace, sqlstateOf } from './support/store-rows.ts';

const now = new Date('2026-01-31T12:34:56.789Z');

async function addProject(database: Queryable, workspaceId: string): Promise<string> {
  const id = randomUUID();
  await database.query(
    'insert into projects (workspace_id, id, name, client_id, currency, release, status, metadata, version, created_at, updated_at) ' +
      "values ($1, $2, 'p', 'c', 'USD', 'manual', 'active', '{}', 1, $3, $3)",
    [workspaceId, id, now],
  );
  return id;
}

function addMilestone(database: Queryable, workspaceId: string, projectId: string, id: string = randomUUID()): Promise<unknown> {
  return database.query(
    'insert into milestones (workspace_id, id, project_id, title, amount_minor, currency, status, metadata, version, created_at, updated_at) ' +
      "values ($1, $2, $3, 'm', 100, 'USD', 'pending', '{}', 1, $4, $4)",
    [workspaceId, id, projectId, now],
  );
}

/** A workspace with a released payment, whose ledger entries are still to be written. */
async function addPayment(database: Queryable): Promise<{ workspaceId: string; projectId: string; paymentId: string }> {
  const workspaceId = await addWorkspace(database);
  const projectId = await addProject(database, workspaceId);
  const [milestoneId, invoiceId, paymentId] = [randomUUID(), randomUUID(), randomUUID()];
  await addMilestone(database, workspaceId, projectId, milestoneId);
  await database.query(
    'insert into invoices (workspace_id, id, number, project_id, milestone_id, payment_id, client_id, status, payment_status, lines, subtotal_minor, ' +
      "tax_minor, total_minor, currency, created_at) values ($1, $2, 1, $3, $4, $5, 'c', 'issued', 'unpaid', '[]', 100, 0, 100, 'USD', $6)",
    [workspaceId, invoiceId, projectId, milestoneId, paymentId, now],
  );
  await database.query(
    'insert into payments (workspace_id, id, project_id, milestone_id, invoice_id, client_id, amount_minor, currency, status, released_at, created_at) ' +
      "values ($1, $2, $3, $4, $5, 'c', 100, 'USD', 'released', $6, $6)",
    [workspaceId, paymentId, projectId, milestoneId, invoiceId, now],
  );
  return { workspaceId, projectId, paymentId };
}

const entriesText =
  'insert into ledger_entries (workspace_id, posting_id, line, account, project_id, payment_id, currency, amount_minor, created_at) ' +
  "select $1, $2, line, 'receivable', $3, $4, 'USD', amount, $5 from unnest($6::smallint[], $7::bigint[]) as e(line, amount)";

function addEntries(database: Queryable, payment: Awaited<ReturnType<typeof addPayment>>, amounts: readonly bigint[]): Promise<unknown> {
  const lines = amounts.map((_, index) => index + 1);
  return database.query(entriesText, [payment.workspaceId, randomUUID(), payment.projectId, payment.paymentId, now, lines, amounts]);
}

for (const kind of testDatabases) {
  describe.skipIf(!kind.available)(`the schema on the ${kind.name} database`, () => {
    let opened: OpenDatabase;
    let database: Database;
    beforeAll(async () => {
      opened = await kind.open();
      database = opened.database;
    });
    afterAll(() => opened.close());

    describe('the books', () => {
      test('a ledger posting that sums to zero is accepted, and one that does not is refused (I-3)', async () => {
        const payment = await addPayment(database);
        await addEntries(database, payment, [100n, -100n]);
        expect(await sqlstateOf(addEntries(database, payment, [100n, -99n]))).toBe('23514');
        expect(await sqlstateOf(addEntries(database, payment, [100n]))).toBe('23514');
      });

      test.each(['ledger_entries', 'events'])('%s refuses UPDATE, DELETE and TRUNCATE (I-7)', async (table) => {
        expect(await sqlstateOf(database.query(`update ${table} set created_at = created_at`))).toBe('23001');
        expect(await sqlstateOf(database.query(`delete from ${table}`))).toBe('23001');
        expect(await sqlstateOf(database.query(`truncate ${table} cascade`))).toBe('23001');
      });

      test('a milestone cannot belong to a project of another workspace (I-11)', async () => {
        const [mine, other] = [await addWorkspace(database), await addWorkspace(database)];
        const project = await addProject(database, other);
        expect(await sqlstateOf(addMilestone(database, mine, project))).toBe('23503');
      });

      test('a project cannot belong to a workspace that does not exist, nor go with its workspace (I-11)', async () => {
        expect(await sqlstateOf(addProject(database, randomUUID()))).toBe('23503');
        const workspaceId = await addWorkspace(database);
        await addProject(database, workspaceId);
        expect(await sqlstateOf(database.query('delete from workspaces where id = $1', [workspaceId]))).toBe('23001');
      });

      test.each([
        'update milestones set project_id = $2 where workspace_id = $1',
        'update milestones set workspace_id = $2 where workspace_id = $1',
        'update projects set workspace_id = $2 where workspace_id = $1',
        'update projects set id = $2 where workspace_id = $1',
      ])('%s: a link stays as it was made (I-11)', async (text) => {
        const workspaceId = await addWorkspace(database);
        await addMilestone(database, workspaceId, await addProject(database, workspaceId));
        expect(await sqlstateOf(database.query(text, [workspaceId, randomUUID()]))).toBe('23001');
      });

      test('ledger entries cannot name a payment of another workspace (I-11)', async () => {
        const [mine, other] = [await addPayment(database), await addPayment(database)];
        expect(await sqlstateOf(addEntries(database, { ...mine, paymentId: other.paymentId }, [100n, -100n]))).toBe('23503');
      });
    });

    describe('migrations', () => {
      /** A database of the test's own: its schema is what the test is about. */
      async function alone(work: (database: Database, known: Migration[]) => Promise<void>): Promise<void> {
        const own = await kind.open();
        await work(own.database, await readMigrations()).finally(() => own.close());
      }

      test('migrating again changes nothing, even by several at once', () =>
        alone(async (own, known) => {
          expect(await Promise.all([own.migrate(known), own.migrate(known), own.migrate(known)])).toEqual([[], [], []]);
        }));

      test('of several that migrate at once, one applies each migration', () =>
        alone(async (own, known) => {
          const next = [...known, { name: '9001_more', sql: 'create table more (id int); insert into more values (1);' }];
          const rounds = await Promise.all([own.migrate(next), own.migrate(next), own.migrate(next)]);
          expect(rounds.flat()).toEqual(['9001_more']);
          expect(await own.query('select * from more')).toEqual([{ id: 1 }]);
        }));

      test('a migration that fails leaves nothing behind, and those before it stay', () =>
        alone(async (own, known) => {
          const next = [
            { name: '9002_good', sql: 'create table good (id int)' },
            { name: '9003_bad', sql: 'create table bad (id int); select 1 / 0' },
          ];
          await expect(own.migrate([...known, ...next])).rejects.toThrow('Migration 9003_bad failed');
          expect(await own.query('select name from schema_migrations where name like $1', ['900%'])).toEqual([{ name: '9002_good' }]);
          expect(await sqlstateOf(own.query('select from bad'))).toBe('42P01');
        }));

      test('a database that a newer build has migrated is refused and left alone', () =>
        alone(async (own, known) => {
          await own.migrate([...known, { name: '9004_newer', sql: 'create table newer (id int)' }]);
          const attempt = own.migrate([...known, { name: '9005_other', sql: 'create table other (id int)' }]);
          await expect(attempt).rejects.toThrow(NewerSchema);
          await expect(attempt).rejects.toThrow('9004_newer');
          expect(await sqlstateOf(own.query('select from other'))).toBe('42P01');
        }));
    });
  });
}
