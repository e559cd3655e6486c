// Lets the contestants play each work in turn, A B C A B C …, so that what disturbs the machine disturbs all of them.
// Measures and collects; the medians and verdicts are report.ts.

import { setTimeout as delay } from 'node:timers/promises';
import type { Contestant } from './contestants.ts';
import { fire, type Load, type Measure } from './load.ts';
import { type Cost, costOf, readProcesses } from './process-costs.ts';
import { titles, type Work } from './works.ts';

export interface Round extends Measure {
  readonly serviceCpuSeconds: number;
  /** Null where PostgreSQL runs elsewhere; 0 where none is used. */
  readonly databaseCpuSeconds: number | null;
  readonly rssBytes: number;
}

export interface Played {
  readonly work: string;
  readonly title: string;
  readonly rounds: ReadonlyMap<string, readonly Round[]>;
}

/** Of a run whose figures are kept: the more code a server is, the longer the engine compiles it. */
export const WARM_UP_SECONDS = 5;

export interface Schedule {
  readonly rounds: number;
  readonly seconds: number;
  /** Before the first round of a work: compiled, connected, cached. */
  readonly warmSeconds: number;
}

export interface Race extends Schedule {
  readonly contestants: readonly Contestant[];
  readonly databasePid: number | null;
  /** For the requests of the load generator. */
  readonly scratch: string;
  readonly say: (line: string) => void;
  readonly faults: string[];
}

interface Costs {
  readonly service: Cost;
  readonly database: number | null;
}

function look(contestant: Contestant, databasePid: number | null): Costs {
  const processes = readProcesses();
  const service = costOf(contestant.server.pid, processes);
  if (!contestant.usesServer) return { service, database: 0 };
  return { service, database: databasePid === null ? null : costOf(databasePid, processes).cpuSeconds };
}

async function measure(race: Race, contestant: Contestant, work: Work, load: Load): Promise<Round> {
  const before = look(contestant, race.databasePid);
  const result = await fire(contestant.server.port, load, race.scratch);
  const after = look(contestant, race.databasePid);
  const database = after.database === null || before.database === null ? null : after.database - before.database;
  if (result.faults > 0) race.faults.push(`${contestant.name}: ${work}: ${result.faults} requests were refused or broke`);
  return {
    ...result,
    serviceCpuSeconds: after.service.cpuSeconds - before.service.cpuSeconds,
    databaseCpuSeconds: database,
    rssBytes: after.service.rssBytes,
  };
}

const QUIET_SLICE_MS = 200;
/** Of one core, in a slice: what idle servers do by themselves is less. */
const QUIET_SHARE = 0.1;
const QUIET_SLICES = 2;
const MOST_SLICES = 50;

/** Waits until the contestant and the database have come to rest: what was under way when the load ended is not the next one's to pay for. */
export async function rest({ databasePid }: Pick<Race, 'databasePid'>, contestant: Contestant): Promise<void> {
  const spent = (): number => {
    const { service, database } = look(contestant, databasePid);
    return service.cpuSeconds + (database ?? 0);
  };
  let before = spent();
  for (let slices = 0, quiet = 0; slices < MOST_SLICES && quiet < QUIET_SLICES; slices++) {
    await delay(QUIET_SLICE_MS);
    const now = spent();
    quiet = now - before <= (QUIET_SHARE * QUIET_SLICE_MS) / 1000 ? quiet + 1 : 0;
    before = now;
  }
}

export async function playOnce(race: Race, contestant: Contestant, work: Work, seconds: number): Promise<Round> {
  const load = await contestant.prepare(work, seconds);
  if (load.shots.length === 0) throw new Error(`${contestant.name} has nothing left for "${work}".`);
  const round = await measure(race, contestant, work, load);
  const contradiction = await contestant.check(work, load, round);
  if (contradiction !== null) race.faults.push(`${contestant.name}: ${contradiction}`);
  await rest(race, contestant);
  return round;
}

export async function play(race: Race, work: Work): Promise<Played> {
  const players = race.contestants.filter((contestant) => contestant.plays(work));
  const rounds = new Map<string, Round[]>(players.map(({ name }) => [name, []]));
  race.say(`${titles[work]}: ${race.rounds} rounds of ${race.seconds} s each`);
  for (const contestant of players) await playOnce(race, contestant, work, race.warmSeconds);
  for (let number = 1; number <= race.rounds; number++) {
    const figures: string[] = [];
    for (const contestant of players) {
      const round = await playOnce(race, contestant, work, race.seconds);
      if (round.answers === 0) race.faults.push(`${contestant.name}: ${work}: nothing was answered in ${race.seconds} s`);
      rounds.get(contestant.name)?.push(round);
      figures.push(`${contestant.name} ${Math.round(round.perSecond).toLocaleString('en-US')}/s`);
    }
    race.say(`  round ${number} of ${race.rounds}: ${figures.join(', ')}`);
  }
  return { work, title: titles[work], rounds };
}
