// The regression guard: `npm run bench:guard`. A short race against the hand-written server; ratios only, with generous bounds.
// For every change, on any machine: writes no documents, and its figures are worth nothing but to be held against the bounds.

import { type Arena, inArena } from './arena.ts';
import { bounds, checkBounds, describe } from './guard-bounds.ts';
import { requireWrk } from './load.ts';
import { play, type Race } from './race.ts';
import { summarizeWork } from './results.ts';
import { FEWEST_ROWS, type Work } from './works.ts';

const SCHEDULE = { rounds: 3, seconds: 1, warmSeconds: 1 } as const;
/** What broke its bound is measured once more, in more rounds: one bad moment of the machine is not a regression. */
const AGAIN = { rounds: 4, seconds: 1, warmSeconds: 1 } as const;

const say = (line: string): void => console.log(line);

async function findBroken(race: Race, works: readonly Work[]): Promise<Work[]> {
  const results = [];
  for (const work of works) results.push(summarizeWork(await play(race, work)));
  const checks = checkBounds(results);
  say(`\n${describe(checks)}\n`);
  return checks.filter((check) => !check.isKept).map(({ work }) => work);
}

async function guard(arena: Arena, scratch: string): Promise<boolean> {
  const contents = await arena.fill('bench_by_hand', FEWEST_ROWS);
  await arena.makeDatabase('bench_tranche', 'bench_by_hand');
  const contestants = [await arena.addByHand('bench_by_hand', contents), await arena.addTranche('bench_tranche', contents)];
  const faults: string[] = [];
  const race: Race = { ...SCHEDULE, contestants, databasePid: arena.cluster.pid, scratch, say, faults };
  let broken = await findBroken(
    race,
    bounds.map(({ work }) => work),
  );
  if (broken.length > 0) {
    say(`Below its bound: ${broken.join(', ')}. Measured once more.`);
    broken = await findBroken({ ...race, ...AGAIN }, broken);
  }
  for (const contestant of contestants) faults.push(...(await contestant.finish()).map((fault) => `${contestant.name}: ${fault}`));
  for (const fault of faults) say(`The books are wrong: ${fault}`);
  say(broken.length === 0 ? 'Every ratio is kept.' : `Slower than it was, twice: ${broken.join(', ')}. "npm run bench" measures it well.`);
  return broken.length === 0 && faults.length === 0;
}

requireWrk();
await inArena(say, async (arena, scratch) => {
  process.exitCode = (await guard(arena, scratch)) ? 0 : 1;
});
