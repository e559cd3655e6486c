// Which lists share a connection and keep their plan, and which are planned for the values they are asked with.
// What the lists hold is shown by lists.test.ts.

import { expect, test } from 'vitest';
import type { Queryable } from '../store/database.ts';
import type { DashboardReads } from './dashboard-reads.ts';
import { createReads, type Reads } from './reads.ts';

/** Says of each call where its statement went. */
async function roadOf(call: (reads: Reads) => Promise<unknown>): Promise<string[]> {
  const roads: string[] = [];
  const road = (name: string): Queryable => ({
    query: async () => {
      roads.push(name);
      return [];
    },
  });
  const database = { ...road('chosen'), shared: road('kept') };
  const reads = createReads(database, () => new Date(), (() => undefined) as never, {} as DashboardReads);
  await call(reads);
  return roads;
}

const workspaceId = '00000000-0000-7000-8000-000000000001';
const projectId = '00000000-0000-7000-8000-000000000002';
const page = { limit: 20, startingAfter: undefined, createdAfter: new Date() };

test.each<[string, (reads: Reads) => Promise<unknown>]>([
  ['a payment by its id', (reads) => reads.getPayment(workspaceId, projectId)],
  ['all payments', (reads) => reads.listPayments(workspaceId, { status: undefined }, page)],
  ['payments of a client', (reads) => reads.listPayments(workspaceId, { clientId: 'c' }, page)],
  ['unpaid invoices', (reads) => reads.listInvoices(workspaceId, { paymentStatus: 'unpaid' }, page)],
  ['archived projects', (reads) => reads.listProjects(workspaceId, { status: 'archived' }, page)],
])('%s: along one index, by a plan that is kept', async (_name, call) => {
  expect(await roadOf(call)).toEqual(['kept']);
});

test.each<[string, (reads: Reads) => Promise<unknown>]>([
  ['pending payments of a client', (reads) => reads.listPayments(workspaceId, { clientId: 'c', status: 'pending' }, page)],
  ['unpaid invoices of a project', (reads) => reads.listInvoices(workspaceId, { projectId, paymentStatus: 'unpaid' }, page)],
  ['projects by words', (reads) => reads.listProjects(workspaceId, { search: 'web' }, page)],
  ['projects by metadata', (reads) => reads.listProjects(workspaceId, { metadata: { a: 'b' } }, page)],
])('%s: planned for the values at hand', async (_name, call) => {
  expect(await roadOf(call)).toEqual(['chosen']);
});

test('submitted milestones of a project: planned for the values at hand, and then whether there is such a project', async () => {
  expect(await roadOf((reads) => reads.listMilestones(workspaceId, { projectId, status: 'submitted' }, page))).toEqual([
    'chosen',
    'chosen',
  ]);
  expect(await roadOf((reads) => reads.listMilestones(workspaceId, { projectId }, page))).toEqual(['kept', 'chosen']);
});
