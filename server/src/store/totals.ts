// What rows of sums become: one record a currency, with every kind of sum in it.
// Pure; the sums themselves are made by the statements of each table.

import type { Sum } from '../domain/totals.ts';
import type { SumRow } from './lists.ts';

const add = (rows: readonly SumRow[]): Sum =>
  rows.reduce<Sum>((sum, { count, amount }) => ({ count: sum.count + count, amount: sum.amount + BigInt(amount) }), {
    count: 0,
    amount: 0n,
  });

/** `sumsOf` says which rows of a currency each of its sums is made of. The rows come in the order of the currencies. */
export function byCurrency<Row extends SumRow, Sums extends object>(
  rows: readonly Row[],
  sumsOf: (of: (choose: (row: Row) => boolean) => Sum) => Sums,
): (Sums & { readonly currency: string })[] {
  const groups = Map.groupBy(rows, ({ currency }) => currency);
  return Array.from(groups, ([currency, own]) => ({ currency, ...sumsOf((choose) => add(own.filter(choose))) }));
}
