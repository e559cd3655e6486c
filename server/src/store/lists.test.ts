// The lists against a real database: that walking one meets every record once in both directions, with every filter, and that times are exact.
// Which index each is read along is in lists.plans.test.ts.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addBooks, addMilestones, type Books, START_MS } from '../../test/support/book-fixtures.ts';
import { type OpenDatabase, pooledDatabase, testDatabases } from '../../test/support/databases.ts';
import { addWorkspace, newId } from '../../test/support/webhook-fixtures.ts';
import type { Uuid } from '../domain/ids.ts';
import { milestoneStatuses } from '../domain/milestone.ts';
import { createByIdReader } from './by-id.ts';
import type { Database } from './database.ts';
import { listInvoices } from './invoices.ts';
import { firstIdOf, type List, type PageRequest } from './lists.ts';
import { listMilestones } from './milestones.ts';
import { listPayments } from './payments.ts';
import { hasProject, listProjects, projectSource } from './projects.ts';

const COUNT = 250;

let database: Database;
let books: Books;

for (const kind of [...testDatabases, pooledDatabase]) {
  describe.skipIf(!kind.available)(`on the ${kind.name} database`, () => {
    let opened: OpenDatabase;
    beforeAll(async () => {
      opened = await kind.open();
      database = opened.database;
      books = await addBooks(database, COUNT);
      await addBooks(database, 30); // Another workspace, made of the same: nothing of it may show.
    });
    afterAll(() => opened.close());

    describe('walking a list', walkingTests);
    describe('times', timeTests);
    describe('what belongs to another workspace', strangerTests);
  });
}

interface Row {
  readonly id: Uuid;
  readonly createdAt: Date;
}

/** Every id of a list, page by page towards older records. */
async function walkForward<Filters>(list: List<Row, Filters>, filters: Filters, page: PageRequest): Promise<Uuid[]> {
  const ids: Uuid[] = [];
  let startingAfter: Uuid | undefined;
  for (let pages = 0; pages <= COUNT; pages++) {
    const { records, hasMore } = await list(database, books.workspaceId, filters, { ...page, startingAfter });
    expect(records.length).toBeLessThanOrEqual(page.limit);
    ids.push(...records.map((record) => record.id));
    if (!hasMore) return ids;
    expect(records).toHaveLength(page.limit);
    startingAfter = ids.at(-1);
  }
  throw new Error('the list has no end');
}

/** The same from the far end towards newer records. */
async function walkBackward<Filters>(list: List<Row, Filters>, filters: Filters, page: PageRequest): Promise<Uuid[]> {
  const ids: Uuid[] = [];
  let endingBefore: Uuid = firstIdOf(0);
  for (let pages = 0; pages <= COUNT; pages++) {
    const { records, hasMore } = await list(database, books.workspaceId, filters, { ...page, endingBefore });
    ids.unshift(...records.map((record) => record.id));
    if (!hasMore) return ids;
    endingBefore = ids[0] as Uuid;
  }
  throw new Error('the list has no end');
}

const newestFirst = (rows: readonly Row[]): Uuid[] =>
  rows
    .map((row) => row.id)
    .sort()
    .reverse();

