// Every SQL statement on workspaces and their heads. The head's row lock is the only lock of a write.

import type { Workspace } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Queryable } from './database.ts';

export interface Head {
  readonly workspace: Workspace;
  readonly eventSeq: number;
  readonly eventHash: Buffer;
  readonly invoiceNumber: number;
  readonly lastTime: Date;
}

interface HeadRow {
  workspace_id: Uuid;
  name: string;
  default_currency: string;
  created_at: Date;
  event_seq: bigint;
  event_hash: Buffer;
  invoice_number: bigint;
  last_time: Date;
}

const lockText = `
  select h.workspace_id, h.event_seq, h.event_hash, h.invoice_number, h.last_time, w.name, w.default_currency, w.created_at
  from workspace_heads h join workspaces w on w.id = h.workspace_id
  where h.workspace_id = any($1::uuid[])
  order by h.workspace_id
  for no key update of h`;

/**
 * Locks heads in id order by their primary key. `skip` leaves out those that another process holds; `wait` waits for them.
 * A transaction takes all its heads in this one statement and waits for nothing after, so two of them cannot deadlock.
 */
export async function lockHeads(transaction: Queryable, workspaceIds: readonly Uuid[], mode: 'skip' | 'wait'): Promise<Head[]> {
  const rows = await transaction.query<HeadRow>(mode === 'skip' ? `${lockText} skip locked` : lockText, [workspaceIds]);
  return rows.map((row) => ({
    workspace: { id: row.workspace_id, name: row.name, defaultCurrency: row.default_currency, createdAt: row.created_at },
    eventSeq: Number(row.event_seq),
    eventHash: row.event_hash,
    invoiceNumber: Number(row.invoice_number),
    lastTime: row.last_time,
  }));
}

/** The last sequence number of each workspace, without a lock: primary key look-ups. */
export async function findLastSeqs(queryable: Queryable, workspaceIds: readonly Uuid[]): Promise<Map<Uuid, number>> {
  const rows = await queryable.query<{ workspace_id: Uuid; event_seq: bigint }>(
    'select workspace_id, event_seq from workspace_heads where workspace_id = any($1::uuid[])',
    [workspaceIds],
  );
  return new Map(rows.map((row) => [row.workspace_id, Number(row.event_seq)]));
}

/** Writes heads whose rows this transaction has locked. */
export async function updateHeads(transaction: Queryable, heads: readonly Head[]): Promise<void> {
  const rows = heads.map((head) => ({
    workspace_id: head.workspace.id,
    event_seq: head.eventSeq,
    event_hash: `\\x${head.eventHash.toString('hex')}`,
    invoice_number: head.invoiceNumber,
    last_time: head.lastTime,
  }));
  await transaction.query(
    `update workspace_heads h
     set event_seq = r.event_seq, event_hash = r.event_hash, invoice_number = r.invoice_number, last_time = r.last_time
     from json_to_recordset($1) as r(workspace_id uuid, event_seq bigint, event_hash bytea, invoice_number bigint, last_time timestamptz(3))
     where h.workspace_id = r.workspace_id`,
    [JSON.stringify(rows)],
  );
}
