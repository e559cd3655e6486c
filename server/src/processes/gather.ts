// Puts together what the workers say of themselves: one page of metrics, and whether the whole can work.
// Pure; asks nobody.

import type { Family, Sample } from '../operations/instruments.ts';
import type { Report } from '../operations/operating.ts';
import type { Health } from '../operations/operator-server.ts';

export interface Told {
  /** The value of the label `process`. */
  readonly process: string;
  readonly families: readonly Family[];
}

type Series = NonNullable<Family['series']>[number];

/**
 * Every series with the process it is of, so that a counter that begins again at 0 is seen for what it is. What is read from the database
 * is the same for all, and is told once and without the label: a sum over it would be wrong.
 */
export function gatherFamilies(told: readonly Told[]): Family[] {
  const gathered = new Map<string, { readonly family: Family; readonly samples: Sample[]; readonly series: Series[] }>();
  for (const { process, families } of told) {
    for (const family of families) {
      const entry = gathered.get(family.name) ?? { family, samples: [], series: [] };
      gathered.set(family.name, entry);
      if (family.isOfAll === true) {
        // The first that could read it.
        if (entry.samples.length === 0) entry.samples.push(...(family.samples ?? []));
        continue;
      }
      for (const { labels, value } of family.samples ?? []) entry.samples.push({ labels: { ...labels, process }, value });
      for (const { labels, histogram } of family.series ?? []) entry.series.push({ labels: { ...labels, process }, histogram });
    }
  }
  return Array.from(gathered.values(), ({ family: { name, help, type }, samples, series }) => ({ name, help, type, samples, series }));
}

/** `reports` of those that serve, null for one that did not answer; `wanted` is how many there should be. */
export function judgeHealth(reports: readonly (Report | null)[], wanted: number): Health {
  const reasons = reports.map((report) => (report === null ? 'it does not answer' : report.unready));
  const able = reasons.filter((reason) => reason === null).length;
  const first = reasons.find((reason) => reason !== null) ?? null;
  if (able === 0) return { unready: first ?? 'no process serves yet', degraded: null };
  const missing = able < wanted ? `${able} of ${wanted} processes can work${first === null ? '' : `; of another one: ${first}`}` : null;
  const degraded = reports.find((report) => report !== null && report.degraded !== null)?.degraded ?? null;
  return { unready: null, degraded: [missing, degraded].filter((text) => text !== null).join('; ') || null };
}
