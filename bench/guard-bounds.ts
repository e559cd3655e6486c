// The bounds of the regression guard, and the judgement of its figures.
// Pure: ratios only, since the machine it runs on is anyone's.

import type { WorkResult } from './results.ts';
import { ratio } from './targets.ts';
import type { Work } from './works.ts';

export interface Bound {
  readonly work: Work;
  /** Rate of this service to that of the hand-written server in the same run. */
  readonly atLeast: number;
}

/**
 * About half of what these ratios are as a rule, so that noise passes and a change that halves a ratio does not. A change that moves a
 * ratio for good moves its bound.
 */
export const bounds: readonly Bound[] = [
  { work: 'read', atLeast: 1.2 },
  { work: 'list-far', atLeast: 0.6 },
  { work: 'create', atLeast: 1.2 },
  { work: 'approve', atLeast: 2.5 },
];

export interface Check extends Bound {
  readonly title: string;
  /** Null: it was not measured, which is a failure, too. */
  readonly measured: number | null;
  readonly isKept: boolean;
}

export function checkBounds(works: readonly WorkResult[]): Check[] {
  return bounds.flatMap((bound) => {
    const found = works.find(({ work }) => work === bound.work);
    if (found === undefined) return [];
    const measured = ratio(found.servers.tranche?.perSecond, found.servers['by hand']?.perSecond);
    return [{ ...bound, title: found.title, measured, isKept: measured !== null && measured >= bound.atLeast }];
  });
}

export function describe(checks: readonly Check[]): string {
  const row = (title: string, measured: string, bound: string, outcome: string): string =>
    `${title.padEnd(36)}${measured.padStart(12)}${bound.padStart(12)}  ${outcome}`.trimEnd();
  const rows = checks.map(({ title, measured, atLeast, isKept }) =>
    row(title, measured === null ? '–' : `${measured.toFixed(2)} ×`, `≥ ${atLeast} ×`, isKept ? 'kept' : 'BROKEN'),
  );
  return [row('this service : by hand', 'measured', 'bound', ''), ...rows].join('\n');
}
