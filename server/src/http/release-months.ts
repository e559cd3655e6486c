// What was released month by month, kept in memory and carried on from the event log: exact at every answer, and no payment is read twice.
// A bounded number of workspaces; one that is forgotten is summed anew.

import type { Uuid } from '../domain/ids.ts';
import type { Month } from '../domain/time-zone.ts';
import type { MonthTotals } from '../domain/totals.ts';
import type { FoldedReleases, ReleaseSum, ReleaseSums } from '../store/release-months.ts';

/** Workspaces in memory: a few hundred bytes each. */
const MAX_KEPT = 1_000;
/** Bites of one answer; a log that has grown by more is summed anew from the payments. */
const MAX_BITES = 20;

export interface ReleaseMonthsOptions {
  readonly sum: (workspaceId: Uuid, months: readonly Month[]) => Promise<ReleaseSums>;
  readonly fold: (workspaceId: Uuid, afterSeq: number, months: readonly Month[]) => Promise<FoldedReleases>;
}

interface Kept {
  /** The beginnings of the months it is of: a new month or another time zone begins anew. */
  readonly key: string;
  seq: number;
  readonly sums: Map<string, ReleaseSum>;
}

export type ReleaseMonths = (workspaceId: Uuid, months: readonly Month[]) => Promise<MonthTotals[]>;

export function createReleaseMonths({ sum, fold }: ReleaseMonthsOptions): ReleaseMonths {
  const kept = new Map<Uuid, Kept>();
  /** Of one workspace one answer is made at a time, or two would add the same events. */
  const underWay = new Map<Uuid, Promise<unknown>>();

  async function begin(workspaceId: Uuid, key: string, months: readonly Month[]): Promise<Kept> {
    const { seq, sums } = await sum(workspaceId, months);
    const begun: Kept = { key, seq, sums: new Map() };
    add(begun.sums, sums);
    if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value as Uuid);
    kept.set(workspaceId, begun);
    return begun;
  }

  async function carryOn(workspaceId: Uuid, months: readonly Month[]): Promise<Kept> {
    const key = months.map(({ from }) => from.getTime()).join();
    const known = kept.get(workspaceId);
    if (known?.key !== key) return begin(workspaceId, key, months);
    for (let bite = 0; bite < MAX_BITES; bite++) {
      const more = await fold(workspaceId, known.seq, months);
      add(known.sums, more.sums);
      known.seq = more.seq;
      if (!more.hasMore) return known;
    }
    return begin(workspaceId, key, months);
  }

  return async (workspaceId, months) => {
    const before = underWay.get(workspaceId);
    const work = (before ?? Promise.resolve()).catch(() => undefined).then(() => carryOn(workspaceId, months));
    underWay.set(workspaceId, work);
    try {
      const { sums } = await work;
      return inOrder(sums.values(), months);
    } finally {
      if (underWay.get(workspaceId) === work) underWay.delete(workspaceId);
    }
  };
}

function add(sums: Map<string, ReleaseSum>, more: readonly ReleaseSum[]): void {
  for (const one of more) {
    if (one.month < 0) continue; // Before the months that are asked for.
    const key = `${one.month}:${one.currency}`;
    const known = sums.get(key);
    sums.set(key, known === undefined ? one : { ...one, count: known.count + one.count, amount: known.amount + one.amount });
  }
}

function inOrder(sums: Iterable<ReleaseSum>, months: readonly Month[]): MonthTotals[] {
  return [...sums]
    .sort((a, b) => a.month - b.month || (a.currency < b.currency ? -1 : 1))
    .map(({ month, currency, count, amount }) => ({ month: months[month]?.name ?? '', currency, count, amount }));
}
