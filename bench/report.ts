// The figures of a run as tables of at most 80 columns, for the terminal and, in fences, for the documents.
// Pure: reads no clock, no machine and no file.

import type { PacedResult, Summary, Verdict, WorkResult } from './results.ts';
import { ratio } from './targets.ts';

export const WIDTH = 80;

export const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
export const milliseconds = (value: number | null): string =>
  value === null || Number.isNaN(value) ? '–' : value.toFixed(value < 10 ? 2 : value < 1000 ? 1 : 0);

const columns = [
  { title: '', width: 14 },
  { title: 'requests/s', width: 11 },
  { title: 'p50 ms', width: 8 },
  { title: 'p99 ms', width: 8 },
  { title: 'CPU s/1000', width: 17 },
  { title: 'RSS MiB', width: 8 },
] as const;
const RATIO_WIDTH = 9;

function line(cells: readonly string[], last: string): string {
  const aligned = columns.map(({ width }, i) => (i === 0 ? (cells[i] ?? '').padEnd(width) : (cells[i] ?? '').padStart(width)));
  return `${aligned.join('')} ${last.padStart(RATIO_WIDTH)}`.trimEnd();
}

/** The service's own and PostgreSQL's part, since they are tuned apart. */
function cpu({ serviceCpuPerThousand: service, databaseCpuPerThousand: database }: Summary): string {
  if (database === null) return `${service.toFixed(3)} + ?`;
  return database === 0 ? service.toFixed(3) : `${service.toFixed(3)} + ${database.toFixed(3)}`;
}

/** One table of all works; the last column is each server's rate to the one named. */
export function table(works: readonly WorkResult[], against: string): string {
  const lines = [
    line(
      columns.map(({ title }) => title),
      `: ${against}`.slice(-RATIO_WIDTH),
    ),
  ];
  for (const { title, servers } of works) {
    lines.push('─'.repeat(WIDTH), title);
    for (const [name, summary] of Object.entries(servers)) {
      const times = ratio(summary.perSecond, servers[against]?.perSecond);
      const { perSecond, p50Ms, p99Ms, rssMib } = summary;
      const cells = [`  ${name}`, whole(perSecond), milliseconds(p50Ms), milliseconds(p99Ms), cpu(summary), whole(rssMib)];
      lines.push(line(cells, times === null ? '' : `${times.toFixed(2)} ×`));
    }
  }
  return lines.join('\n');
}

export function pacedTable(paced: readonly PacedResult[]): string {
  const head = ['', 'arrivals/s', 'p50 ms', 'p99 ms', 'lost', 'generator p99 ms'];
  const widths = [38, 11, 8, 8, 7, 0];
  const row = (cells: readonly string[]): string =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('');
  const shortHead = [...head.slice(0, 5), 'late'.padStart(8)];
  const rows = paced.map(({ title, server, perSecond, p50Ms, p99Ms, lost, generatorLateP99Ms }) =>
    row([
      `${title}, ${server}`,
      whole(perSecond),
      milliseconds(p50Ms),
      milliseconds(p99Ms),
      whole(lost),
      milliseconds(generatorLateP99Ms).padStart(8),
    ]),
  );
  return [row(shortHead), '─'.repeat(WIDTH), ...rows].join('\n');
}

/** Wide enough for what is usual; longer names make room at the cost of the others. */
const LEAST_NAME_WIDTH = 43;

export function verdictTable(verdicts: readonly Verdict[]): string {
  const nameWidth = Math.max(LEAST_NAME_WIDTH, ...verdicts.map(({ what }) => what.length));
  const row = (what: string, target: string, measured: string, outcome: string): string =>
    `${what.padEnd(nameWidth)}${target.padStart(9)}${measured.padStart(9)}  ${outcome}`.trimEnd();
  const rows = verdicts.map(({ what, target, measured, isReached }) =>
    row(what, target, measured ?? '–', isReached === null ? 'not measured' : isReached ? 'reached' : 'MISSED'),
  );
  return [row('', 'target', 'measured', ''), '─'.repeat(WIDTH), ...rows].join('\n');
}
