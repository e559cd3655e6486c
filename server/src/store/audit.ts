// The statements of `tranche verify`: the books in pages, by primary key, each page one consistent snapshot. Reads only.

import type { Uuid } from '../domain/ids.ts';
import type { LedgerAccount } from '../domain/ledger.ts';
import type { Queryable } from './database.ts';

export interface AuditedHead {
  readonly workspace_id: Uuid;
  readonly name: string;
  readonly event_seq: bigint;
  /** Null where the workspace has no head. */
  readonly event_hash: Buffer | null;
  readonly invoice_number: bigint;
}

/** Every workspace with its head: primary key order. */
export function listHeads(queryable: Queryable): Promise<AuditedHead[]> {
  return queryable.query<AuditedHead>(
    `select w.id as workspace_id, w.name, coalesce(h.event_seq, 0) as event_seq, h.event_hash, coalesce(h.invoice_number, 0) as invoice_number
     from workspaces w left join workspace_heads h on h.workspace_id = w.id order by w.id`,
  );
}

export interface AuditedEvent {
  readonly seq: bigint;
  readonly id: Uuid;
  readonly type: string;
  readonly project_id: Uuid | null;
  readonly body: string;
  readonly hash: Buffer;
  readonly created_at: Date;
}

/** The next events of the log: primary key (workspace_id, seq). */
export function pageOfEvents(
  queryable: Queryable,
  workspaceId: Uuid,
  afterSeq: number,
  upToSeq: number,
  limit: number,
): Promise<AuditedEvent[]> {
  return queryable.query<AuditedEvent>(
    `select seq, id, type, project_id, body, hash, created_at from events
     where workspace_id = $1 and seq > $2 and seq <= $3 order by seq limit $4`,
    [workspaceId, afterSeq, upToSeq, limit],
  );
}

export interface AuditedInvoice {
  readonly number: bigint;
  readonly id: Uuid;
  readonly status: string;
  readonly payment_status: string;
  readonly subtotal_minor: bigint;
  readonly tax_minor: bigint;
  readonly total_minor: bigint;
  readonly currency: string;
  readonly lines: readonly { readonly amount_minor: string }[];
  readonly payment_found: boolean;
  readonly payment_status_of_payment: string | null;
  readonly payment_amount_minor: bigint | null;
  readonly payment_currency: string | null;
}

/** The next invoices by number, each with its payment: index invoices_by_number, then the payments' primary key. */
export function pageOfInvoices(
  queryable: Queryable,
  workspaceId: Uuid,
  afterNumber: number,
  upToNumber: number,
  limit: number,
): Promise<AuditedInvoice[]> {
  return queryable.query<AuditedInvoice>(
    `select i.number, i.id, i.status, i.payment_status, i.subtotal_minor, i.tax_minor, i.total_minor, i.currency, i.lines,
            p.id is not null and p.invoice_id = i.id as payment_found,
            p.status as payment_status_of_payment, p.amount_minor as payment_amount_minor, p.currency as payment_currency
     from invoices i left join payments p on p.workspace_id = i.workspace_id and p.id = i.payment_id
     where i.workspace_id = $1 and i.number > $2 and i.number <= $3 order by i.number limit $4`,
    [workspaceId, afterNumber, upToNumber, limit],
  );
}

export interface AuditedPayment {
  readonly id: Uuid;
  readonly status: string;
  readonly amount_minor: bigint;
  readonly currency: string;
  /** Whether the invoice it names is there and names it. */
  readonly invoiced: boolean;
  readonly milestone_status: string | null;
  readonly milestone_amount_minor: bigint | null;
  readonly milestone_currency: string | null;
  readonly entries: readonly {
    readonly posting_id: Uuid;
    readonly account: LedgerAccount;
    readonly currency: string;
    readonly amount_minor: string;
  }[];
}

/** The next payments, each with its milestone and its ledger entries: primary keys only, that of the entries being led by the payment. */
export function pageOfPayments(queryable: Queryable, workspaceId: Uuid, afterId: Uuid, limit: number): Promise<AuditedPayment[]> {
  return queryable.query<AuditedPayment>(
    `select p.id, p.status, p.amount_minor, p.currency, i.id is not null as invoiced,
            m.status as milestone_status, m.amount_minor as milestone_amount_minor, m.currency as milestone_currency,
            coalesce((select json_agg(json_build_object('posting_id', e.posting_id, 'account', e.account, 'currency', e.currency,
                                                        'amount_minor', e.amount_minor::text))
                      from ledger_entries e where e.workspace_id = p.workspace_id and e.payment_id = p.id), '[]'::json) as entries
     from payments p left join milestones m on m.workspace_id = p.workspace_id and m.id = p.milestone_id
          left join invoices i on i.workspace_id = p.workspace_id and i.id = p.invoice_id and i.payment_id = p.id
     where p.workspace_id = $1 and p.id > $2 order by p.id limit $3`,
    [workspaceId, afterId, limit],
  );
}

