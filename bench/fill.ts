// Fills a workspace with long books: approved milestones with their payments, invoices, ledger entries and chained events.
// Every row is what the service itself would have written, and `tranche verify` passes over them. Bulk SQL, not the API.

import { chainHash, type Event, type EventDraft, GENESIS_HASH, milestoneEvent } from '../server/src/domain/event.ts';
import type { Uuid } from '../server/src/domain/ids.ts';
import type { Invoice } from '../server/src/domain/invoice.ts';
import type { LedgerEntry } from '../server/src/domain/ledger.ts';
import type { Milestone } from '../server/src/domain/milestone.ts';
import { type Payment, payForApproval } from '../server/src/domain/payment.ts';
import { eventTable } from '../server/src/store/events.ts';
import { invoiceTable } from '../server/src/store/invoices.ts';
import { ledgerTable } from '../server/src/store/ledger.ts';
import { milestoneTable } from '../server/src/store/milestones.ts';
import { paymentTable } from '../server/src/store/payments.ts';
import { insertRows } from '../server/src/store/tables.ts';
import type { Door } from './doors.ts';
import { milestoneOf, newId, pick, type Workspace } from './seed.ts';

const MILESTONES_PER_CHUNK = 2_000;

interface Chunk {
  readonly milestones: Milestone[];
  readonly invoices: Invoice[];
  readonly payments: Payment[];
  readonly entries: LedgerEntry[];
  readonly events: Event[];
}

/** Where the books of the workspace stand: the next invoice and event follow. */
interface Head {
  invoiceNumber: number;
  seq: number;
  hash: Buffer;
}

function chain(head: Head, workspaceId: Uuid, draft: EventDraft, createdAt: Date): Event {
  head.seq += 1;
  const event = { ...draft, workspaceId, id: newId(), seq: head.seq, createdAt };
  head.hash = chainHash(head.hash, event);
  return { ...event, hash: head.hash };
}

function makeChunk(workspace: Workspace, from: number, to: number, head: Head): Chunk {
  const now = new Date();
  const chunk: Chunk = { milestones: [], invoices: [], payments: [], entries: [], events: [] };
  const of = { id: workspace.id, name: 'bench', defaultCurrency: 'USD', invoicePrefix: 'INV-', closedAt: null, createdAt: now };
  for (let i = from; i < to; i++) {
    const project = pick(workspace.projects, i);
    const milestone = milestoneOf(project, 'approved', now);
    head.invoiceNumber += 1;
    const context = { workspace: of, now, newId, nextInvoiceNumber: head.invoiceNumber, lastSeq: head.seq };
    const { payments = [], invoices = [], entries = [], events } = payForApproval(milestone, project, context);
    chunk.milestones.push(milestone);
    chunk.payments.push(...payments);
    chunk.invoices.push(...invoices);
    chunk.entries.push(...entries);
    for (const draft of [milestoneEvent('milestone.approved', milestone), ...events]) {
      chunk.events.push(chain(head, workspace.id, draft, now));
    }
  }
  return chunk;
}

async function writeChunk(door: Door, { milestones, invoices, payments, entries, events }: Chunk): Promise<void> {
  // Sent in the order of the links, since the checks after each statement look for what it points to.
  await Promise.all([
    insertRows(door, milestoneTable, milestones),
    insertRows(door, invoiceTable, invoices),
    insertRows(door, paymentTable, payments),
    insertRows(door, ledgerTable, entries),
    insertRows(door, eventTable, events),
  ]);
}

/** Adds `rows` milestones and payments to a workspace that has none. Returns the ids of the payments, oldest first. */
export async function fillBooks(
  door: Door,
  workspace: Workspace,
  rows: number,
  onProgress: (done: number) => void = () => undefined,
): Promise<Uuid[]> {
  const head: Head = { invoiceNumber: 0, seq: 0, hash: GENESIS_HASH };
  const ids: Uuid[] = [];
  let written: Promise<void> = Promise.resolve();
  for (let at = 0; at < rows; at += MILESTONES_PER_CHUNK) {
    const chunk = makeChunk(workspace, at, Math.min(rows, at + MILESTONES_PER_CHUNK), head);
    for (const { id } of chunk.payments) ids.push(id);
    // One chunk is made while the one before it is written.
    await written;
    written = writeChunk(door, chunk);
    onProgress(ids.length);
  }
  await written;
  // Primary key of workspace_heads; nobody else is writing yet. Fan-out begins after what lies here already.
  await door.query(
    'update workspace_heads set event_seq = $2, event_hash = $3, invoice_number = $4, last_time = now() where workspace_id = $1',
    [workspace.id, head.seq, head.hash, head.invoiceNumber],
  );
  await door.query('insert into webhook_cursors (workspace_id, seq) values ($1, $2)', [workspace.id, head.seq]);
  return ids;
}
