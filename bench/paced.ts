// Open-loop load at half of what each server did at most in this run: latency from the intended start, so that a stall is not hidden.
// Measures only.

import type { Contestant } from './contestants.ts';
import { fireOpen, type OpenMeasure } from './open-loop.ts';
import { type Race, rest } from './race.ts';
import { median, type PacedResult, type WorkResult } from './results.ts';
import type { Work } from './works.ts';

const works = ['read', 'approve'] as const satisfies readonly Work[];
const SHARE = 0.5;
const WARM_SECONDS = 1;
/** As many as the closed loop has. */
const CONNECTIONS = 64;

async function playPaced(race: Race, contestant: Contestant, work: Work, perSecond: number, seconds: number): Promise<OpenMeasure> {
  // `prepare` lays in for the whole rate and some more, so that there is enough for half of it.
  const load = await contestant.prepare(work, seconds + WARM_SECONDS);
  const { shots, once } = load;
  const rate = once ? Math.min(perSecond, Math.floor(shots.length / (seconds + WARM_SECONDS + 1))) : perSecond;
  contestant.permit(load, Math.ceil(rate * (seconds + WARM_SECONDS + 1)));
  const measure = await fireOpen({
    port: contestant.server.port,
    shots,
    once,
    perSecond: rate,
    seconds,
    warmUpSeconds: WARM_SECONDS,
    connections: CONNECTIONS,
  });
  await rest(race, contestant);
  return measure;
}

function summarize(result: WorkResult, server: string, measures: readonly OpenMeasure[]): PacedResult {
  const lost = measures.reduce((sum, { intended, succeeded }) => sum + intended - succeeded, 0);
  return {
    work: result.work,
    title: result.title,
    server,
    perSecond: median(measures.map(({ goodPerSecond }) => goodPerSecond)),
    p50Ms: median(measures.map(({ successMs }) => successMs.p50Ms)),
    p99Ms: median(measures.map(({ successMs }) => successMs.p99Ms)),
    lost,
    generatorLateP99Ms: median(measures.map(({ generatorLateMs }) => generatorLateMs.p99Ms)),
  };
}

/** Of the works that were raced before; the bare server is left out, since it has nothing that could stall. */
export async function playAtHalf(race: Race, results: readonly WorkResult[]): Promise<PacedResult[]> {
  const paced: PacedResult[] = [];
  for (const work of works) {
    const result = results.find((each) => each.work === work);
    if (result === undefined) continue;
    race.say(`${result.title}, open loop at half of the maximum: ${race.rounds} rounds of ${race.seconds} s each`);
    const players = race.contestants.filter(({ name }) => name !== 'bare' && result.servers[name] !== undefined);
    const measures = new Map<string, OpenMeasure[]>(players.map(({ name }) => [name, []]));
    for (let round = 1; round <= race.rounds; round++) {
      for (const contestant of players) {
        const maximum = result.servers[contestant.name]?.perSecond ?? 0;
        const measure = await playPaced(race, contestant, work, Math.floor(maximum * SHARE), race.seconds);
        measures.get(contestant.name)?.push(measure);
        race.say(
          `  round ${round} of ${race.rounds}: ${contestant.name} p99 ${measure.successMs.p99Ms.toFixed(2)} ms at ${Math.round(measure.goodPerSecond)}/s`,
        );
      }
    }
    for (const { name } of players) paced.push(summarize(result, name, measures.get(name) ?? []));
  }
  return paced;
}
