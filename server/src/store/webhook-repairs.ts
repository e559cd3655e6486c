// Every SQL statement on repairs as records: the lane's table, their list, and who takes the next step of which.
// What a step does to deliveries is in repair-steps.ts.

import type { Uuid } from '../domain/ids.ts';
import type { RepairProgress, WebhookRepair } from '../domain/webhook-repair.ts';
import type { Queryable } from './database.ts';
import { defineList, tableSource } from './lists.ts';
import { columnTypes, defineTable } from './tables.ts';

/** What the steps move is fixed for the lane: a stop that was decided on an older state must not put them back. */
export const webhookRepairTable = defineTable<WebhookRepair>('webhook_repairs', {
  workspaceId: columnTypes.fixedUuid('workspace_id'),
  id: columnTypes.fixedUuid('id'),
  action: { column: 'action', type: 'text', fixed: true },
  endpointId: { column: 'endpoint_id', type: 'uuid', fixed: true },
  eventTypes: { column: 'event_types', type: 'text[]', fixed: true },
  statuses: { column: 'statuses', type: 'text[]', fixed: true },
  projectId: { column: 'project_id', type: 'uuid', fixed: true },
  since: { column: 'since', type: 'timestamptz(3)', fixed: true },
  until: { column: 'until', type: 'timestamptz(3)', fixed: true },
  dryRun: { column: 'dry_run', type: 'boolean', fixed: true },
  status: { column: 'status', type: 'text' },
  reason: { column: 'reason', type: 'text' },
  matched: { ...columnTypes.count('matched'), fixed: true },
  changed: { ...columnTypes.count('changed'), fixed: true },
  atDelivery: { column: 'at_delivery', type: 'uuid', fixed: true },
  atSeq: { ...columnTypes.count('at_seq'), fixed: true } as { column: string; type: 'bigint'; fixed: true; read: (value: never) => number },
  throughSeq: { ...columnTypes.count('through_seq'), fixed: true },
  restUntil: { column: 'rest_until', type: 'timestamptz(3)', fixed: true },
  createdAt: columnTypes.createdAt,
  completedAt: { column: 'completed_at', type: 'timestamptz(3)' },
});

export const webhookRepairSource = tableSource(webhookRepairTable);

/** The repairs of a workspace: the primary key (workspace_id, id). */
export const listWebhookRepairs = defineList<WebhookRepair, object>({ source: webhookRepairSource, conditions: {} });

const lockText =
  `select ${webhookRepairTable.select('t')} from unnest($1::uuid[], $2::uuid[]) as n(workspace_id, id) ` +
  'join webhook_repairs t on t.workspace_id = n.workspace_id and t.id = n.id order by t.id for no key update of t';

/** Repairs by primary key, locked, so that none is completed while it is being stopped. Whoever takes a step holds that lock at its end only. */
export async function lockWebhookRepairs(
  transaction: Queryable,
  keys: readonly { readonly workspaceId: Uuid; readonly id: Uuid }[],
): Promise<WebhookRepair[]> {
  const rows = await transaction.query<Record<string, unknown>>(lockText, [keys.map((key) => key.workspaceId), keys.map((key) => key.id)]);
  return rows.map(webhookRepairTable.fromRow);
}

const takeText = `
  update webhook_repairs t set status = 'running', token = $2, rest_until = $3
  from (select workspace_id, id from webhook_repairs where status in ('pending', 'running') and rest_until <= $1
        order by rest_until limit 1 for update skip locked) x
  where t.workspace_id = x.workspace_id and t.id = x.id
  returning ${webhookRepairTable.select('t')}`;

/** Takes the repair whose turn it is, until `leaseEnds`: the one that has rested longest. The index webhook_repairs_open; locked ones are passed by. */
export async function takeRepair(database: Queryable, now: Date, token: Uuid, leaseEnds: Date): Promise<WebhookRepair | null> {
  const [row] = await database.query<Record<string, unknown>>(takeText, [now, token, leaseEnds]);
  return row === undefined ? null : webhookRepairTable.fromRow(row);
}

/** Leaves a step that failed to whoever is next, by primary key and token; nothing happens where another process has it by now. */
export async function giveBackRepair(
  database: Queryable,
  step: Pick<StepEnd, 'workspaceId' | 'id' | 'token' | 'restUntil'>,
): Promise<void> {
  await database.query(
    `update webhook_repairs set token = null, rest_until = $4 where workspace_id = $1 and id = $2 and token = $3 and status = 'running'`,
    [step.workspaceId, step.id, step.token, step.restUntil],
  );
}

export interface StepEnd {
  readonly workspaceId: Uuid;
  readonly id: Uuid;
  readonly token: Uuid;
  /** As of the whole repair, this step included. */
  readonly progress: RepairProgress;
  /** Why it ends here; null when it does not, or ends because it is done. */
  readonly stopReason: string | null;
  readonly now: Date;
  /** When its next step may be taken. */
  readonly restUntil: Date;
}

/** Writes how far it has come, by primary key and token. False: it was stopped, or another process has it; the step must not count. */
export async function endStep(transaction: Queryable, end: StepEnd): Promise<boolean> {
  const { progress, stopReason } = end;
  const status = stopReason !== null ? 'stopped' : progress.isDone ? 'completed' : 'running';
  const rows = await transaction.query(
    `update webhook_repairs set status = $4, reason = $5, matched = $6, changed = $7, at_delivery = $8, at_seq = $9, rest_until = $10,
       token = null, completed_at = $11
     where workspace_id = $1 and id = $2 and token = $3 and status = 'running' returning 1`,
    [
      end.workspaceId,
      end.id,
      end.token,
      status,
      stopReason,
      progress.matched,
      progress.changed,
      progress.atDelivery,
      progress.atSeq,
      end.restUntil,
      status === 'running' ? null : end.now,
    ],
  );
  return rows.length === 1;
}
