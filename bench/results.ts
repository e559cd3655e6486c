// What one run found, as it is kept in JSON beside the documents: medians of rounds, and what a run must be known by.
// Types and the medians; prints and judges nothing.

import type { Played, Round } from './race.ts';

export interface Summary {
  readonly perSecond: number;
  readonly slowest: number;
  readonly fastest: number;
  /** Null where a work has no latency of its own. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** Processor seconds that 1,000 requests cost; null where PostgreSQL runs elsewhere. */
  readonly serviceCpuPerThousand: number;
  readonly databaseCpuPerThousand: number | null;
  readonly rssMib: number;
}

export interface WorkResult {
  readonly work: string;
  readonly title: string;
  readonly servers: Readonly<Record<string, Summary>>;
}

/** Open-loop: a fixed rate of arrivals, latency from the intended start. */
export interface PacedResult {
  readonly work: string;
  readonly title: string;
  readonly server: string;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Requests that were refused, broke or found no connection, of all rounds. */
  readonly lost: number;
  /** How late the load generator itself was: when this is large, the figures are its own. */
  readonly generatorLateP99Ms: number;
}

export interface Verdict {
  readonly what: string;
  readonly target: string;
  /** As printed; null when it was not measured in this run. */
  readonly measured: string | null;
  readonly isReached: boolean | null;
}

export interface Results {
  readonly kind: 'suite' | 'growth' | 'peers';
  readonly command: string;
  readonly date: string;
  readonly machine: readonly string[];
  readonly rows: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly works: readonly WorkResult[];
  readonly paced: readonly PacedResult[];
  readonly verdicts: readonly Verdict[];
  /** What is worth knowing of this run besides. */
  readonly notes: readonly string[];
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low, high] = [sorted[middle - 1], sorted[middle]];
  if (high === undefined) return Number.NaN;
  return sorted.length % 2 === 1 || low === undefined ? high : (low + high) / 2;
}

const MIB = 2 ** 20;

export function summarize(rounds: readonly Round[]): Summary {
  const rates = rounds.map((round) => round.perSecond);
  const perThousand = (seconds: (round: Round) => number): number => median(rounds.map((round) => (seconds(round) / round.answers) * 1000));
  return {
    perSecond: median(rates),
    slowest: Math.min(...rates),
    fastest: Math.max(...rates),
    p50Ms: median(rounds.map((round) => round.p50Ms)),
    p99Ms: median(rounds.map((round) => round.p99Ms)),
    serviceCpuPerThousand: perThousand((round) => round.serviceCpuSeconds),
    databaseCpuPerThousand: rounds.some((round) => round.databaseCpuSeconds === null)
      ? null
      : perThousand((round) => round.databaseCpuSeconds as number),
    rssMib: median(rounds.map((round) => round.rssBytes)) / MIB,
  };
}

export function summarizeWork({ work, title, rounds }: Played): WorkResult {
  const played = [...rounds].filter(([, all]) => all.length > 0);
  return { work, title, servers: Object.fromEntries(played.map(([name, all]) => [name, summarize(all)])) };
}
