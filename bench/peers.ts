// Peers: `npm run bench:peers [-- --peers a,b] [--folder path] [--rounds n] [--seconds n] [--quick] [--write]`. See peers/README.md.
// The same work in the same run as this service; installs outside of the repository. Opt-in: it fetches packages.

import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Arena, inArena } from './arena.ts';
import type { Contestant } from './contestants.ts';
import { requireWrk } from './load.ts';
import { describeMachine } from './machine.ts';
import { againstOf, writeResults } from './page.ts';
import { directus } from './peers/directus.ts';
import { nestjs } from './peers/nestjs.ts';
import { asContestant, type Peer, peerWorks } from './peers/peer.ts';
import { strapi } from './peers/strapi.ts';
import { play, playOnce, type Race, WARM_UP_SECONDS } from './race.ts';
import { table, verdictTable } from './report.ts';
import { type Results, summarizeWork } from './results.ts';
import { judge, peerTargets } from './targets.ts';
import { FEWEST_ROWS } from './works.ts';

const known: readonly Peer[] = [nestjs, directus, strapi];
const { values: flags } = parseArgs({
  options: {
    peers: { type: 'string', default: known.map(({ name }) => name).join(',') },
    folder: { type: 'string', default: join(tmpdir(), 'tranche-bench-peers') },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const wanted = known.filter(({ name }) => flags.peers.split(',').includes(name));
const schedule = {
  rounds: Number(flags.rounds ?? (flags.quick ? 1 : 4)),
  seconds: Number(flags.seconds ?? (flags.quick ? 3 : 5)),
  warmSeconds: flags.quick ? 1 : WARM_UP_SECONDS,
};
const isShortened = flags.quick || flags.rounds !== undefined || flags.seconds !== undefined || wanted.length < known.length;
const say = (line: string): void => console.error(line);

async function add(arena: Arena, peer: Peer): Promise<Contestant> {
  const folder = join(resolve(flags.folder), peer.name);
  mkdirSync(folder, { recursive: true });
  say(`Installing ${peer.name} (${peer.versions}) into ${folder}`);
  await peer.install(folder);
  const databaseUrl = await arena.makeDatabase(`bench_${peer.name}`);
  const works = await peer.start({ folder, databaseUrl, rows: FEWEST_ROWS, onEnd: (end) => arena.onEnd(end) });
  return asContestant(peer.name, works, databaseUrl);
}

const TRY_SECONDS = 4;

/** Each work once: a peer that answers wrongly is not measured. */
async function tryOut(race: Race, contestant: Contestant): Promise<void> {
  const faults: string[] = [];
  for (const work of peerWorks) {
    const { answers } = await playOnce({ ...race, faults }, contestant, work, TRY_SECONDS);
    if (answers === 0) faults.push(`${work}: nothing was answered in ${TRY_SECONDS} s`);
  }
  if (faults.length > 0) throw new Error(faults.join('; '));
}

async function gather(arena: Arena, race: Omit<Race, 'contestants'>): Promise<{ contestants: Contestant[]; notes: string[] }> {
  const notes: string[] = [];
  const contestants: Contestant[] = [];
  for (const peer of wanted) {
    try {
      const contestant = await add(arena, peer);
      await tryOut({ ...race, contestants: [] }, contestant);
      contestants.push(contestant);
      notes.push(`${peer.name}: ${peer.versions}`);
    } catch (error) {
      const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
      console.error(error instanceof Error ? error.message : error);
      notes.push(`${peer.name} is missing: ${reason}`);
    }
  }
  contestants.push(await arena.addTranche('bench_tranche', await arena.fill('bench_tranche', FEWEST_ROWS)));
  return { contestants, notes };
}

async function measure(arena: Arena, scratch: string, wrkVersion: string): Promise<void> {
  const machine = await describeMachine(arena.admin, wrkVersion);
  const faults: string[] = [];
  const begun = { ...schedule, databasePid: arena.cluster.pid, scratch, say, faults };
  const { contestants, notes } = await gather(arena, begun);
  const race: Race = { ...begun, contestants };
  const works = [];
  for (const work of peerWorks) works.push(summarizeWork(await play(race, work)));
  for (const contestant of contestants) faults.push(...(await contestant.finish()).map((fault) => `${contestant.name}: ${fault}`));
  const peers = contestants.map(({ name }) => name).filter((name) => name !== 'tranche');
  const figures = { works, paced: [] };
  const verdicts = judge(peerTargets(peers, works), figures);
  const date = new Date().toISOString().slice(0, 10);
  const { rounds, seconds } = schedule;
  const results: Results = {
    kind: 'peers',
    command: 'npm run bench:peers',
    date,
    machine,
    rows: FEWEST_ROWS,
    rounds,
    seconds,
    ...figures,
    verdicts,
    notes,
  };
  console.log(`\n${table(works, againstOf(results))}\n\n${verdictTable(verdicts)}\n\n${notes.join('\n')}`);
  if (faults.length > 0) {
    console.error(`\nThe figures do not count, something went wrong:\n  ${faults.join('\n  ')}`);
    process.exitCode = 1;
  } else if (flags.write || !isShortened) say(`\nWrote ${writeResults(results).join(', ')}.`);
}

const wrkVersion = requireWrk();
await inArena(say, (arena, scratch) => measure(arena, scratch, wrkVersion));
