// The options of `npm run bench`, read and bounded.
// Pure: starts nothing. An option that makes no sense is said to, and nothing is measured.

import { parseArgs } from 'node:util';
import { WARM_UP_SECONDS } from './race.ts';
import { FEWEST_ROWS, type Work, works } from './works.ts';

export const allServers = ['bare', 'by hand', 'tranche', 'embedded'] as const;
export type Entrant = (typeof allServers)[number];
export const allParts = [...works, 'webhooks', 'paced'] as const;
export type Part = (typeof allParts)[number];

export interface Options {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmSeconds: number;
  readonly rows: number;
  readonly largeRows: number;
  readonly works: readonly Work[];
  readonly hasWebhooks: boolean;
  readonly hasPaced: boolean;
  readonly servers: readonly Entrant[];
  readonly isGrowth: boolean;
  /** Whether the documents are written: a complete run does, a shortened one only when told to. */
  readonly writes: boolean;
}

export const usage = `npm run bench -- [options]
  --rounds n      rounds of each work (4)
  --seconds n     seconds of each round (5)
  --only a,b      only these works: ${works.slice(0, 5).join(', ')},
                  ${[...works.slice(5), 'webhooks', 'paced'].join(', ')}
  --servers a,b   only these: ${allServers.join(', ')}
  --rows n        milestones and payments there from the start (${FEWEST_ROWS}, the fewest)
  --growth        instead: this service with --rows rows against --large
  --large n       rows of the large database of --growth (1000000)
  --quick         one short round: does it work at all?
  --write         write docs/benchmarks/ after a shortened run, too`;

function bounded(name: string, text: string | undefined, standard: number, least: number, most: number): number {
  const value = text === undefined ? standard : Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new RangeError(`--${name} takes a whole number from ${least} to ${most}.`);
}

function chosen<T extends string>(name: string, text: string | undefined, all: readonly T[]): readonly T[] {
  if (text === undefined) return all;
  const wanted = text.split(',').map((part) => part.trim());
  const unknown = wanted.filter((part) => !(all as readonly string[]).includes(part));
  if (unknown.length > 0) throw new RangeError(`--${name} takes ${all.join(', ')}; not ${unknown.join(', ')}.`);
  return all.filter((part) => wanted.includes(part));
}

export function readOptions(parameters: readonly string[]): Options {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args: [...parameters],
    options: { rounds: text, seconds: text, only: text, servers: text, rows: text, large: text, quick: flag, growth: flag, write: flag },
  });
  const { quick: isQuick, growth: isGrowth } = values;
  const parts = chosen('only', values.only, allParts);
  const rows = bounded('rows', values.rows, FEWEST_ROWS, FEWEST_ROWS, 100_000_000);
  const isShortened =
    isQuick || [values.rounds, values.seconds, values.only, values.servers, values.rows, values.large].some((value) => value !== undefined);
  return {
    rounds: bounded('rounds', values.rounds, isQuick ? 1 : 4, 1, 100),
    seconds: bounded('seconds', values.seconds, isQuick ? 1 : 5, 1, 600),
    warmSeconds: isQuick ? 1 : WARM_UP_SECONDS,
    rows,
    largeRows: bounded('large', values.large, 1_000_000, rows, 100_000_000),
    works: works.filter((work) => parts.includes(work)),
    hasWebhooks: parts.includes('webhooks') && !isGrowth,
    hasPaced: parts.includes('paced') && !isGrowth,
    servers: chosen('servers', values.servers, allServers),
    isGrowth,
    writes: values.write || !isShortened,
  };
}
