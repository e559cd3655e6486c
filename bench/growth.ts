// Whether it stays fast as it grows: this service on a small and on a large database, in turn within one run.
// The same works and the same load; only the rows that are there from the start differ.

import type { Arena } from './arena.ts';
import type { Options } from './options.ts';
import { play, type Race } from './race.ts';
import { type Results, summarizeWork } from './results.ts';
import { countRows } from './seed.ts';
import { growthTargets, judge } from './targets.ts';

export function inWords(rows: number): string {
  if (rows % 1_000_000 === 0) return `${rows / 1_000_000} million`;
  return rows % 1_000 === 0 ? `${rows / 1_000} thousand` : String(rows);
}

export async function growthRun(
  arena: Arena,
  schedule: Omit<Race, 'contestants'>,
  options: Options,
): Promise<Pick<Results, 'works' | 'paced' | 'verdicts' | 'notes'>> {
  const sizes = [
    { database: 'bench_small', rows: options.rows },
    { database: 'bench_large', rows: options.largeRows },
  ];
  const contestants = [];
  for (const { database, rows } of sizes) {
    const contestant = await arena.addTranche(database, await arena.fill(database, rows));
    contestants.push({ ...contestant, name: inWords(rows) });
  }
  const race: Race = { ...schedule, contestants };
  const works = [];
  for (const work of options.works) works.push(summarizeWork(await play(race, work)));
  const notes: string[] = [];
  for (const [i, contestant] of contestants.entries()) {
    const { payments, events } = await countRows(arena.cluster.url(sizes[i]?.database as string));
    notes.push(
      `${contestant.name}: in the end ${payments.toLocaleString('en-US')} payments and ${events.toLocaleString('en-US')} events, by what was measured.`,
    );
    race.faults.push(...(await contestant.finish()).map((fault) => `${contestant.name}: ${fault}`));
  }
  const [small, large] = contestants.map(({ name }) => name) as [string, string];
  const figures = { works, paced: [] };
  return { ...figures, verdicts: judge(growthTargets(small, large, works), figures), notes };
}
