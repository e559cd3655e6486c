// Proves the books of every workspace, or says where they break: the hash chain, the ledger, the numbers, the invoices.
// Reads only, in pages, and may run beside a serving process: what commits meanwhile is left to the next run.

import { chainHash, GENESIS_HASH } from '../domain/event.ts';
import { encodeId, type Uuid } from '../domain/ids.ts';
import {
  type AuditedEvent,
  type AuditedHead,
  type AuditedInvoice,
  type AuditedPayment,
  countBooks,
  listHeads,
  pageOfEvents,
  pageOfInvoices,
  pageOfMilestones,
  pageOfPayments,
} from '../store/audit.ts';
import type { Queryable } from '../store/database.ts';
import { OperatorError } from './operator-error.ts';
import { faultsOfTold } from './verify-told.ts';

const PAGE = 1_000;
/** Faults listed for one workspace; the rest is counted. */
const MAX_FAULTS = 20;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

export interface WorkspaceReport {
  readonly workspace: string;
  readonly name: string;
  readonly events: number;
  /** `seq:hash` of the last event: keep it elsewhere, and a log cut short later will show with `--expect`. */
  readonly head: string;
  readonly invoices: number;
  readonly payments: number;
  readonly milestones: number;
  readonly faults: readonly string[];
  readonly faultsInAll: number;
}

/** The embedded database answers without leaving this turn of the event loop: without a pause the server would answer nobody meanwhile. */
const breathe = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

class Faults {
  readonly listed: string[] = [];
  count = 0;
  add(fault: string): void {
    this.count += 1;
    if (this.listed.length < MAX_FAULTS) this.listed.push(fault);
  }
}

interface NotedHead {
  readonly workspace: string;
  readonly seq: number;
  readonly hash: string;
}

/** A head that was noted and cannot be looked for must not pass for one that was found. */
function readNotedHeads(texts: readonly string[], workspaces: readonly string[]): NotedHead[] {
  return texts.map((text) => {
    const match = /^(?:(wsp_[0-9a-z]{26}):)?(\d+):([0-9a-f]{64})$/.exec(text);
    if (match === null) throw new OperatorError(`--expect takes seq:hash or wsp_…:seq:hash, as verify prints it; got "${text}".`);
    const workspace = match[1] ?? (workspaces.length === 1 ? workspaces[0] : undefined);
    if (workspace === undefined)
      throw new OperatorError(`There are ${workspaces.length} workspaces; say which one is meant: --expect wsp_…:${text}`);
    return { workspace, seq: Number(match[2]), hash: match[3] as string };
  });
}

/** `expected` are heads noted earlier, `seq:hash` or `wsp_…:seq:hash`; each must still be in the log. */
export async function verifyBooks(
  database: Queryable,
  expected: readonly string[],
  onProgress: (line: string) => void,
): Promise<WorkspaceReport[]> {
  const reports: WorkspaceReport[] = [];
  const heads = await listHeads(database);
  const workspaces = heads.map((head) => encodeId('workspace', head.workspace_id));
  const noted = readNotedHeads(expected, workspaces);
  for (const { workspace } of noted)
    if (!workspaces.includes(workspace)) throw new OperatorError(`${workspace}, of which a head was noted, is not in this database.`);
  for (const head of heads) {
    await breathe();
    const workspace = encodeId('workspace', head.workspace_id);
    onProgress(`checking ${workspace} (${head.name}): ${head.event_seq} events, ${head.invoice_number} invoices`);
    const faults = new Faults();
    if (head.event_hash === null) faults.add('the workspace has no head');
    await checkEvents(
      database,
      head,
      noted.filter((entry) => entry.workspace === workspace),
      faults,
    );
    await checkInvoices(database, head, faults);
    const payments = await checkPayments(database, head.workspace_id, faults);
    const milestones = await checkMilestones(database, head.workspace_id, faults);
    await checkCounts(database, head.workspace_id, faults);
    reports.push({
      workspace,
      name: head.name,
      events: Number(head.event_seq),
      head: `${head.event_seq}:${(head.event_hash ?? GENESIS_HASH).toString('hex')}`,
      invoices: Number(head.invoice_number),
      payments,
      milestones,
      faults: faults.listed,
      faultsInAll: faults.count,
    });
  }
  return reports;
}