type Case = readonly [name: string, list: List<Row, never>, filters: () => object, expected: () => readonly Row[]];
const cases: Case[] = [
  ['projects', listProjects, () => ({}), () => books.projects],
  ['archived projects', listProjects, () => ({ status: 'archived' }), () => books.projects.filter((row) => row.status === 'archived')],
  [
    'projects of a client',
    listProjects,
    () => ({ clientId: 'client_1' }),
    () => books.projects.filter((row) => row.clientId === 'client_1'),
  ],
  [
    'projects by metadata',
    listProjects,
    () => ({ metadata: { half: 'odd' } }),
    () => books.projects.filter((row) => row.metadata.half === 'odd'),
  ],
  ['projects by two keys of metadata', listProjects, () => ({ metadata: { half: 'odd', n: '77' } }), () => books.projects.slice(77, 78)],
  ['projects by metadata that none has', listProjects, () => ({ metadata: { half: 'neither' } }), () => []],
  [
    'active projects of a client by metadata',
    listProjects,
    () => ({ status: 'active', clientId: 'client_2', metadata: { half: 'even' } }),
    () => books.projects.filter((row) => row.status === 'active' && row.clientId === 'client_2' && row.metadata.half === 'even'),
  ],
  ['payments', listPayments, () => ({}), () => books.payments],
  ['pending payments', listPayments, () => ({ status: 'pending' }), () => books.payments.filter((row) => row.status === 'pending')],
  [
    'payments of a client',
    listPayments,
    () => ({ clientId: 'client_0' }),
    () => books.payments.filter((row) => row.clientId === 'client_0'),
  ],
  ['payments of a project', listPayments, () => ({ projectId: books.projects[5]?.id }), () => books.payments.slice(5, 6)],
  ['payments of a milestone', listPayments, () => ({ milestoneId: books.milestones[9]?.id }), () => books.payments.slice(9, 10)],
  ['invoices', listInvoices, () => ({}), () => books.invoices],
  [
    'unpaid invoices',
    listInvoices,
    () => ({ paymentStatus: 'unpaid' }),
    () => books.invoices.filter((row) => row.paymentStatus === 'unpaid'),
  ],
  ['void invoices', listInvoices, () => ({ status: 'void' }), () => []],
  [
    'invoices of a client',
    listInvoices,
    () => ({ clientId: 'client_1' }),
    () => books.invoices.filter((row) => row.clientId === 'client_1'),
  ],
  ['invoices of a project', listInvoices, () => ({ projectId: books.projects[3]?.id }), () => books.invoices.slice(3, 4)],
  ['invoices of a milestone', listInvoices, () => ({ milestoneId: books.milestones[8]?.id }), () => books.invoices.slice(8, 9)],
  ['invoices of a milestone that does not exist', listInvoices, () => ({ milestoneId: newId() }), () => []],
];

function walkingTests(): void {
  test.each(cases)('%s: every record once, newest first, forward and backward', async (_name, list, filters, expected) => {
    const ids = newestFirst(expected());
    expect(await walkForward(list, filters() as never, { limit: 17 })).toEqual(ids);
    expect(await walkBackward(list, filters() as never, { limit: 17 })).toEqual(ids);
  });

  test.each([1, 25, 50, 100])('pages of %i end exactly where the list ends', async (limit) => {
    expect(
      await walkForward(listMilestones as List<Row, { projectId: Uuid }>, { projectId: books.projects[0]?.id as Uuid }, { limit }),
    ).toEqual([books.milestones[0]?.id]);
    const { records, hasMore } = await listProjects(
      database,
      books.workspaceId,
      {},
      { limit, startingAfter: newestFirst(books.projects).at(-1 - limit) as Uuid },
    );
    expect(records).toHaveLength(limit);
    expect(hasMore).toBe(false);
  });

  test('milestones of a project are those of no other, by status too', async () => {
    const project = books.projects[1] as Books['projects'][number];
    const added = await addMilestones(database, project, 60, milestoneStatuses);
    const all = [...added, books.milestones[1] as Row];
    const list = listMilestones as List<Row, { projectId: Uuid; status?: string }>;
    expect(await walkForward(list, { projectId: project.id }, { limit: 7 })).toEqual(newestFirst(all));
    const cancelled = added.filter((row) => row.status === 'cancelled');
    expect(await walkBackward(list, { projectId: project.id, status: 'cancelled' }, { limit: 3 })).toEqual(newestFirst(cancelled));
  });

  test('the page before a record is the one a reader came from', async () => {
    const ids = newestFirst(books.projects);
    const page = await listProjects(database, books.workspaceId, {}, { limit: 5, endingBefore: ids[20] as Uuid });
    expect(page.records.map((record) => record.id)).toEqual(ids.slice(15, 20));
    expect(page.hasMore).toBe(true);
  });

  test('a cursor is a position: no record needs to have it', async () => {
    const ids = newestFirst(books.projects);
    const between = `${(ids[10] as Uuid).slice(0, -1)}${ids[10]?.endsWith('0') ? '1' : '0'}`;
    const page = await listProjects(database, books.workspaceId, {}, { limit: 3, startingAfter: between });
    const expected = ids.filter((id) => id < between).slice(0, 3);
    expect(page.records.map((record) => record.id)).toEqual(expected);
  });

  test('the records come back as they were written', async () => {
    const invoices = await listInvoices(database, books.workspaceId, {}, { limit: 100 });
    expect(invoices.records[0]).toEqual({ ...books.invoices.at(-1), prefix: 'INV-' });
    const milestones = await listMilestones(database, books.workspaceId, { projectId: books.projects[7]?.id as Uuid }, { limit: 1 });
    expect(milestones.records[0]).toEqual(books.milestones[7]);
  });
}

