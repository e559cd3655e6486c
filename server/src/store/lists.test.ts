// The lists against a real database: that walking a list meets every record once in both directions, with every filter, and that each list
// is read along its index.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addBooks, addMilestones, type Books, START_MS } from '../../test/support/book-fixtures.ts';
import { openDatabase } from '../../test/support/databases.ts';
import { addEndpoint, addEvents, addWorkspace, newId } from '../../test/support/webhook-fixtures.ts';
import type { Uuid } from '../domain/ids.ts';
import { milestoneStatuses } from '../domain/milestone.ts';
import { listApiKeys } from './api-keys.ts';
import { createByIdReader } from './by-id.ts';
import type { Database, Queryable } from './database.ts';
import { deliverySource, listAttempts, listDeliveries } from './deliveries.ts';
import { eventSource, listEvents } from './events.ts';
import { listInvoices } from './invoices.ts';
import { firstIdOf, type List, type PageRequest } from './lists.ts';
import { listMilestones } from './milestones.ts';
import { listPayments } from './payments.ts';
import { hasProject, listProjects, projectSource } from './projects.ts';
import { listWebhookEndpoints } from './webhook-endpoints.ts';

const COUNT = 250;

let database: Database;
let books: Books;
beforeAll(async () => {
  database = await openDatabase();
  books = await addBooks(database, COUNT);
  await addBooks(database, 30); // Another workspace, made of the same: nothing of it may show.
});
afterAll(() => database.close());

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

const newestFirst = (rows: readonly Row[]): Uuid[] => rows.map((row) => row.id).sort().reverse();

/** One row per filter: the list, its filters, and which of the records it should hold. */
type Case = readonly [name: string, list: List<Row, never>, filters: () => object, expected: () => readonly Row[]];
const cases: Case[] = [
  ['projects', listProjects, () => ({}), () => books.projects],
  ['archived projects', listProjects, () => ({ status: 'archived' }), () => books.projects.filter((row) => row.status === 'archived')],
  ['projects of a client', listProjects, () => ({ clientId: 'client_1' }), () => books.projects.filter((row) => row.clientId === 'client_1')],
  ['projects by metadata', listProjects, () => ({ metadata: { half: 'odd' } }), () => books.projects.filter((row) => row.metadata.half === 'odd')],
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
  ['payments of a client', listPayments, () => ({ clientId: 'client_0' }), () => books.payments.filter((row) => row.clientId === 'client_0')],
  ['payments of a project', listPayments, () => ({ projectId: books.projects[5]?.id }), () => books.payments.slice(5, 6)],
  ['payments of a milestone', listPayments, () => ({ milestoneId: books.milestones[9]?.id }), () => books.payments.slice(9, 10)],
  ['invoices', listInvoices, () => ({}), () => books.invoices],
  ['unpaid invoices', listInvoices, () => ({ paymentStatus: 'unpaid' }), () => books.invoices.filter((row) => row.paymentStatus === 'unpaid')],
  ['void invoices', listInvoices, () => ({ status: 'void' }), () => []],
  ['invoices of a client', listInvoices, () => ({ clientId: 'client_1' }), () => books.invoices.filter((row) => row.clientId === 'client_1')],
  ['invoices of a project', listInvoices, () => ({ projectId: books.projects[3]?.id }), () => books.invoices.slice(3, 4)],
  ['invoices of a milestone', listInvoices, () => ({ milestoneId: books.milestones[8]?.id }), () => books.invoices.slice(8, 9)],
  ['invoices of a milestone that does not exist', listInvoices, () => ({ milestoneId: newId() }), () => []],
];

describe('walking a list', () => {
  test.each(cases)('%s: every record once, newest first, forward and backward', async (_name, list, filters, expected) => {
    const ids = newestFirst(expected());
    expect(await walkForward(list, filters() as never, { limit: 17 })).toEqual(ids);
    expect(await walkBackward(list, filters() as never, { limit: 17 })).toEqual(ids);
  });

  test.each([1, 25, 50, 100])('pages of %i end exactly where the list ends', async (limit) => {
    expect(await walkForward(listMilestones as List<Row, { projectId: Uuid }>, { projectId: books.projects[0]?.id as Uuid }, { limit })).toEqual([
      books.milestones[0]?.id,
    ]);
    const { records, hasMore } = await listProjects(database, books.workspaceId, {}, { limit, startingAfter: newestFirst(books.projects).at(-1 - limit) as Uuid });
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
    expect(invoices.records[0]).toEqual(books.invoices.at(-1));
    const milestones = await listMilestones(database, books.workspaceId, { projectId: books.projects[7]?.id as Uuid }, { limit: 1 });
    expect(milestones.records[0]).toEqual(books.milestones[7]);
  });
});

