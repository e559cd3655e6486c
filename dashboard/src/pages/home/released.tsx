// What was released: a bar for each of the last months in one currency, and the sums of every currency under it.
// Currencies are never added to each other.

import { Select } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Overview } from '../../client/sdk.ts';
import { formatMoney } from '../../ui/amount.ts';
import { type Bar, BarChart } from '../../ui/bar-chart.tsx';
import { Money } from '../../ui/money.tsx';
import classes from './home.module.css';
import { Panel } from './panel.tsx';

const shortMonth = new Intl.DateTimeFormat(undefined, { month: 'short', timeZone: 'UTC' });

const labelOf = (month: string): string => shortMonth.format(new Date(`${month}-01T00:00:00Z`));

function barsOf({ months, released }: Overview, currency: string): readonly Bar[] {
  const byMonth = new Map(released.filter((one) => one.currency === currency).map((one) => [one.month, one]));
  return months.map((month) => {
    const { amount = 0, count = 0 } = byMonth.get(month) ?? {};
    const payments = count === 1 ? '1 payment' : `${count} payments`;
    return { label: labelOf(month), value: amount, text: `${formatMoney(amount, currency)}, ${payments}` };
  });
}

/** The currency in which most payments were released goes first. */
function currenciesOf({ totals }: Overview): readonly string[] {
  return [...totals]
    .sort((a, b) => b.released.count - a.released.count || a.currency.localeCompare(b.currency))
    .map(({ currency }) => currency);
}

export function Released({ overview }: { readonly overview: Overview }): ReactNode {
  const [chosen, setChosen] = useState<string | null>(null);
  const currencies = currenciesOf(overview);
  const currency = chosen !== null && currencies.includes(chosen) ? chosen : currencies[0];
  if (currency === undefined) {
    return (
      <Panel title="Released per month">
        <p className={classes.calm}>Nothing has been approved yet. What is released shows here, month by month.</p>
      </Panel>
    );
  }
  const choice =
    currencies.length < 2 ? (
      <span className={classes.faint}>{currency}</span>
    ) : (
      <Select aria-label="Currency" data={[...currencies]} value={currency} onChange={setChosen} w={92} size="xs" />
    );
  return (
    <Panel title="Released per month" aside={choice}>
      <BarChart title={`Released per month in ${currency}`} bars={barsOf(overview, currency)} height={170} />
      <Totals overview={overview} />
    </Panel>
  );
}

function Totals({ overview: { totals, months } }: { readonly overview: Overview }): ReactNode {
  return (
    <table className={classes.totals}>
      <thead>
        <tr>
          <th scope="col">Currency</th>
          <th scope="col">Awaiting release</th>
          <th scope="col">Released in {months.length} months</th>
        </tr>
      </thead>
      <tbody>
        {totals.map(({ currency, pending, released }) => (
          <tr key={currency}>
            <th scope="row">{currency}</th>
            <td>
              <Money amount={pending.amount} currency={currency} />
            </td>
            <td>
              <Money amount={released.amount} currency={currency} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