export interface AuditedMilestone {
  readonly id: Uuid;
  readonly status: string;
  /** Whether its project is there, in the same workspace. */
  readonly linked: boolean;
  readonly paid: boolean;
}

/** The next milestones, whether each has its project, and whether a payment: primary keys, then index payments_one_per_milestone. */
export function pageOfMilestones(queryable: Queryable, workspaceId: Uuid, afterId: Uuid, limit: number): Promise<AuditedMilestone[]> {
  return queryable.query<AuditedMilestone>(
    `select m.id, m.status,
            exists (select from projects p where p.workspace_id = m.workspace_id and p.id = m.project_id) as linked,
            exists (select from payments p where p.workspace_id = m.workspace_id and p.milestone_id = m.id) as paid
     from milestones m where m.workspace_id = $1 and m.id > $2 order by m.id limit $3`,
    [workspaceId, afterId, limit],
  );
}

export interface AuditedCounts {
  readonly events_released: bigint;
  readonly payments_released: bigint;
  readonly events_approved: bigint;
  readonly milestones_approved: bigint;
  readonly events_issued: bigint;
  readonly invoices: bigint;
  readonly stray_entries: bigint;
  readonly last_seq: bigint;
  readonly head_seq: bigint;
  readonly last_number: bigint;
  readonly head_number: bigint;
}

/** What must have been told as often as it happened; one statement, so one snapshot. Reads the workspace's part of each table. */
export async function countBooks(queryable: Queryable, workspaceId: Uuid): Promise<AuditedCounts> {
  const rows = await queryable.query<AuditedCounts>(
    `select e.*, p.*, m.*, i.*, l.*, h.*
     from (select count(*) filter (where type = 'payment.released') as events_released,
                  count(*) filter (where type = 'milestone.approved') as events_approved,
                  count(*) filter (where type = 'invoice.issued') as events_issued,
                  coalesce(max(seq), 0) as last_seq
           from events where workspace_id = $1) e,
          (select count(*) filter (where status = 'released') as payments_released from payments where workspace_id = $1) p,
          (select count(*) filter (where status = 'approved') as milestones_approved from milestones where workspace_id = $1) m,
          (select count(*) as invoices, coalesce(max(number), 0) as last_number from invoices where workspace_id = $1) i,
          (select count(*) as stray_entries from ledger_entries x where workspace_id = $1
             and not exists (select from payments y where y.workspace_id = x.workspace_id and y.id = x.payment_id and y.project_id = x.project_id)) l,
          (select coalesce(max(event_seq), 0) as head_seq, coalesce(max(invoice_number), 0) as head_number
           from workspace_heads where workspace_id = $1) h`,
    [workspaceId],
  );
  return rows[0] as AuditedCounts;
}

export interface AuditedMoney {
  readonly milestone_id: Uuid;
  readonly milestone_status: string | null;
  readonly milestone_amount_minor: bigint | null;
  readonly milestone_currency: string | null;
  readonly payment_status: string | null;
  readonly payment_amount_minor: bigint | null;
  readonly payment_currency: string | null;
  readonly invoice_total_minor: bigint | null;
  readonly invoice_currency: string | null;
}

/** What the books hold of these milestones: primary keys, and index payments_one_per_milestone. */
export function findMoneyOf(queryable: Queryable, workspaceId: Uuid, milestoneIds: readonly Uuid[]): Promise<AuditedMoney[]> {
  return queryable.query<AuditedMoney>(
    `select n.id as milestone_id, m.status as milestone_status, m.amount_minor as milestone_amount_minor, m.currency as milestone_currency,
            p.status as payment_status, p.amount_minor as payment_amount_minor, p.currency as payment_currency,
            i.total_minor as invoice_total_minor, i.currency as invoice_currency
     from unnest($2::uuid[]) as n(id)
     left join milestones m on m.workspace_id = $1 and m.id = n.id
     left join payments p on p.workspace_id = $1 and p.milestone_id = n.id
     left join invoices i on i.workspace_id = p.workspace_id and i.id = p.invoice_id`,
    [workspaceId, milestoneIds],
  );
}
