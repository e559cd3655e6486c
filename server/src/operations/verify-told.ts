// Holds what the hashed events say against the rows they speak of: whoever alters a row must also forge the log.
// Reads only; finds faults and words them.

import { decodeId, encodeId, type Uuid } from '../domain/ids.ts';
import { type AuditedEvent, type AuditedMoney, findMoneyOf } from '../store/audit.ts';
import type { Queryable } from '../store/database.ts';

interface Told {
  readonly seq: number;
  readonly type: string;
  readonly milestoneId: Uuid;
  readonly amount: bigint;
  readonly currency: string;
}

/** What each kind of event claims of the money, as the books hold it now; null where they do not. */
const claims: Readonly<
  Record<string, (money: AuditedMoney) => { readonly amount: bigint | null; readonly currency: string | null } | null>
> = {
  'milestone.approved': (money) =>
    money.milestone_status === 'approved' ? { amount: money.milestone_amount_minor, currency: money.milestone_currency } : null,
  'invoice.issued': (money) => ({ amount: money.invoice_total_minor, currency: money.invoice_currency }),
  'payment.released': (money) =>
    money.payment_status === 'released' ? { amount: money.payment_amount_minor, currency: money.payment_currency } : null,
};

function readTold(event: AuditedEvent): Told | null {
  if (!Object.hasOwn(claims, event.type)) return null;
  try {
    const { data } = JSON.parse(event.body) as { data: { milestoneId: string; amount?: number; total?: number; currency: string } };
    const milestoneId = decodeId('milestone', data.milestoneId);
    if (milestoneId === null) return null;
    return {
      seq: Number(event.seq),
      type: event.type,
      milestoneId,
      amount: BigInt(data.amount ?? data.total ?? -1),
      currency: data.currency,
    };
  } catch {
    return null; // That the body is no event of its kind is a fault of its own, found elsewhere.
  }
}

/** The faults of one page of the log. */
export async function faultsOfTold(database: Queryable, workspaceId: Uuid, page: readonly AuditedEvent[]): Promise<string[]> {
  const told = page.map(readTold).filter((entry) => entry !== null);
  if (told.length === 0) return [];
  const rows = await findMoneyOf(database, workspaceId, [...new Set(told.map((entry) => entry.milestoneId))]);
  const books = new Map(rows.map((row) => [row.milestone_id, row]));
  return told.flatMap(({ seq, type, milestoneId, amount, currency }) => {
    const money = books.get(milestoneId);
    const held = money === undefined ? null : (claims[type]?.(money) ?? null);
    const what = `event ${seq} says ${type} of ${encodeId('milestone', milestoneId)} over ${amount} ${currency}`;
    if (held === null || held.amount === null) return [`${what}; the books do not`];
    return held.amount === amount && held.currency === currency ? [] : [`${what}; the books say ${held.amount} ${held.currency}`];
  });
}
