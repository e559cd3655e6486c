// Metrics of what a serving process does when it is asked more than it can do, and of the standby that takes some of it.
// Only words what others have counted.

import type { Family } from './instruments.ts';

export interface ReplicaWatch {
  readonly counts: { readonly replica: number; readonly primary: number };
  readonly lagMs: () => number | null;
  readonly isUsable: () => boolean;
}

export function refusedFamily(refused: Readonly<Record<string, number>>): Family {
  return {
    name: 'tranche_overload_refused_total',
    help: 'Requests answered 503 at once because they would have waited longer than OVERLOAD_WAIT_MS, by what for.',
    type: 'counter',
    samples: Object.entries(refused).map(([reason, value]) => ({ labels: { reason }, value })),
  };
}

/** None where there is no standby. */
export function replicaFamilies(watch: ReplicaWatch | null): Family[] {
  if (watch === null) return [];
  const lagMs = watch.lagMs();
  return [
    {
      name: 'tranche_replica_reads_total',
      help: 'Lists that were asked for as eventual, by who served them: the replica, or the primary in its place.',
      type: 'counter',
      samples: Object.entries(watch.counts).map(([by, value]) => ({ labels: { by }, value })),
    },
    {
      name: 'tranche_replica_lag_seconds',
      help: 'How far the replica is behind at most; without a sample when that is not known.',
      type: 'gauge',
      samples: lagMs === null ? [] : [{ value: lagMs / 1000 }],
    },
    {
      name: 'tranche_replica_usable',
      help: 'Whether the replica is there and within DATABASE_REPLICA_MAX_LAG_MS.',
      type: 'gauge',
      samples: [{ value: watch.isUsable() ? 1 : 0 }],
    },
  ];
}
