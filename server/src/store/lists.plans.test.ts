// The plan of every list and of reads by id: each is served in order by the index that its module names.
// Says nothing of what they return.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addBooks } from '../../test/support/book-fixtures.ts';
import { type OpenDatabase, testDatabases } from '../../test/support/databases.ts';
import { newId } from '../../test/support/webhook-fixtures.ts';
import { listApiKeys } from './api-keys.ts';
import { createByIdReader } from './by-id.ts';
import type { Database, Queryable } from './database.ts';
import { deliverySource, listAttempts } from './deliveries.ts';
import { listDeliveries } from './delivery-lists.ts';
import { listEvents, searchEvents } from './events.ts';
import { listInvoices } from './invoices.ts';
import { listAllMilestones, listMilestones } from './milestones.ts';
import { findAwaitingApproval, findOverdue } from './overview.ts';
import { listPayments } from './payments.ts';
import { listProjects, projectSource } from './projects.ts';
import { listRequestLog } from './request-log.ts';
import { listWebhookEndpoints } from './webhook-endpoints.ts';
import { listWebhookRepairs as listRepairs } from './webhook-repairs.ts';

// Small tables are quickest read whole; what counts is whether the index can serve the order at all, or else find the matches.
const inOrder = ['enable_seqscan = off', 'enable_sort = off', 'enable_bitmapscan = off'];
const found = ['enable_seqscan = off', 'enable_indexscan = off'];

/** Runs the list and returns the plan of its statement, made without knowing the values, as a statement that stays prepared has it. */
async function planOf(database: Database, run: (queryable: Queryable) => Promise<unknown>, settings = inOrder): Promise<string> {
  const sent: { text: string; parameters: readonly unknown[] }[] = [];
  await run({
    query: (text, parameters = []) => {
      sent.push({ text, parameters });
      return Promise.resolve([]);
    },
  });
  const { text, parameters } = sent[0] as (typeof sent)[number];
  const literal = (value: unknown): string => {
    if (Buffer.isBuffer(value)) return `'{${id}}'`; // A column of ids, which are binary.
    const text = Array.isArray(value) ? `{${value.join(',')}}` : value instanceof Date ? value.toISOString() : String(value);
    return `'${text.replaceAll("'", "''")}'`;
  };
  return database.transaction(async (transaction) => {
    for (const setting of [...settings, 'plan_cache_mode = force_generic_plan']) {
      await transaction.query(`set local ${setting}`);
    }
    await transaction.query(`prepare looked_at as ${text}`);
    const rows = await transaction.query<{ 'QUERY PLAN': string }>(`explain execute looked_at(${parameters.map(literal).join(', ')})`);
    await transaction.query('deallocate looked_at');
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  });
}

/** Answers the questions about the ends of the log: of so many calls the last is the one that is looked at. */
function withHead(queryable: Queryable, calls = 2): Queryable {
  let left = calls;
  return {
    query: (text, parameters) => {
      left -= 1;
      if (left > 0) return Promise.resolve([{ workspace_id: id, event_seq: 100n }] as never);
      return queryable.query(text, parameters);
    },
  };
}

