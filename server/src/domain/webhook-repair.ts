// A repair: deliveries that are sent again, made up for or cancelled in bulk, step by step, until all that its filter matches is done.
// Pure; decides how a repair begins and ends. Its steps are SQL.

import { type AuditDraft, changesBetween } from './audit.ts';
import { accept, type Context, type Decision, reject, rejectField } from './decision.ts';
import type { DeliveryStatus } from './delivery.ts';
import type { EventType } from './event.ts';
import { encodeId, type Uuid } from './ids.ts';
import type { WebhookEndpoint } from './webhook-endpoint.ts';

export const repairActions = {
  replay: 'Sends matching deliveries again.',
  recover: 'Sends an endpoint every event since a time that it has not acknowledged, those it was never sent included.',
  cancel: 'Ends what is still to be sent.',
} as const;
export type RepairAction = keyof typeof repairActions;
export const allRepairActions = Object.keys(repairActions) as [RepairAction, ...RepairAction[]];

export const repairMoves = {
  pending: ['running', 'completed', 'stopped'],
  running: ['completed', 'stopped'],
  completed: [],
  stopped: [],
} as const satisfies Record<string, readonly string[]>;
export type RepairStatus = keyof typeof repairMoves;
export const repairStatuses = Object.keys(repairMoves) as [RepairStatus, ...RepairStatus[]];

export interface RepairFilter {
  readonly action: RepairAction;
  /** Null: every endpoint of the workspace. */
  readonly endpointId: Uuid | null;
  /** Null: every kind. */
  readonly eventTypes: readonly EventType[] | null;
  /** Of the deliveries; empty with `recover`. */
  readonly statuses: readonly DeliveryStatus[];
  readonly projectId: Uuid | null;
  /** Of the events: from this moment on. */
  readonly since: Date | null;
  /** Of the events: before this moment. */
  readonly until: Date | null;
}

/** How far a repair has come. */
export interface RepairProgress {
  /** What the filter has matched so far. */
  readonly matched: number;
  /** Of these, what was changed. */
  readonly changed: number;
  /** The last delivery that was looked at. */
  readonly atDelivery: Uuid | null;
  /** With `recover`: the last event that was looked at; null before the first is found. */
  readonly atSeq: number | null;
  readonly isDone: boolean;
}

export const NO_PROGRESS: RepairProgress = { matched: 0, changed: 0, atDelivery: null, atSeq: null, isDone: false };

export interface WebhookRepair extends RepairFilter, Omit<RepairProgress, 'isDone'> {
  readonly id: Uuid;
  readonly workspaceId: Uuid;
  readonly dryRun: boolean;
  readonly status: RepairStatus;
  /** Why it was stopped. */
  readonly reason: string | null;
  readonly throughSeq: number;
  readonly restUntil: Date;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
}

export interface RepairDraft extends RepairFilter {
  readonly id: Uuid;
  readonly dryRun: boolean;
  /** What was counted already, with a dry run. */
  readonly progress: RepairProgress;
}

/** `endpoint` is the one that the draft names, undefined when there is none in the workspace. */
export function decideRepairCreation(draft: RepairDraft, endpoint: WebhookEndpoint | undefined, context: Context): Decision<WebhookRepair> {
  const refused = refuseTarget(draft, endpoint);
  if (refused !== null) return refused;
  const { progress, ...fields } = draft;
  const { isDone, ...place } = progress;
  const repair: WebhookRepair = {
    ...fields,
    ...place,
    workspaceId: context.workspace.id,
    status: isDone ? 'completed' : 'pending',
    reason: null,
    throughSeq: context.lastSeq,
    // At once, by whatever clock its steps are taken.
    restUntil: new Date(0),
    createdAt: context.now,
    completedAt: isDone ? context.now : null,
  };
  return accept(repair, { webhookRepairs: [repair], audit: entries('webhook_repair.created', repair, described(repair)) });
}

/** The endpoint has to be there, and to take webhooks unless they are only counted or cancelled. */
function refuseTarget({ action, endpointId, dryRun }: RepairDraft, endpoint: WebhookEndpoint | undefined): Decision<never> | null {
  if (endpointId === null) return null;
  if (endpoint === undefined || endpoint.deletedAt !== null)
    return rejectField('/endpoint_id', 'not_found', 'There is no such webhook endpoint in this workspace.');
  return action === 'cancel' || dryRun ? null : rejectDisabled(endpoint);
}

/** The refusal to send anything to an endpoint that takes nothing, or null. */
export function rejectDisabled(endpoint: WebhookEndpoint): Decision<never> | null {
  if (endpoint.deletedAt !== null) return reject('endpoint_disabled', 'The webhook endpoint was deleted; nothing can be sent to it.');
  if (endpoint.status === 'enabled') return null;
  return reject('endpoint_disabled', 'The webhook endpoint is disabled; enable it first, then ask again.');
}

/** What is done stays done. A second stop changes nothing. */
export function decideRepairStop(repair: WebhookRepair, context: Context): Decision<WebhookRepair> {
  if (repair.status === 'stopped') return accept(repair);
  if (repair.status === 'completed') return reject('invalid_transition', 'The repair is completed; there is nothing left to stop.');
  const stopped: WebhookRepair = { ...repair, status: 'stopped', reason: 'Stopped by a request.', completedAt: context.now };
  const changes = changesBetween({ status: repair.status }, { status: stopped.status });
  return accept(stopped, { webhookRepairs: [stopped], audit: entries('webhook_repair.stopped', stopped, changes) });
}

/** A dry run counts and changes nothing, so nobody has to answer for it. */
const entries = (action: AuditDraft['action'], { id, dryRun }: WebhookRepair, changes: AuditDraft['changes']): readonly AuditDraft[] =>
  dryRun ? [] : [{ action, target: { type: 'webhook_repair', id }, changes }];

/** What was asked for, in the terms of the API. */
const described = ({ action, endpointId, eventTypes, statuses, projectId, since, until }: WebhookRepair): AuditDraft['changes'] =>
  changesBetween(null, {
    action,
    endpoint_id: endpointId === null ? null : encodeId('webhook_endpoint', endpointId),
    event_types: eventTypes,
    statuses,
    project_id: projectId === null ? null : encodeId('project', projectId),
    since: since?.toISOString() ?? null,
    until: until?.toISOString() ?? null,
  });
