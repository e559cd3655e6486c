// What the routes of repairs need beside the lane: counting for a dry run within bounds, and telling workers that there is work.
// Changes nothing.

import type { Uuid } from '../domain/ids.ts';
import { NO_PROGRESS, type RepairFilter, type RepairProgress } from '../domain/webhook-repair.ts';
import type { Queryable } from '../store/database.ts';
import { findLastSeqs } from '../store/heads.ts';
import { takeStep } from '../store/repair-steps.ts';

/** How long a request counts; what is left is counted after its answer. */
const COUNT_MS = 1_000;

export interface Repairs {
  /** What a filter matches, as far as there is time to count; the same steps as the repair itself would take. */
  count(workspaceId: Uuid, repairId: Uuid, filter: RepairFilter): Promise<RepairProgress>;
  /** Something was made due. */
  announceDue(): void;
  /** A repair was asked for. */
  announceRepair(): void;
}

export function createRepairs(
  database: Queryable,
  clock: () => Date,
  newId: () => Uuid,
  announce: Pick<Repairs, 'announceDue' | 'announceRepair'>,
): Repairs {
  return {
    ...announce,
    async count(workspaceId, repairId, filter) {
      const throughSeq = (await findLastSeqs(database, [workspaceId])).get(workspaceId) ?? 0;
      const step = { ...filter, workspaceId, id: repairId, dryRun: true, throughSeq };
      const began = performance.now();
      let progress = NO_PROGRESS;
      while (!progress.isDone && performance.now() - began < COUNT_MS) progress = await takeStep(database, step, progress, clock(), newId);
      return progress;
    },
  };
}
