// What more processes bring on one machine: reads by id and approvals with `--processes` of 1 and of more, in turn in one run.
// Efficiency is how much of n times one process n processes reach. Prints; writes no document.

import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openArena } from './arena.ts';
import { type Contestant, onPostgres } from './contestants.ts';
import { requireWrk } from './load.ts';
import { type Played, play, type Race, type Round } from './race.ts';
import { trancheEnvironment } from './servers.ts';
import { FEWEST_ROWS, type Work } from './works.ts';

const WORKS: readonly Work[] = ['read', 'approve', 'approve-many'];
const MOST_PROCESSES = 64;

const usage = `node bench/processes.ts [options]
  --processes a,b  numbers of processes to compare; the first is the measure (1,2)
  --rounds n       rounds of each work (4)
  --seconds n      seconds of each round (5)
  --quick          one short round: does it work at all?`;

function whole(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new RangeError(`--${name} takes whole numbers from ${least} to ${most}.\n\n${usage}`);
}

function readFlags(parameters: readonly string[]) {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...parameters],
    options: { processes: text, rounds: text, seconds: text, quick: { type: 'boolean', default: false } },
  });
  const counts = (values.processes ?? '1,2').split(',').map((part) => whole('processes', part, 1, MOST_PROCESSES));
  if (values.quick) return { counts, rounds: 1, seconds: 1, warmSeconds: 1 };
  return {
    counts,
    rounds: whole('rounds', values.rounds ?? '4', 1, 100),
    seconds: whole('seconds', values.seconds ?? '5', 1, 600),
    warmSeconds: 2,
  };
}

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
};

const nameOf = (count: number): string => (count === 1 ? '1 process' : `${count} processes`);

function table({ title, rounds }: Played, counts: readonly number[]): string {
  const of = (count: number, value: (round: Round) => number): number => median((rounds.get(nameOf(count)) ?? []).map(value));
  const first = counts[0] as number;
  const base = of(first, ({ perSecond }) => perSecond);
  const lines = counts.map((count) => {
    const perSecond = of(count, (round) => round.perSecond);
    const ratio = perSecond / base;
    const cpu = of(count, (round) => (1000 * (round.serviceCpuSeconds + (round.databaseCpuSeconds ?? 0))) / Math.max(1, round.answers));
    const cells = [
      nameOf(count).padEnd(14),
      `${Math.round(perSecond).toLocaleString('en-US')}/s`.padStart(11),
      `p99 ${of(count, ({ p99Ms }) => p99Ms).toFixed(1)} ms`.padStart(14),
      `${cpu.toFixed(2)} CPU s per 1,000`.padStart(23),
      `${ratio.toFixed(2)} ×`.padStart(9),
      `efficiency ${((100 * ratio * first) / count).toFixed(0)} %`.padStart(18),
    ];
    return `  ${cells.join('')}`;
  });
  return [title, ...lines].join('\n');
}

async function main(): Promise<void> {
  const { counts, ...schedule } = readFlags(process.argv.slice(2));
  requireWrk();
  const arena = await openArena(console.log);
  const scratch = mkdtempSync(join(tmpdir(), 'tranche-bench-load-'));
  arena.onEnd(() => rmSync(scratch, { recursive: true, force: true }));
  const faults: string[] = [];
  try {
    console.log(`${availableParallelism()} cores, which PostgreSQL and the load generator share`);
    const contents = await arena.fill('bench_processes', FEWEST_ROWS);
    const contestants: Contestant[] = [];
    for (const count of counts) {
      const database = `bench_processes_${count}`;
      const url = await arena.makeDatabase(database, 'bench_processes');
      const environment = { ...trancheEnvironment(), DATABASE_URL: url, PROCESSES: String(count) };
      const server = await arena.start('tranche', environment);
      contestants.push(await onPostgres(arena.cluster, database, contents, { ...server, name: nameOf(count) }));
    }
    const race: Race = { ...schedule, contestants, databasePid: arena.cluster.pid, scratch, say: console.log, faults };
    const played: Played[] = [];
    for (const work of WORKS) played.push(await play(race, work));
    for (const contestant of contestants) faults.push(...(await contestant.finish()).map((fault) => `${contestant.name}: ${fault}`));
    for (const one of played) console.log(`\n${table(one, counts)}`);
  } finally {
    await arena.end();
  }
  if (faults.length > 0) {
    console.error(`\nThe figures do not count, something went wrong:\n  ${faults.join('\n  ')}`);
    process.exitCode = 1;
  }
}

await main();
