// A small chart of bars, drawn by itself: one value per label. Its numbers are also there as a table for who cannot see it.
// Heights are the only place where an amount may be rounded.

import { VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './bar-chart.module.css';

export interface Bar {
  readonly label: string;
  readonly value: bigint | number;
  /** The value in words. */
  readonly text: string;
}

export interface BarChartProps {
  /** What the bars show: "Released per month in EUR". */
  readonly title: string;
  readonly bars: readonly Bar[];
  readonly height?: number;
}

const STEPS = 1_000n;

export function BarChart({ title, bars, height = 120 }: BarChartProps): ReactNode {
  const highest = bars.reduce((most, { value }) => (BigInt(value) > most ? BigInt(value) : most), 1n);
  return (
    <figure className={classes.figure}>
      <div className={classes.bars} style={{ height }} aria-hidden="true">
        {bars.map(({ label, value, text }) => (
          <div key={label} className={classes.column} title={`${label}: ${text}`}>
            <div
              className={classes.bar}
              data-nothing={BigInt(value) === 0n || undefined}
              style={{ height: `calc((100% - var(--label-height)) * ${Number((BigInt(value) * STEPS) / highest) / Number(STEPS)})` }}
            />
            <span>{label}</span>
          </div>
        ))}
      </div>
      <VisuallyHidden>
        <table>
          <caption>{title}</caption>
          <tbody>
            {bars.map(({ label, text }) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                <td>{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </figure>
  );
}
