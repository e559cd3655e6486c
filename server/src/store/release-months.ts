// Every SQL statement on what was released month by month. The first looks at every payment once; the second only at what came since.
// Each says which index it relies on.

import type { Uuid } from '../domain/ids.ts';
import type { Month } from '../domain/time-zone.ts';
import type { Queryable } from './database.ts';

export interface ReleaseSum {
  /** Which of the months that were asked for, from 0. */
  readonly month: number;
  readonly currency: string;
  readonly count: number;
  readonly amount: bigint;
}

interface SumRow {
  month: number;
  currency: string;
  count: number;
  amount: string;
}

export interface ReleaseSums {
  /** The last event of the workspace that these sums know of. */
  readonly seq: number;
  readonly sums: readonly ReleaseSum[];
}

const read = (row: SumRow): ReleaseSum => ({ month: row.month, currency: row.currency, count: row.count, amount: BigInt(row.amount) });

/**
 * What was released since the first of these months, and up to which event: one statement, so that both are of one moment. Every payment
 * of the workspace is read, along the primary key: no index says when a payment was released, since each release would pay for it.
 */
export async function sumReleases(queryable: Queryable, workspaceId: Uuid, months: readonly Month[]): Promise<ReleaseSums> {
  const rows = await queryable.query<SumRow & { seq: bigint; currency: string | null }>(
    `select h.event_seq as seq, s.month, s.currency, s.count, s.amount
     from workspace_heads h left join lateral (
       select (width_bucket(p.released_at, $2::timestamptz[]) - 1)::integer as month, p.currency, count(*)::integer as count,
         sum(p.amount_minor)::text as amount
       from payments p where p.workspace_id = $1 and p.status = 'released' and p.released_at >= $3::timestamptz
       group by 1, 2
     ) s on true
     where h.workspace_id = $1`,
    [workspaceId, months.map(({ from }) => from), months[0]?.from],
  );
  const sums = rows.filter((row) => row.currency !== null).map(read);
  return { seq: Number(rows[0]?.seq ?? 0n), sums };
}

/** Events that one statement reads. */
export const RELEASE_BITE = 5_000;

interface FoldedRow extends SumRow {
  through: bigint;
  looked_at: number;
}

export interface FoldedReleases extends ReleaseSums {
  /** Whether there may be more events than were read. */
  readonly hasMore: boolean;
}

/**
 * What was released after an event, from the log: along its primary key (workspace_id, seq), a bounded number of events. A release is told
 * with the time it has on its payment, and its body is written by us, so it can be read.
 */
export async function foldReleases(
  queryable: Queryable,
  workspaceId: Uuid,
  afterSeq: number,
  months: readonly Month[],
): Promise<FoldedReleases> {
  const rows = await queryable.query<FoldedRow & { currency: string | null }>(
    `with bite as (
       select seq, type, body, created_at from events where workspace_id = $1 and seq > $2 order by seq limit $4
     ), told as (
       select (width_bucket(b.created_at, $3::timestamptz[]) - 1)::integer as month, b.body::jsonb -> 'data' as data
       from bite b where b.type = 'payment.released'
     ), sums as (
       select month, data ->> 'currency' as currency, count(*)::integer as count, sum((data ->> 'amount')::bigint)::text as amount
       from told group by 1, 2
     )
     select (select coalesce(max(seq), $2) from bite) as through, (select count(*)::integer from bite) as looked_at, s.*
     from (select) one left join sums s on true`,
    [workspaceId, afterSeq, months.map(({ from }) => from), RELEASE_BITE],
  );
  const sums = rows.filter((row) => row.currency !== null).map(read);
  return { seq: Number(rows[0]?.through ?? afterSeq), sums, hasMore: rows[0]?.looked_at === RELEASE_BITE };
}
