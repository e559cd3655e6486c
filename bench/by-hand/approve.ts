// An approval as a good engineer writes it by hand: one transaction in three round trips, the counters locked as late as possible.
// Writes the same rows as ours; only the hash chain of the events is left out (their hash column is filled, which favours this side).

import type pg from 'pg';
import { encodeId } from '../../server/src/domain/ids.ts';
import type { MilestoneRow } from './answers.ts';
import { lockMilestone } from './submit.ts';

const statements = {
  approve: `update milestones set status = 'approved', approved_at = $3, updated_at = $3, version = version + 1 where workspace_id = $1 and id = $2`,
  /** The counters of the workspace, from a row that stays locked until the commit: numbers and sequence have no gaps. */
  takeNumbers: `
    update workspace_heads set event_seq = event_seq + 3, invoice_number = invoice_number + 1, last_time = $2
    where workspace_id = $1 returning event_seq, invoice_number`,
  insertInvoice: `
    insert into invoices (workspace_id, id, number, project_id, milestone_id, payment_id, client_id, status, payment_status, lines,
      subtotal_minor, tax_minor, total_minor, currency, paid_at, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, 'issued', 'paid', $8, $9, 0, $9, $10, $11, $11)`,
  insertPayment: `
    insert into payments (workspace_id, id, project_id, milestone_id, invoice_id, client_id, payee_id, amount_minor, currency, status, released_at, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'released', $10, $10)`,
  insertEntries: `
    insert into ledger_entries (workspace_id, posting_id, line, account, project_id, payment_id, currency, amount_minor, created_at)
    values ($1, $2, 1, 'receivable', $3, $4, $5, $6, $7), ($1, $2, 2, 'paid_out', $3, $4, $5, -$6::bigint, $7)`,
  insertEvents: `
    insert into events (workspace_id, seq, id, type, project_id, body, hash, created_at)
    values ($1, $2::bigint - 2, $3, 'milestone.approved', $6, $7, $10, $11), ($1, $2::bigint - 1, $4, 'invoice.issued', $6, $8, $10, $11),
      ($1, $2::bigint, $5, 'payment.released', $6, $9, $10, $11)`,
} as const;

const hash = Buffer.alloc(32, 1);

function eventBodies(milestone: MilestoneRow, invoiceId: string, number: string): [string, string, string] {
  const projectId = encodeId('project', milestone.project_id);
  const milestoneId = encodeId('milestone', milestone.id);
  const amount = Number(milestone.amount_minor);
  const { currency, title } = milestone;
  const invoice = { invoiceId: encodeId('invoice', invoiceId), number: `INV-${number.padStart(6, '0')}`, total: amount, currency };
  return [
    JSON.stringify({ event: 'milestone.approved', data: { projectId, milestoneId, title, amount, currency } }),
    JSON.stringify({ event: 'invoice.issued', data: { projectId, milestoneId, ...invoice } }),
    JSON.stringify({ event: 'payment.released', data: { projectId, milestoneId, amount, currency } }),
  ];
}

async function writeMoneyAndCommit(client: pg.PoolClient, newId: () => string, milestone: MilestoneRow, now: Date): Promise<void> {
  const run = (name: keyof typeof statements, values: unknown[]) => client.query({ name, text: statements[name], values });
  const { workspace_id: workspaceId, id, project_id: projectId, client_id: clientId, amount_minor: amount, currency } = milestone;
  const [invoiceId, paymentId] = [newId(), newId()];
  const lines = JSON.stringify([{ milestone_id: id, description: milestone.title, amount_minor: amount }]);
  // Only the numbers are waited for. All else, the COMMIT included, is sent in one go (pg's pipeline mode): when one statement
  // fails, PostgreSQL refuses those after it and the COMMIT rolls back.
  const { rows } = await run('takeNumbers', [workspaceId, now]);
  const { event_seq: seq, invoice_number: number } = rows[0] as { event_seq: string; invoice_number: string };
  const bodies = eventBodies(milestone, invoiceId, number);
  await Promise.all([
    run('approve', [workspaceId, id, now]),
    run('insertInvoice', [workspaceId, invoiceId, number, projectId, id, paymentId, clientId, lines, amount, currency, now]),
    run('insertPayment', [workspaceId, paymentId, projectId, id, invoiceId, clientId, milestone.payee_id, amount, currency, now]),
    run('insertEntries', [workspaceId, newId(), projectId, paymentId, currency, amount, now]),
    run('insertEvents', [workspaceId, seq, newId(), newId(), newId(), projectId, ...bodies, hash, now]),
    client.query('COMMIT'),
  ]);
}

/** The milestone as approved, or why not. Approving what is approved changes nothing. */
export async function approveMilestone(
  pool: pg.Pool,
  newId: () => string,
  workspaceId: string,
  id: string,
): Promise<MilestoneRow | 'not_found' | 'invalid_transition'> {
  const client = await pool.connect();
  try {
    const lock = { ...lockMilestone, values: [workspaceId, id] };
    const [, { rows }] = await Promise.all([client.query('BEGIN'), client.query<MilestoneRow>(lock)]);
    const milestone = rows[0];
    if (milestone === undefined || milestone.status !== 'submitted') {
      await client.query('ROLLBACK');
      return milestone === undefined ? 'not_found' : milestone.status === 'approved' ? milestone : 'invalid_transition';
    }
    const now = new Date();
    await writeMoneyAndCommit(client, newId, milestone, now);
    return { ...milestone, status: 'approved', approved_at: now, updated_at: now, version: milestone.version + 1 };
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}
