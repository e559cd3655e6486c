// Fills a database for the benchmark: workspaces, keys, projects, payments to read, submitted milestones to approve. Bulk SQL, not the API.
// The same for every server that has a database. Reads only counts back.

import { randomFillSync } from 'node:crypto';
import pg from 'pg';
import { hashKeySecret, keyHint, makeKeySecret } from '../server/src/domain/api-key.ts';
import { GENESIS_HASH } from '../server/src/domain/event.ts';
import { createIdGenerator, encodeId, type Uuid } from '../server/src/domain/ids.ts';
import type { Invoice } from '../server/src/domain/invoice.ts';
import type { Milestone } from '../server/src/domain/milestone.ts';
import type { Payment } from '../server/src/domain/payment.ts';
import type { Project } from '../server/src/domain/project.ts';
import { allScopes } from '../server/src/domain/scopes.ts';
import { apiKeyTable } from '../server/src/store/api-keys.ts';
import type { Queryable } from '../server/src/store/database.ts';
import { invoiceTable } from '../server/src/store/invoices.ts';
import { milestoneTable } from '../server/src/store/milestones.ts';
import { paymentTable } from '../server/src/store/payments.ts';
import { projectTable } from '../server/src/store/projects.ts';
import { insertRows, type Table } from '../server/src/store/tables.ts';
import { insertWorkspace } from '../server/src/store/workspaces.ts';
import type { Shot } from './load.ts';

const ROWS_PER_STATEMENT = 5_000;
const PROJECTS_PER_WORKSPACE = 8;
const AMOUNT_MINOR = 150_000n;

export interface Workspace {
  readonly id: Uuid;
  readonly keys: readonly string[];
  readonly projects: readonly Project[];
  /** How many invoices were written at the start: the next number follows. */
  invoices: number;
}

const random = (bytes: Uint8Array): void => void randomFillSync(bytes);
const newId = createIdGenerator(Date.now, random);
const count = (length: number): number[] => Array.from({ length }, (_, i) => i);
const pick = <T>(values: readonly T[], i: number): T => values[i % values.length] as T;

/** One connection to a database of the benchmark. */
export class Seed {
  readonly #client: pg.Client;
  readonly #queryable: Queryable;

  constructor(url: string) {
    this.#client = new pg.Client({ connectionString: url });
    this.#queryable = {
      query: async <Row>(text: string, parameters?: readonly unknown[]) =>
        (await this.#client.query(text, parameters as unknown[])).rows as Row[],
    };
  }

  async connect(): Promise<void> {
    await this.#client.connect();
  }

  async close(): Promise<void> {
    await this.#client.end();
  }

  async execute(sql: string): Promise<void> {
    await this.#client.query(sql);
  }

  async #insert<Entity>(table: Table<Entity>, entities: readonly Entity[]): Promise<void> {
    for (let at = 0; at < entities.length; at += ROWS_PER_STATEMENT) {
      await insertRows(this.#queryable, table, entities.slice(at, at + ROWS_PER_STATEMENT));
    }
  }

  async addWorkspace(keyCount: number): Promise<Workspace> {
    const now = new Date();
    const workspaceId = newId();
    await insertWorkspace(this.#queryable, { id: workspaceId, name: 'bench', defaultCurrency: 'USD', createdAt: now }, GENESIS_HASH);
    const keys = count(keyCount).map(() => makeKeySecret(random));
    const rest = { workspaceId, name: 'bench', scopes: allScopes, expiresAt: null, revokedAt: null, createdAt: now };
    await this.#insert(
      apiKeyTable,
      keys.map((secret) => ({ ...rest, id: newId(), hash: hashKeySecret(secret), hint: keyHint(secret) })),
    );
    const projects = count(PROJECTS_PER_WORKSPACE).map((i): Project => {
      const texts = { name: `Website ${i}`, clientId: `client_${i}`, payeeId: 'freelancer_7', currency: 'USD' } as const;
      const state = { release: 'on_approval', status: 'active', metadata: { order: 'A-1001' }, version: 1 } as const;
      return { workspaceId, id: newId(), ...texts, ...state, createdAt: now, updatedAt: now };
    });
    await this.#insert(projectTable, projects);
    return { id: workspaceId, keys, projects, invoices: 0 };
  }