const page = { limit: 20, startingAfter: newId(), createdAfter: new Date() };
const id = newId();
const plans: [string, string, (queryable: Queryable) => Promise<unknown>][] = [
  ['projects', 'projects_pkey', (q) => listProjects(q, id, {}, page)],
  ['archived projects', 'projects_archived', (q) => listProjects(q, id, { status: 'archived' }, page)],
  ['projects of a client', 'projects_by_client', (q) => listProjects(q, id, { clientId: 'c' }, page)],
  ['milestones of a project', 'milestones_by_project', (q) => listMilestones(q, id, { projectId: id, status: 'pending' }, page)],
  ['milestones', 'milestones_pkey', (q) => listAllMilestones(q, id, {}, page)],
  ['submitted milestones', 'milestones_submitted', (q) => listAllMilestones(q, id, { status: 'submitted' }, page)],
  ['milestones of a project over the workspace', 'milestones_by_project', (q) => listAllMilestones(q, id, { projectId: id }, page)],
  ['overdue milestones', 'milestones_due', (q) => findOverdue(q, id, '2026-03-31', 5)],
  ['requests', 'request_log_pkey', (q) => listRequestLog(q, id, { method: 'GET', path: '/v1/projects' }, page)],
  ['requests of a key', 'request_log_by_key', (q) => listRequestLog(q, id, { keyId: id }, page)],
  ['failed requests', 'request_log_failures', (q) => listRequestLog(q, id, { statusClass: '5xx' }, page)],
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
  ['events backwards', 'events_pkey', (q) => searchEvents(withHead(q), id, { afterSeq: 0, order: 'desc' }, 20)],
  [
    'events of kinds',
    'events_pkey',
    (q) => searchEvents(withHead(q), id, { afterSeq: 0, order: 'desc', types: new Set(['project.created']) }, 20),
  ],
  ['events of a project', 'events_pkey', (q) => searchEvents(withHead(q, 3), id, { afterSeq: 0, order: 'desc', projectId: id }, 20)],
  ['the first event of a project', 'events_by_id', (q) => searchEvents(withHead(q), id, { afterSeq: 0, order: 'asc', projectId: id }, 20)],
  ['API keys', 'api_keys_pkey', (q) => listApiKeys(q, id, {}, page)],
  ['webhook endpoints', 'webhook_endpoints_pkey', (q) => listWebhookEndpoints(q, id, {}, page)],
  ['deliveries to an endpoint', 'deliveries_by_endpoint', (q) => listDeliveries(q, id, { endpointId: id }, page)],
  ['failed deliveries to an endpoint', 'deliveries_failed', (q) => listDeliveries(q, id, { endpointId: id, status: 'failed' }, page)],
  [
    'deliveries of a kind to an endpoint',
    'deliveries_by_endpoint',
    (q) => listDeliveries(q, id, { endpointId: id, eventType: 'project.created' }, page),
  ],
  ['deliveries of a workspace', 'deliveries_pkey', (q) => listDeliveries(q, id, { status: 'pending', projectId: id }, page)],
  ['repairs', 'webhook_repairs_pkey', (q) => listRepairs(q, id, {}, page)],
  ['attempts of a delivery', 'delivery_attempts_pkey', (q) => listAttempts(q, id, id, { limit: 20 })],
  ['projects by id', 'projects_pkey', (q) => createByIdReader(q, projectSource)(id, id)],
  ['deliveries by id', 'deliveries_pkey', (q) => createByIdReader(q, deliverySource)(id, id)],
];

/** What is found along an index and then sorted, since it is few or the order is another. */
const sorted: typeof plans = [
  ['milestones that await approval', 'milestones_submitted', (q) => findAwaitingApproval(q, id, 5)],
  ['late milestones', 'milestones_due', (q) => listAllMilestones(q, id, { dueBefore: '2026-03-31' }, page)],
];

for (const kind of testDatabases) {
  describe.skipIf(!kind.available)(`on the ${kind.name} database`, () => {
    let opened: OpenDatabase;
    beforeAll(async () => {
      opened = await kind.open();
      await addBooks(opened.database, 500); // On empty tables one index is as good as another.
      await opened.database.query('analyze');
    });
    afterAll(() => opened.close());

    test.each(plans)('%s: along %s, nothing sorted', async (_name, index, run) => {
      const plan = await planOf(opened.database, run);
      expect(plan).toContain(index);
      expect(plan).not.toMatch(/Sort|Seq Scan/);
    });

    test.each(sorted)('%s: found along %s', async (_name, index, run) => {
      const plan = await planOf(opened.database, run, found);
      expect(plan).toContain(index);
      expect(plan).not.toMatch(/Seq Scan/);
    });

    test('projects by words: found along projects_by_words, whatever is looked for', async () => {
      const workspaceId = newId();
      await opened.database.query(`insert into workspaces (id, name, created_at) values ($1, 'searched', now())`, [workspaceId]);
      await opened.database.query(
        `insert into projects select $1, gen_random_uuid(), 'project ' || n, 'client ' || n, null, 'USD', 'on_approval', 'active', '{}', 1, now(), now()
         from generate_series(1, 5000) n`,
        [workspaceId],
      );
      await opened.database.query('analyze projects');
      const plan = await planOf(opened.database, (q) => listProjects(q, workspaceId, { search: 'web' }, { limit: 20 }), []);
      expect(plan).toContain('projects_by_words');
    });
  });
}