describe('times', () => {
  const at = (second: number): Date => new Date(START_MS + second * 1000);

  test('are exact to the millisecond and leave out the moment itself', async () => {
    const list = listProjects as List<Row, object>;
    const between = { createdAfter: at(100), createdBefore: at(104) };
    const ids = newestFirst(books.projects.slice(100, 103)); // The n-th record is of second n + 1.
    expect(await walkForward(list, {}, { limit: 2, ...between })).toEqual(ids);
    expect(await walkBackward(list, {}, { limit: 2, ...between })).toEqual(ids);
    expect(await walkForward(list, {}, { limit: 100, createdAfter: new Date(START_MS + 249_999) })).toEqual(newestFirst(books.projects.slice(249)));
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
});

describe('what belongs to another workspace', () => {
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
});

describe('events, endpoints, deliveries and attempts', () => {
  test('events come in sequence, from any number on', async () => {
    const workspaceId = await addWorkspace(database);
    await addEvents(database, workspaceId, Array(7).fill('project.created'));
    const first = await listEvents(database, workspaceId, 0, 3);
    expect([first.records.map((event) => event.seq), first.hasMore]).toEqual([[1, 2, 3], true]);
    const last = await listEvents(database, workspaceId, 4, 3);
    expect([last.records.map((event) => event.seq), last.hasMore]).toEqual([[5, 6, 7], false]);
    expect(await listEvents(database, workspaceId, Number.MAX_SAFE_INTEGER, 3)).toEqual({ records: [], hasMore: false });
    const id = last.records[0]?.id as Uuid;
    expect(await createByIdReader(database, eventSource)(workspaceId, id)).toEqual(last.records[0]);
  });

  test('deleted endpoints are not listed', async () => {
    const workspaceId = await addWorkspace(database);
    const { id } = await addEndpoint(database, workspaceId);
    await addEndpoint(database, workspaceId, { deletedAt: new Date() });
    const { records } = await listWebhookEndpoints(database, workspaceId, {}, { limit: 10 });
    expect(records.map((record) => record.id)).toEqual([id]);
  });

  test('deliveries carry the id and type of their event, attempts are listed latest first', async () => {
    const workspaceId = await addWorkspace(database);
    const { id: endpointId } = await addEndpoint(database, workspaceId);
    await addEvents(database, workspaceId, ['project.created', 'payment.released']);
    const now = new Date();
    const ids = [newId(), newId()];
    for (const [i, id] of ids.entries()) {
      await database.query(
        `insert into deliveries (workspace_id, id, endpoint_id, event_seq, status, attempts, next_attempt_at, created_at, completed_at)
         values ($1, $2, $3, $4, $5, 3, null, $6, $6)`,
        [workspaceId, id, endpointId, i + 1, i === 0 ? 'failed' : 'succeeded', now],
      );
    }
    for (const number of [1, 2, 3]) {
      await database.query(
        `insert into delivery_attempts (workspace_id, delivery_id, number, started_at, duration_ms, status_code, error, response_body)
         values ($1, $2, $3, $4, 5, null, 'timeout', null)`,
        [workspaceId, ids[0], number, now],
      );
    }
    const events = await listEvents(database, workspaceId, 0, 10);
    const all = await listDeliveries(database, workspaceId, { endpointId }, { limit: 10 });
    expect(all.records.map((record) => [record.id, record.eventId, record.eventType, record.eventSeq])).toEqual([
      [ids[1], events.records[1]?.id, 'payment.released', 2],
      [ids[0], events.records[0]?.id, 'project.created', 1],
    ]);
    const failed = await listDeliveries(database, workspaceId, { endpointId, status: 'failed' }, { limit: 10 });
    expect(failed.records).toEqual([all.records[1]]);
    expect(await createByIdReader(database, deliverySource)(workspaceId, ids[0] as Uuid)).toEqual(all.records[1]);
    const numbers = async (limit: number, before?: number) => {
      const page = await listAttempts(database, workspaceId, ids[0] as Uuid, { limit, before });
      return [page.records.map((attempt) => attempt.number), page.hasMore];
    };
    expect(await numbers(2)).toEqual([[3, 2], true]);
    expect(await numbers(2, 2)).toEqual([[1], false]);
  });

  test('a key is listed with its last use', async () => {
    const workspaceId = await addWorkspace(database);
    const usedAt = new Date('2026-03-02T09:30:00.000Z');
    const ids = [newId(), newId()];
    for (const id of ids) {
      await database.query(
        `insert into api_keys (workspace_id, id, name, hash, hint, scopes, created_at) values ($1, $2, 'k', $3, 'tr_live_', '{projects:read}', now())`,
        [workspaceId, id, Buffer.from(id)],
      );
    }
    await database.query('insert into api_key_uses values ($1, $2, $3)', [workspaceId, ids[0], usedAt]);
    const { records } = await listApiKeys(database, workspaceId, {}, { limit: 10 });
    expect(records.map(({ id, key, lastUsedAt }) => [id, key.scopes, lastUsedAt])).toEqual([
      [ids[1], ['projects:read'], null],
      [ids[0], ['projects:read'], usedAt],
    ]);
  });
});

describe('the plan of each list', () => {
  /** Runs the list and returns the plan of its statement, made without knowing the values, as a statement that stays prepared has it. */
  async function planOf(run: (queryable: Queryable) => Promise<unknown>): Promise<string> {
    const sent: { text: string; parameters: readonly unknown[] }[] = [];
    await run({
      query: (text, parameters = []) => {
        sent.push({ text, parameters });
        return Promise.resolve([]);
      },
    });
    const { text, parameters } = sent[0] as (typeof sent)[number];
    const literal = (value: unknown): string => {
      const text = Array.isArray(value) ? `{${value.join(',')}}` : value instanceof Date ? value.toISOString() : String(value);
      return `'${text.replaceAll("'", "''")}'`;
    };
    return database.transaction(async (transaction) => {
      // Small tables are quickest read whole; what counts is whether the index can serve the order at all.
      for (const setting of ['enable_seqscan = off', 'enable_sort = off', 'enable_bitmapscan = off', 'plan_cache_mode = force_generic_plan']) {
        await transaction.query(`set local ${setting}`);
      }
      await transaction.query(`prepare looked_at as ${text}`);
      const rows = await transaction.query<{ 'QUERY PLAN': string }>(`explain execute looked_at(${parameters.map(literal).join(', ')})`);
      await transaction.query('deallocate looked_at');
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });
  }

  const page = { limit: 20, startingAfter: newId(), createdAfter: new Date() };
  const id = newId();
  const plans: [string, string, (queryable: Queryable) => Promise<unknown>][] = [
    ['projects', 'projects_pkey', (q) => listProjects(q, id, {}, page)],
    ['archived projects', 'projects_archived', (q) => listProjects(q, id, { status: 'archived' }, page)],
    ['projects of a client', 'projects_by_client', (q) => listProjects(q, id, { clientId: 'c' }, page)],
    ['milestones of a project', 'milestones_by_project', (q) => listMilestones(q, id, { projectId: id, status: 'pending' }, page)],
    ['payments', 'payments_pkey', (q) => listPayments(q, id, {}, page)],
    ['pending payments', 'payments_pending', (q) => listPayments(q, id, { status: 'pending' }, page)],
    ['payments of a project', 'payments_by_project', (q) => listPayments(q, id, { projectId: id }, page)],
    ['payments of a client', 'payments_by_client', (q) => listPayments(q, id, { clientId: 'c' }, page)],
    ['invoices', 'invoices_pkey', (q) => listInvoices(q, id, {}, page)],
    ['unpaid invoices', 'invoices_unpaid', (q) => listInvoices(q, id, { paymentStatus: 'unpaid' }, page)],
    ['invoices of a project', 'invoices_by_project', (q) => listInvoices(q, id, { projectId: id }, page)],
    ['invoices of a client', 'invoices_by_client', (q) => listInvoices(q, id, { clientId: 'c' }, page)],
    ['invoices of a milestone', 'invoices_by_project', (q) => listInvoices(q, id, { milestoneId: id }, page)],
    ['events', 'events_pkey', (q) => listEvents(q, id, 5, 20)],
    ['API keys', 'api_keys_pkey', (q) => listApiKeys(q, id, {}, page)],
    ['webhook endpoints', 'webhook_endpoints_pkey', (q) => listWebhookEndpoints(q, id, {}, page)],
    ['deliveries to an endpoint', 'deliveries_by_endpoint', (q) => listDeliveries(q, id, { endpointId: id }, page)],
    ['failed deliveries to an endpoint', 'deliveries_failed', (q) => listDeliveries(q, id, { endpointId: id, status: 'failed' }, page)],
    ['attempts of a delivery', 'delivery_attempts_pkey', (q) => listAttempts(q, id, id, { limit: 20 })],
    ['projects by id', 'projects_pkey', (q) => createByIdReader(q, projectSource)(id, id)],
    ['deliveries by id', 'deliveries_pkey', (q) => createByIdReader(q, deliverySource)(id, id)],
  ];
  test.each(plans)('%s: along %s, nothing sorted', async (_name, index, run) => {
    const plan = await planOf(run);
    expect(plan).toContain(index);
    expect(plan).not.toMatch(/Sort|Seq Scan/);
  });
});
