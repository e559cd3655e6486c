// Sums per currency, side by side: amounts of two currencies are never added up.
// Shows what the server reckoned; reckons nothing.

import { Skeleton } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Sum } from '../client/sdk.ts';
import { ErrorNotice } from './error-notice.tsx';
import { Money } from './money.tsx';
import classes from './totals.module.css';

/** With more sums than this each currency has a line of its own. */
const MAX_SIDE_BY_SIDE = 3;

export interface LabelledSum {
  readonly label: string;
  readonly sum: Sum;
}

export interface TotalsProps<Answer extends { readonly currencies: readonly { readonly currency: string }[] }> {
  /** What is added up, for screen readers: "Payments by currency". */
  readonly label: string;
  readonly query: UseQueryResult<Answer>;
  readonly sumsOf: (ofCurrency: Answer['currencies'][number]) => readonly LabelledSum[];
}

export function Totals<Answer extends { readonly currencies: readonly { readonly currency: string }[] }>({
  label,
  query,
  sumsOf,
}: TotalsProps<Answer>): ReactNode {
  if (query.isPending) return <Skeleton height={58} mb="md" aria-busy="true" />;
  if (query.data === undefined) return <ErrorNotice error={query.error} retry={() => void query.refetch()} />;
  const { currencies } = query.data;
  const [first] = currencies;
  if (first === undefined) return null;
  const isShort = currencies.length > 1 && sumsOf(first).length <= MAX_SIDE_BY_SIDE;
  return (
    <ul className={classes.totals} aria-label={label} data-side-by-side={isShort || undefined}>
      {currencies.map((ofCurrency) => (
        <li key={ofCurrency.currency} className={classes.currency}>
          <span className={classes.code}>{ofCurrency.currency}</span>
          <dl className={classes.sums}>
            {sumsOf(ofCurrency).map((one) => (
              <div key={one.label} data-none={one.sum.count === 0 || undefined}>
                <dt>
                  {one.label} <span className={classes.count}>{one.sum.count}</span>
                </dt>
                <dd>
                  <Money amount={one.sum.amount} currency={ofCurrency.currency} />
                </dd>
              </div>
            ))}
          </dl>
        </li>
      ))}
    </ul>
  );
}
