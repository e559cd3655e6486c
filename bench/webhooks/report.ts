// The figures of the webhook benchmark as tables and verdicts, for the terminal and for docs/benchmarks-webhooks.md. Pure.

import type { Drain, Latency, Throughput } from './measures.ts';

export interface Figures {
  readonly throughput: readonly { readonly title: string; readonly target: number | null; readonly rounds: readonly Throughput[] }[];
  readonly idle: Latency | null;
  readonly hung: readonly { readonly hung: number; readonly rounds: readonly Latency[] }[];
  readonly drain: { readonly small: readonly Drain[]; readonly large: readonly Drain[] } | null;
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
};

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
const fine = (value: number): string => value.toFixed(2);
const verdict = (isReached: boolean | null): string => (isReached === null ? '' : isReached ? 'reached' : 'MISSED');

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, i) => Math.max(cell.length, ...rows.map((row) => (row[i] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] as number) : cell.padStart(widths[i] as number))).join(' | ')} |`;
  const rule = `| ${widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

/** Sections of the page, each a title and a table. */
export function sections(figures: Figures): readonly (readonly [title: string, table: string])[] {
  const made: [string, string][] = [];
  if (figures.throughput.length > 0) {
    const rows = figures.throughput.map(({ title, target, rounds }) => {
      const [bare, tranche] = [median(rounds.map((round) => round.bare)), median(rounds.map((round) => round.tranche))];
      const ratio = median(rounds.map((round) => round.tranche / round.bare));
      return [
        title,
        whole(bare),
        whole(tranche),
        fine(ratio),
        target === null ? '' : fine(target),
        verdict(target === null ? null : ratio >= target),
      ];
    });
    made.push(['Deliveries a second', table(['', 'bare', 'tranche', 'ratio', 'target', ''], rows)]);
  }
  if (figures.idle !== null) {
    const { p50, p99, count } = figures.idle;
    const rows = [
      ['p50', fine(p50), '15.00', verdict(p50 <= 15)],
      ['p99', fine(p99), '60.00', verdict(p99 <= 60)],
    ];
    made.push([`From commit to first byte when idle, ms (${count} events)`, table(['', 'measured', 'target', ''], rows)]);
  }
  if (figures.hung.length > 0) {
    const alone = median((figures.hung.find(({ hung }) => hung === 0)?.rounds ?? []).map(({ p99 }) => p99));
    const rows = figures.hung.map(({ hung, rounds }) => {
      const p99 = median(rounds.map((round) => round.p99));
      const ratio = p99 / alone;
      return [
        `${hung} of them hang`,
        fine(median(rounds.map(({ p50 }) => p50))),
        fine(p99),
        fine(ratio),
        hung === 0 ? '' : '1.20',
        verdict(hung === 0 ? null : ratio < 1.2),
      ];
    });
    made.push([
      'Healthy endpoints beside endpoints that hang, from commit to first byte, ms',
      table(['', 'p50', 'p99', 'p99 ratio', 'target', ''], rows),
    ]);
  }
  if (figures.drain !== null) {
    const [small, large] = [
      median(figures.drain.small.map(({ perSecond }) => perSecond)),
      median(figures.drain.large.map(({ perSecond }) => perSecond)),
    ];
    const rows = [
      ['10,000 due', whole(small), '', '', ''],
      ['1,000,000 due', whole(large), fine(large / small), '0.90', verdict(large / small >= 0.9)],
    ];
    made.push(['A backlog drains, deliveries a second', table(['', 'per second', 'ratio', 'target', ''], rows)]);
  }
  return made;
}