  #milestone(workspace: Workspace, i: number, status: 'submitted' | 'approved', now: Date): Milestone {
    const project = pick(workspace.projects, i);
    const texts = {
      title: 'Design',
      description: 'Three drafts, one of them worked out.',
      payeeId: project.payeeId,
      dueDate: '2026-12-31',
      reason: null,
    };
    const money = { amountMinor: AMOUNT_MINOR, currency: 'USD' };
    const times = { submittedAt: now, approvedAt: status === 'approved' ? now : null, createdAt: now, updatedAt: now };
    const submission = { note: 'All three drafts are in the folder.', links: ['https://files.example.com/drafts'] };
    return {
      workspaceId: workspace.id,
      id: newId(),
      projectId: project.id,
      ...texts,
      ...money,
      ...times,
      status,
      submission,
      metadata: {},
      version: 2,
    };
  }

  /** Milestones to approve, spread over the workspaces, their projects and their keys; each stands in one request. */
  async addSubmitted(workspaces: readonly Workspace[], total: number): Promise<Shot[]> {
    const now = new Date();
    const milestones = count(total).map((i) => this.#milestone(pick(workspaces, i), Math.floor(i / workspaces.length), 'submitted', now));
    await this.#insert(milestoneTable, milestones);
    return milestones.map((milestone, i) => {
      const key = pick(pick(workspaces, i).keys, Math.floor(i / workspaces.length));
      return { method: 'PATCH', path: `/v1/milestones/${encodeId('milestone', milestone.id)}`, key };
    });
  }

  /** Payments to read, with their milestones and invoices, in random order over the workspaces and their keys. */
  async addPayments(workspaces: readonly Workspace[], total: number): Promise<Shot[]> {
    const now = new Date();
    const milestones: Milestone[] = [];
    const invoices: Invoice[] = [];
    const payments: Payment[] = [];
    for (const i of count(total)) {
      const workspace = pick(workspaces, i);
      const milestone = this.#milestone(workspace, Math.floor(i / workspaces.length), 'approved', now);
      const clientId = pick(workspace.projects, Math.floor(i / workspaces.length)).clientId;
      const { workspaceId, projectId, amountMinor, currency } = milestone;
      const shared = { workspaceId, projectId, milestoneId: milestone.id, clientId, currency, createdAt: now };
      const [paymentId, invoiceId] = [newId(), newId()];
      const sums = { subtotalMinor: amountMinor, taxMinor: 0n, totalMinor: amountMinor };
      const lines = [{ milestoneId: milestone.id, description: milestone.title, amountMinor }];
      workspace.invoices += 1;
      milestones.push(milestone);
      invoices.push({
        ...shared,
        id: invoiceId,
        number: workspace.invoices,
        paymentId,
        status: 'issued',
        paymentStatus: 'paid',
        lines,
        ...sums,
        paidAt: now,
      });
      payments.push({ ...shared, id: paymentId, invoiceId, payeeId: milestone.payeeId, amountMinor, status: 'released', releasedAt: now });
    }
    await this.#insert(milestoneTable, milestones);
    await this.#insert(invoiceTable, invoices);
    await this.#insert(paymentTable, payments);
    for (const { id, invoices: number } of workspaces) {
      await this.#queryable.query('update workspace_heads set invoice_number = $2 where workspace_id = $1', [id, number]);
    }
    const shots = payments.map((payment, i) => {
      const key = pick(pick(workspaces, i).keys, Math.floor(i / workspaces.length));
      return { method: 'GET', path: `/v1/payments/${encodeId('payment', payment.id)}`, key };
    });
    // In insertion order neighbours would share pages and keys: shuffled, as many clients would ask.
    return shots
      .map((shot) => ({ shot, order: Math.random() }))
      .sort((a, b) => a.order - b.order)
      .map(({ shot }) => shot);
  }

  /** Fresh statistics and no half-written pages, so that no round pays for the one before it. */
  async settle(): Promise<void> {
    await this.#client.query('vacuum analyze');
    await this.#client.query('checkpoint');
  }

  async serverVersion(): Promise<string> {
    const [row] = await this.#queryable.query<{ server_version: string }>('show server_version');
    return row?.server_version.split(' ')[0] ?? 'unknown';
  }

  async countPayments(): Promise<number> {
    const [row] = await this.#queryable.query<{ payments: number }>('select count(*)::int as payments from payments');
    return row?.payments ?? 0;
  }

  /** What is wrong with the books, in words; empty when every number is gapless and the ledger is even. */
  async findFaults(): Promise<string[]> {
    const [row] = await this.#queryable.query<Record<string, number>>(`
      select
        (select count(*)::int from (select 1 from invoices group by workspace_id having max(number) <> count(*)) g) as "workspaces with a gap in invoice numbers",
        (select count(*)::int from (select 1 from events group by workspace_id having max(seq) <> count(*)) g) as "workspaces with a gap in event numbers",
        (select count(*)::int from (select 1 from ledger_entries group by workspace_id, posting_id having sum(amount_minor) <> 0) g) as "uneven postings",
        (select count(*)::int from milestones m where status = 'approved' and not exists
          (select from payments p where p.workspace_id = m.workspace_id and p.milestone_id = m.id)) as "approved milestones without payment"`);
    return Object.entries(row ?? {}).flatMap(([what, number]) => (number === 0 ? [] : [`${number} ${what}`]));
  }
}