async function checkEvents(
  database: Queryable,
  head: AuditedHead,
  expected: readonly { seq: number; hash: string }[],
  faults: Faults,
): Promise<void> {
  const last = Number(head.event_seq);
  let hash: Buffer = GENESIS_HASH;
  let seq = 0;
  const wanted = new Map(expected.map((entry) => [entry.seq, entry.hash]));
  for (;;) {
    const page = await pageOfEvents(database, head.workspace_id, seq, last, PAGE);
    for (const event of page) {
      if (Number(event.seq) !== seq + 1) faults.add(`event ${seq + 1} is missing: the log goes from ${seq} to ${event.seq}`);
      seq = Number(event.seq);
      const computed = chainHash(hash, {
        workspaceId: head.workspace_id,
        seq,
        id: event.id,
        createdAt: event.created_at,
        body: event.body,
      });
      if (!computed.equals(event.hash))
        faults.add(`event ${seq} (${encodeId('event', event.id)}) does not match its hash: it or one before it was altered`);
      if (!saysWhatItIs(event))
        faults.add(`event ${seq} (${encodeId('event', event.id)}) is filed under another kind or project than its body says`);
      // Go on from the stored hash, so that one altered event is one fault and not one for each event after it.
      hash = event.hash;
      const noted = wanted.get(seq);
      if (noted !== undefined && noted !== event.hash.toString('hex'))
        faults.add(`event ${seq} has another hash than the one noted earlier`);
      wanted.delete(seq);
    }
    for (const fault of await faultsOfTold(database, head.workspace_id, page)) faults.add(fault);
    if (page.length < PAGE) break;
    await breathe();
  }
  if (seq !== last) faults.add(`the log ends at event ${seq}, its head says ${last}`);
  if (head.event_hash !== null && !hash.equals(head.event_hash)) faults.add('the hash of the last event is not the one in the head');
  for (const missing of wanted.keys()) if (missing > 0) faults.add(`event ${missing}, noted earlier, is not in the log: its tail was cut`);
}

/** The columns beside the body are not in the hash, and lists and subscriptions go by them. */
function saysWhatItIs({ type, project_id, body }: AuditedEvent): boolean {
  try {
    const { event, data } = JSON.parse(body) as { event?: unknown; data?: { projectId?: unknown } };
    return event === type && data?.projectId === (project_id === null ? undefined : encodeId('project', project_id));
  } catch {
    return false;
  }
}

async function checkInvoices(database: Queryable, head: AuditedHead, faults: Faults): Promise<void> {
  const last = Number(head.invoice_number);
  let number = 0;
  for (;;) {
    const page = await pageOfInvoices(database, head.workspace_id, number, last, PAGE);
    for (const invoice of page) {
      if (Number(invoice.number) === number) faults.add(`invoice number ${number} is there twice`);
      else if (Number(invoice.number) !== number + 1) faults.add(`invoice number ${number + 1} is missing`);
      number = Number(invoice.number);
      for (const fault of faultsOfInvoice(invoice)) faults.add(`invoice ${number} (${encodeId('invoice', invoice.id)}) ${fault}`);
    }
    if (page.length < PAGE) break;
    await breathe();
  }
  if (number !== last) faults.add(`the last invoice is ${number}, the head says ${last}`);
}

function faultsOfInvoice(invoice: AuditedInvoice): string[] {
  const faults: string[] = [];
  const lines = invoice.lines.reduce((sum, line) => sum + BigInt(line.amount_minor), 0n);
  if (lines !== invoice.subtotal_minor) faults.push(`has lines of ${lines} and a subtotal of ${invoice.subtotal_minor}`);
  if (invoice.subtotal_minor + invoice.tax_minor !== invoice.total_minor) faults.push('has a total that is not subtotal plus tax');
  if (!invoice.payment_found) faults.push('has no payment that names it');
  else {
    if (invoice.payment_amount_minor !== invoice.total_minor || invoice.payment_currency !== invoice.currency)
      faults.push('differs from its payment');
    if ((invoice.payment_status === 'paid') !== (invoice.payment_status_of_payment === 'released')) {
      faults.push(`is ${invoice.payment_status} while its payment is ${invoice.payment_status_of_payment}`);
    }
  }
  return faults;
}

