// Rows of the books for tests of reads: projects with milestones, payments and invoices, in bulk and with times of their own.
// Goes round the commands on purpose, so that reading is tested by itself.

import { createHash } from 'node:crypto';
import { createIdGenerator, type Uuid } from '../../src/domain/ids.ts';
import type { Invoice } from '../../src/domain/invoice.ts';
import type { Milestone } from '../../src/domain/milestone.ts';
import type { Payment } from '../../src/domain/payment.ts';
import type { Project } from '../../src/domain/project.ts';
import type { Database, Queryable } from '../../src/store/database.ts';
import { invoiceTable } from '../../src/store/invoices.ts';
import { milestoneTable } from '../../src/store/milestones.ts';
import { paymentTable } from '../../src/store/payments.ts';
import { projectTable } from '../../src/store/projects.ts';
import { insertRows } from '../../src/store/tables.ts';
import { addWorkspace } from './webhook-fixtures.ts';

export interface Books {
  readonly workspaceId: Uuid;
  readonly projects: Project[];
  readonly milestones: Milestone[];
  readonly invoices: Invoice[];
  readonly payments: Payment[];
}

/** When the first record of the books was created; each record follows one second after the one before. */
export const START_MS = Date.UTC(2026, 0, 1);

/** Ids and times that are the same in every run: `seed` alone decides them. */
export function createTimeline(seed: string): { id(): Uuid; now(): Date; tick(ms?: number): void } {
  let ms = START_MS;
  let block = 0;
  const newId = createIdGenerator(
    () => ms,
    (bytes) => {
      for (let at = 0; at < bytes.length; at += 32)
        bytes.set(
          createHash('sha256')
            .update(`${seed}${block++}`)
            .digest()
            .subarray(0, bytes.length - at),
          at,
        );
    },
  );
  return { id: newId, now: () => new Date(ms), tick: (step = 1000) => void (ms += step) };
}

/** `count` projects in turn of three clients, every fifth archived; each with one milestone, its invoice and payment, every fourth pending. */
export async function addBooks(database: Database, count: number): Promise<Books> {
  const workspaceId = await addWorkspace(database);
  const books = makeBooks(workspaceId, count);
  await insertRows(database, projectTable, books.projects);
  await insertRows(database, milestoneTable, books.milestones);
  await insertRows(database, invoiceTable, books.invoices);
  await insertRows(database, paymentTable, books.payments);
  return books;
}

export function makeBooks(workspaceId: Uuid, count: number): Books {
  const timeline = createTimeline(workspaceId);
  const books: Books = { workspaceId, projects: [], milestones: [], invoices: [], payments: [] };
  for (let n = 0; n < count; n++) {
    timeline.tick();
    const at = timeline.now();
    const clientId = `client_${n % 3}`;
    const [projectId, milestoneId, invoiceId, paymentId] = [timeline.id(), timeline.id(), timeline.id(), timeline.id()];
    const amountMinor = BigInt(1000 + n);
    const isPending = n % 4 === 0;
    const common = { workspaceId, currency: 'USD', createdAt: at };
    books.projects.push({
      ...common,
      id: projectId,
      name: `Project ${n}`,
      clientId,
      payeeId: null,
      release: 'on_approval',
      status: n % 5 === 0 ? 'archived' : 'active',
      metadata: { n: String(n), half: n % 2 === 0 ? 'even' : 'odd' },
      version: 1,
      updatedAt: at,
    });
    books.milestones.push({
      ...common,
      id: milestoneId,
      projectId,
      title: `Milestone ${n}`,
      description: null,
      amountMinor,
      payeeId: null,
      dueDate: '2026-03-31',
      status: 'approved',
      reason: null,
      submission: { note: null, links: ['https://example.com/'] },
      metadata: {},
      submittedAt: at,
      approvedAt: at,
      version: 3,
      updatedAt: at,
    });
    const money = { ...common, projectId, milestoneId, clientId };
    books.invoices.push({
      ...money,
      id: invoiceId,
      number: n + 1,
      paymentId,
      status: 'issued',
      paymentStatus: isPending ? 'unpaid' : 'paid',
      lines: [{ milestoneId, description: `Milestone ${n}`, amountMinor }],
      subtotalMinor: amountMinor,
      taxMinor: 0n,
      totalMinor: amountMinor,
      paidAt: isPending ? null : at,
    });
    books.payments.push({
      ...money,
      id: paymentId,
      invoiceId,
      payeeId: null,
      amountMinor,
      status: isPending ? 'pending' : 'released',
      releasedAt: isPending ? null : at,
    });
  }
  return books;
}

/** Milestones of one project, one second apart, in turn of these statuses. */
export async function addMilestones(
  database: Queryable,
  project: Project,
  count: number,
  statuses: readonly Milestone['status'][],
): Promise<Milestone[]> {
  const [template] = makeBooks(project.workspaceId, 1).milestones;
  const timeline = createTimeline(project.id);
  const milestones = Array.from({ length: count }, (_, n): Milestone => {
    timeline.tick();
    const at = timeline.now();
    const status = statuses[n % statuses.length] as Milestone['status'];
    return {
      ...(template as Milestone),
      id: timeline.id(),
      projectId: project.id,
      title: `Part ${n}`,
      status,
      createdAt: at,
      updatedAt: at,
    };
  });
  await insertRows(database, milestoneTable, milestones);
  return milestones;
}
