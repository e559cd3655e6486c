// Every SQL statement on workspaces and their heads. The head's row lock is the only lock of a write.

import type { Workspace } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import { type ColumnType, encodeColumn } from './column-encoding.ts';
import type { Queryable } from './database.ts';
import type { Write } from './tables.ts';

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
  invoice_prefix: string;
  created_at: Date;
  closed_at: Date | null;
  event_seq: bigint;
  event_hash: Buffer;
  invoice_number: bigint;
  last_time: Date;
}

const lockText = `
  select h.workspace_id, h.event_seq, h.event_hash, h.invoice_number, h.last_time, w.name, w.default_currency, w.invoice_prefix, w.created_at, w.closed_at
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
    workspace: {
      id: row.workspace_id,
      name: row.name,
      defaultCurrency: row.default_currency,
      invoicePrefix: row.invoice_prefix,
      createdAt: row.created_at,
      closedAt: row.closed_at,
    },
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

/** Closes workspaces whose heads this transaction has locked; primary key. */
export async function closeWorkspaces(
  transaction: Queryable,
  closed: readonly { readonly id: Uuid; readonly closedAt: Date }[],
): Promise<void> {
  await transaction.query(
    'update workspaces w set closed_at = r.closed_at from unnest($1::uuid[], $2::timestamptz[]) as r(id, closed_at) where w.id = r.id',
    [closed.map((one) => one.id), closed.map((one) => one.closedAt)],
  );
}

/** Writes heads whose rows this transaction has locked. */
export function updateHeads(heads: readonly Head[]): Write {
  const column = (type: ColumnType, values: readonly unknown[]): Buffer => encodeColumn(type, values);
  return {
    text: `
      update workspace_heads h
      set event_seq = r.event_seq, event_hash = r.event_hash, invoice_number = r.invoice_number, last_time = r.last_time
      from unnest($1::uuid[], $2::bigint[], $3::bytea[], $4::bigint[], $5::timestamptz[])
        as r(workspace_id, event_seq, event_hash, invoice_number, last_time)
      where h.workspace_id = r.workspace_id`,
    parameters: [
      column(
        'uuid',
        heads.map((head) => head.workspace.id),
      ),
      column(
        'bigint',
        heads.map((head) => head.eventSeq),
      ),
      column(
        'bytea',
        heads.map((head) => head.eventHash),
      ),
      column(
        'bigint',
        heads.map((head) => head.invoiceNumber),
      ),
      column(
        'timestamptz(3)',
        heads.map((head) => head.lastTime),
      ),
    ],
  };
}
