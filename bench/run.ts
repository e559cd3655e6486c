// The benchmark: `npm run bench`; `npm run bench -- --help` says which options there are.
// Every server in one run, round by round in turn, so that what disturbs the machine disturbs all of them.

import { type Arena, inArena } from './arena.ts';
import type { Contestant } from './contestants.ts';
import { growthRun } from './growth.ts';
import { requireWrk } from './load.ts';
import { describeMachine } from './machine.ts';
import { type Options, readOptions, usage } from './options.ts';
import { playAtHalf } from './paced.ts';
import { againstOf, writeResults } from './page.ts';
import { play, type Race } from './race.ts';
import { pacedTable, table, verdictTable } from './report.ts';
import { type Results, summarizeWork, type WorkResult } from './results.ts';
import { judge, suiteTargets } from './targets.ts';
import { playWebhooks } from './webhook-work.ts';

/** What goes on is said apart from the table, so that the table can be piped. */
const say = (line: string): void => console.error(line);

async function gather(arena: Arena, options: Options): Promise<Contestant[]> {
  const contents = await arena.fill('bench_by_hand', options.rows);
  await arena.makeDatabase('bench_tranche', 'bench_by_hand');
  const contestants: Contestant[] = [];
  const wants = (name: (typeof options.servers)[number]): boolean => options.servers.includes(name);
  if (wants('by hand')) contestants.push(await arena.addByHand('bench_by_hand', contents));
  if (wants('tranche') || contestants.length === 0) contestants.push(await arena.addTranche('bench_tranche', contents));
  const model = contestants.at(-1) as Contestant;
  if (wants('bare')) contestants.unshift(await arena.addBare(wants('tranche') ? 'bench_tranche' : 'bench_by_hand', model, contents));
  const secondsOfEach =
    options.warmSeconds + options.rounds * options.seconds + (options.hasPaced ? options.rounds * (options.seconds + 1) : 0);
  if (wants('embedded')) contestants.push(await arena.addEmbedded(options.rows, secondsOfEach));
  return contestants;
}

async function suiteRun(arena: Arena, race: Race, options: Options): Promise<Pick<Results, 'works' | 'paced' | 'verdicts' | 'notes'>> {
  const played: WorkResult[] = [];
  for (const work of options.works) played.push(summarizeWork(await play(race, work)));
  const paced = options.hasPaced ? await playAtHalf(race, played) : [];
  for (const contestant of race.contestants)
    race.faults.push(...(await contestant.finish()).map((fault) => `${contestant.name}: ${fault}`));
  if (options.hasWebhooks) played.push(await playWebhooks(arena, options, say));
  const figures = { works: played, paced };
  return { ...figures, verdicts: judge(suiteTargets, figures), notes: [] };
}

function print(results: Results, against: string): void {
  console.log(`\n${table(results.works, against)}`);
  if (results.paced.length > 0) console.log(`\nOpen loop, at half of each server's maximum\n${pacedTable(results.paced)}`);
  console.log(`\n${verdictTable(results.verdicts)}`);
  for (const note of results.notes) console.log(`\n${note}`);
}

async function measure(arena: Arena, options: Options, wrkVersion: string, scratch: string): Promise<void> {
  const machine = await describeMachine(arena.admin, wrkVersion);
  for (const line of machine) say(line);
  const { rounds, seconds, warmSeconds, rows } = options;
  const faults: string[] = [];
  const schedule = { rounds, seconds, warmSeconds, databasePid: arena.cluster.pid, scratch, say, faults };
  const figures = options.isGrowth
    ? await growthRun(arena, schedule, options)
    : await suiteRun(arena, { ...schedule, contestants: await gather(arena, options) }, options);
  const command = `npm run bench${process.argv.length > 2 ? ` -- ${process.argv.slice(2).join(' ')}` : ''}`;
  const date = new Date().toISOString().slice(0, 10);
  const results: Results = { kind: options.isGrowth ? 'growth' : 'suite', command, date, machine, rows, rounds, seconds, ...figures };
  print(results, againstOf(results));
  if (faults.length > 0) {
    console.error(`\nThe figures do not count, something went wrong:\n  ${faults.join('\n  ')}`);
    process.exitCode = 1;
  } else if (options.writes) {
    say(`\nWrote ${writeResults(results).join(', ')}.`);
  }
}

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    console.log(usage);
    return;
  }
  const options = readOptions(process.argv.slice(2));
  const wrkVersion = requireWrk();
  await inArena(say, (arena, scratch) => measure(arena, options, wrkVersion, scratch));
}

await main().catch((error: unknown) => {
  if (!(error instanceof RangeError) && !(error instanceof TypeError && 'code' in error)) throw error;
  console.error(`${error.message}\n\n${usage}`);
  process.exitCode = 2;
});