function timeTests(): void {
  const at = (second: number): Date => new Date(START_MS + second * 1000);

  test('are exact to the millisecond and leave out the moment itself', async () => {
    const list = listProjects as List<Row, object>;
    const between = { createdAfter: at(100), createdBefore: at(104) };
    const ids = newestFirst(books.projects.slice(100, 103)); // The n-th record is of second n + 1.
    expect(await walkForward(list, {}, { limit: 2, ...between })).toEqual(ids);
    expect(await walkBackward(list, {}, { limit: 2, ...between })).toEqual(ids);
    expect(await walkForward(list, {}, { limit: 100, createdAfter: new Date(START_MS + 249_999) })).toEqual(
      newestFirst(books.projects.slice(249)),
    );
    expect(await walkForward(list, {}, { limit: 100, createdBefore: at(0) })).toEqual([]);
    expect(await walkForward(list, {}, { limit: 100, createdAfter: new Date('9999-12-31T23:59:59.999Z') })).toEqual([]);
    expect(await walkForward(list, {}, { limit: 100, createdBefore: new Date('1970-01-01T00:00:00Z') })).toEqual([]);
  });

  test('go by created_at even where the id was made on a clock that is minutes off', async () => {
    const workspaceId = await addWorkspace(database);
    const { workspaceId: _, ...early } = books.projects[0] as Books['projects'][number];
    const id = firstIdOf(START_MS + 60_000).replace('-0000-0000-', '-7000-8000-');
    await database.query(
      `insert into projects (workspace_id, id, name, client_id, currency, release, status, metadata, version, created_at, updated_at)
       values ($1, $2, 'x', 'c', 'USD', 'manual', 'active', '{}', 1, $3, $3)`,
      [workspaceId, id, at(200)],
    );
    expect(early.createdAt).toEqual(at(1));
    const after = (second: number) => listProjects(database, workspaceId, {}, { limit: 1, createdAfter: at(second) });
    const before = (second: number) => listProjects(database, workspaceId, {}, { limit: 1, createdBefore: at(second) });
    expect((await after(199)).records).toHaveLength(1);
    expect((await after(200)).records).toHaveLength(0);
    expect((await before(201)).records).toHaveLength(1);
    expect((await before(200)).records).toHaveLength(0);
  });
}

function strangerTests(): void {
  test('is not there', async () => {
    const stranger = await addWorkspace(database);
    for (const [, list, filters] of cases) {
      const page = await list(database, stranger, filters() as never, { limit: 100 });
      expect(page).toEqual({ records: [], hasMore: false });
    }
    expect(await hasProject(database, stranger, books.projects[0]?.id as Uuid)).toBe(false);
    expect(await hasProject(database, books.workspaceId, books.projects[0]?.id as Uuid)).toBe(true);
    expect(await createByIdReader(database, projectSource)(stranger, books.projects[0]?.id as Uuid)).toBeNull();
  });
}
