// What the service is to reach, as ratios within one run, and whether a run reached it.
// Pure: judges figures, makes none, and calls nothing reached that was not measured.

import type { PacedResult, Summary, Verdict, WorkResult } from './results.ts';

interface Figures {
  readonly works: readonly WorkResult[];
  readonly paced: readonly PacedResult[];
}

interface Target {
  readonly what: string;
  readonly bound: number;
  readonly isCeiling?: true;
  readonly unit: '×' | 'ms';
  measure(figures: Figures): number | null;
}

const summaryOf = ({ works }: Figures, work: string, server: string): Summary | undefined =>
  works.find((result) => result.work === work)?.servers[server];

export function ratio(own: number | undefined, other: number | undefined): number | null {
  return own === undefined || other === undefined || !(other > 0) ? null : own / other;
}

/** Requests a second of this service to those of another at the same work. */
const rate = (what: string, work: string, against: string, bound: number, own = 'tranche'): Target => ({
  what: `${what} : ${against}`,
  bound,
  unit: '×',
  measure: (figures) => ratio(summaryOf(figures, work, own)?.perSecond, summaryOf(figures, work, against)?.perSecond),
});

const paced = (what: string, work: string, bound: number): Target => ({
  what,
  bound,
  isCeiling: true,
  unit: 'ms',
  measure: (figures) => figures.paced.find((result) => result.work === work && result.server === 'tranche')?.p99Ms ?? null,
});

export const suiteTargets: readonly Target[] = [
  rate('Read by id', 'read', 'by hand', 3),
  rate('Read by id', 'read', 'bare', 0.6),
  rate('List, page 1', 'list-first', 'by hand', 1.5),
  rate('List, page 1000', 'list-far', 'by hand', 1.5),
  rate('Create with 5 milestones', 'create', 'by hand', 4),
  rate('Approve', 'approve', 'by hand', 5),
  rate('Approve, 16 workspaces', 'approve-many', 'by hand', 5),
  rate('Approve, embedded', 'approve', 'by hand', 1.5, 'embedded'),
  {
    what: 'Time of page 1000 to that of page 1',
    bound: 1.2,
    isCeiling: true,
    unit: '×',
    measure: (figures) =>
      ratio(summaryOf(figures, 'list-first', 'tranche')?.perSecond, summaryOf(figures, 'list-far', 'tranche')?.perSecond),
  },
  paced('p99 of reads at half of the maximum', 'read', 10),
  paced('p99 of approvals at half of the maximum', 'approve', 25),
];

const PEER_BOUND = 5;

export function peerTargets(peers: readonly string[], works: readonly WorkResult[]): Target[] {
  return works.flatMap(({ work, title, servers }) =>
    peers.filter((peer) => servers[peer] !== undefined).map((peer) => rate(title, work, peer, PEER_BOUND)),
  );
}

const GROWTH_BOUND = 0.8;

export function growthTargets(small: string, large: string, works: readonly WorkResult[]): Target[] {
  return works.map(({ work, title }) => rate(title, work, small, GROWTH_BOUND, large));
}

const shown = (value: number, unit: Target['unit']): string => (unit === 'ms' ? `${value.toFixed(1)} ms` : `${value.toFixed(2)} ×`);

export function judge(targets: readonly Target[], figures: Figures): Verdict[] {
  return targets.map(({ what, bound, isCeiling, unit, measure }) => {
    const value = measure(figures);
    const target = `${isCeiling === true ? '≤' : '≥'} ${bound} ${unit}`;
    if (value === null || Number.isNaN(value)) return { what, target, measured: null, isReached: null };
    return { what, target, measured: shown(value, unit), isReached: isCeiling === true ? value <= bound : value >= bound };
  });
}