async function checkPayments(database: Queryable, workspaceId: Uuid, faults: Faults): Promise<number> {
  let after = FIRST_ID;
  let count = 0;
  for (;;) {
    const page = await pageOfPayments(database, workspaceId, after, PAGE);
    for (const payment of page) {
      for (const fault of faultsOfPayment(payment)) faults.add(`payment ${encodeId('payment', payment.id)} ${fault}`);
      after = payment.id;
    }
    count += page.length;
    if (page.length < PAGE) return count;
    await breathe();
  }
}

function faultsOfPayment(payment: AuditedPayment): string[] {
  const faults: string[] = [];
  if (payment.milestone_status !== 'approved')
    faults.push(`belongs to a milestone that is ${payment.milestone_status ?? 'missing'}, not approved`);
  if (payment.milestone_amount_minor !== payment.amount_minor || payment.milestone_currency !== payment.currency)
    faults.push('differs from its milestone');
  if (!payment.invoiced) faults.push('has no invoice that names it');
  const postings = new Map<Uuid, bigint>();
  const balances = { receivable: 0n, payable: 0n, paid_out: 0n };
  for (const entry of payment.entries) {
    const amount = BigInt(entry.amount_minor);
    postings.set(entry.posting_id, (postings.get(entry.posting_id) ?? 0n) + amount);
    balances[entry.account] += amount;
    if (entry.currency !== payment.currency) faults.push(`has a ledger entry in ${entry.currency}`);
  }
  for (const [posting, sum] of postings) if (sum !== 0n) faults.push(`has posting ${posting}, which sums to ${sum}`);
  const released = payment.status === 'released';
  const expected = {
    receivable: payment.amount_minor,
    payable: released ? 0n : -payment.amount_minor,
    paid_out: released ? -payment.amount_minor : 0n,
  };
  for (const account of ['receivable', 'payable', 'paid_out'] as const) {
    if (balances[account] !== expected[account])
      faults.push(`has ${account} ${balances[account]} in the ledger instead of ${expected[account]}`);
  }
  return faults;
}

async function checkMilestones(database: Queryable, workspaceId: Uuid, faults: Faults): Promise<number> {
  let after = FIRST_ID;
  let count = 0;
  for (;;) {
    const page = await pageOfMilestones(database, workspaceId, after, PAGE);
    for (const milestone of page) {
      after = milestone.id;
      if (!milestone.linked) faults.add(`milestone ${encodeId('milestone', milestone.id)} belongs to no project of its workspace`);
      if (milestone.status === 'approved' && !milestone.paid)
        faults.add(`milestone ${encodeId('milestone', milestone.id)} is approved and has no payment`);
    }
    count += page.length;
    if (page.length < PAGE) return count;
    await breathe();
  }
}

async function checkCounts(database: Queryable, workspaceId: Uuid, faults: Faults): Promise<void> {
  const counts = await countBooks(database, workspaceId);
  const same = (what: string, told: bigint, happened: bigint): void => {
    if (told !== happened) faults.add(`${what}: ${told} told by events, ${happened} in the books`);
  };
  same('released payments', counts.events_released, counts.payments_released);
  same('approved milestones', counts.events_approved, counts.milestones_approved);
  same('issued invoices', counts.events_issued, counts.invoices);
  if (counts.stray_entries > 0n) faults.add(`${counts.stray_entries} ledger entries belong to no payment of their project`);
  if (counts.last_seq !== counts.head_seq) faults.add(`the log holds event ${counts.last_seq} while the head says ${counts.head_seq}`);
  if (counts.last_number !== counts.head_number)
    faults.add(`invoice ${counts.last_number} exists while the head says ${counts.head_number}`);
}
