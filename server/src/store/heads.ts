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
  /** The transaction that wrote it last: while it is the same, nothing of the workspace has changed. */
  readonly writer: string;
}

interface WorkspaceRow {
  workspace_id: Uuid;
  name: string;
  default_currency: string;
  invoice_prefix: string;
  created_at: Date;
  closed_at: Date | null;
}

interface HeadRow {
  workspace_id: Uuid;
  event_seq: bigint;
  event_hash: Buffer;
  invoice_number: bigint;
  last_time: Date;
  writer: string;
}

const ofHead = 'h.workspace_id, h.event_seq, h.event_hash, h.invoice_number, h.last_time, h.xmin::text as writer';
const ofWorkspace = 'w.name, w.default_currency, w.invoice_prefix, w.created_at, w.closed_at';
const readText = `
  select ${ofHead}, ${ofWorkspace} from workspace_heads h join workspaces w on w.id = h.workspace_id
  where h.workspace_id = any($1::uuid[])`;
const lockText = `
  select ${ofHead} from workspace_heads h where h.workspace_id = any($1::uuid[]) order by h.workspace_id for no key update`;
const workspacesText = `select w.id as workspace_id, ${ofWorkspace} from workspaces w where w.id = any($1::uuid[])`;

/**
 * Locks heads in id order by their primary key. `skip` leaves out those that another process holds; `wait` waits for them, a number for so
 * many milliseconds for each: then, and for a later lock of the transaction too, it fails with SQLSTATE 55P03.
 * A transaction takes all its heads in this one statement, and nobody who holds what it takes later waits for a head: so two of them cannot
 * deadlock.
 */
export async function lockHeads(transaction: Queryable, workspaceIds: readonly Uuid[], mode: 'skip' | 'wait' | number): Promise<Head[]> {
  const limited = typeof mode === 'number' ? transaction.query(`select set_config('lock_timeout', $1, true)`, [`${mode}ms`]) : null;
  // Two statements: of a row that was waited for the first sees what it has become, but of a row joined to it what it was before.
  const [locked, workspaces] = await Promise.all([
    transaction.query<HeadRow>(mode === 'skip' ? `${lockText} skip locked` : lockText, [workspaceIds]),
    transaction.query<WorkspaceRow>(workspacesText, [workspaceIds]),
    limited,
  ]);
  const byId = new Map(workspaces.map((row) => [row.workspace_id, row]));
  return locked.map((row) => headOf(row, byId.get(row.workspace_id) as WorkspaceRow));
}

/** Heads as they are, without a lock: what is decided on them holds if `holdHeads` succeeds before it is written. */
export async function readHeads(transaction: Queryable, workspaceIds: readonly Uuid[]): Promise<Head[]> {
  return (await transaction.query<HeadRow & WorkspaceRow>(readText, [workspaceIds])).map((row) => headOf(row, row));
}

/**
 * Locks heads that were read without a lock, in id order; fails, to be tried again, when one was written since. `wait` waits for whoever
 * holds one, `skip` fails.
 */
export async function holdHeads(transaction: Queryable, heads: readonly Head[], mode: 'skip' | 'wait'): Promise<void> {
  if (heads.length === 0) return;
  const inOrder = heads.toSorted((one, other) => (one.workspace.id < other.workspace.id ? -1 : 1));
  await transaction.query('select hold_heads($1::uuid[], $2::text[], $3::bytea[], $4::timestamptz[], $5)', [
    inOrder.map((head) => head.workspace.id),
    inOrder.map((head) => head.writer),
    inOrder.map((head) => head.eventHash),
    inOrder.map((head) => head.lastTime),
    mode === 'wait',
  ]);
}

function headOf(row: HeadRow, workspace: WorkspaceRow): Head {
  return {
    workspace: {
      id: row.workspace_id,
      name: workspace.name,
      defaultCurrency: workspace.default_currency,
      invoicePrefix: workspace.invoice_prefix,
      createdAt: workspace.created_at,
      closedAt: workspace.closed_at,
    },
    eventSeq: Number(row.event_seq),
    eventHash: row.event_hash,
    invoiceNumber: Number(row.invoice_number),
    lastTime: row.last_time,
    writer: row.writer,
  };
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
