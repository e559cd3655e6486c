// Turns the rounds that were measured into medians, ratios and tables, for the terminal and for docs/benchmarks.md.
// Pure: reads no clock, no machine and no file.

import type { Measure } from './load.ts';
import { type ServerName, serverNames } from './servers.ts';

export interface Scenario {
  readonly title: string;
  readonly rounds: ReadonlyMap<ServerName, readonly Measure[]>;
}

/** A promise about this service's speed, as a ratio to another server on the same machine in the same run. */
export interface Target {
  readonly scenario: string;
  readonly against: ServerName;
  readonly atLeast: number;
}

export interface Verdict extends Target {
  /** Null when one of the two was not measured. */
  readonly ratio: number | null;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low, high] = [sorted[middle - 1], sorted[middle]];
  if (high === undefined) return Number.NaN;
  return sorted.length % 2 === 1 || low === undefined ? high : (low + high) / 2;
}

export interface Summary {
  readonly perSecond: number;
  readonly slowest: number;
  readonly fastest: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export function summarize(rounds: readonly Measure[]): Summary {
  const rates = rounds.map((round) => round.perSecond);
  return {
    perSecond: median(rates),
    slowest: Math.min(...rates),
    fastest: Math.max(...rates),
    p50Ms: median(rounds.map((round) => round.p50Ms)),
    p99Ms: median(rounds.map((round) => round.p99Ms)),
  };
}

export function judge(scenarios: readonly Scenario[], targets: readonly Target[]): Verdict[] {
  return targets.map((target) => {
    const rounds = scenarios.find((scenario) => scenario.title === target.scenario)?.rounds;
    const [own, other] = [rounds?.get('tranche') ?? [], rounds?.get(target.against) ?? []];
    const ratio = own.length > 0 && other.length > 0 ? summarize(own).perSecond / summarize(other).perSecond : null;
    return { ...target, ratio };
  });
}

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
const milliseconds = (value: number): string => value.toFixed(value < 10 ? 2 : 1);

/** A table of Markdown, with its columns aligned so that it reads as well in a terminal. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

export function scenarioTable(scenario: Scenario): string {
  const rows = serverNames.flatMap((name) => {
    const rounds = scenario.rounds.get(name);
    if (rounds === undefined || rounds.length === 0) return [];
    const { perSecond, slowest, fastest, p50Ms, p99Ms } = summarize(rounds);
    return [[name, whole(perSecond), `${whole(slowest)}–${whole(fastest)}`, milliseconds(p50Ms), milliseconds(p99Ms)]];
  });
  return table(['', 'requests/s', 'of all rounds', 'p50 ms', 'p99 ms'], rows);
}

export function verdictTable(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ scenario, against, atLeast, ratio }) => {
    const outcome = ratio === null ? 'not measured' : ratio >= atLeast ? 'reached' : 'MISSED';
    return [`${scenario}, tranche : ${against}`, `${atLeast.toFixed(1)} ×`, ratio === null ? '–' : `${ratio.toFixed(2)} ×`, outcome];
  });
  return table(['', 'target', 'measured', ''], rows);
}
