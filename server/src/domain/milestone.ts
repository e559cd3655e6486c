// The life of a milestone: what may follow what, which scope a move asks for, and what may still be edited when.
// Pure: it is handed the time and fresh ids, and touches nothing outside its arguments. Source: DESIGN §2.

import { isDeepStrictEqual } from 'node:util';
import { accept, type Context, type Decision, reject, rejectField, rejectStale } from './decision.ts';
import { applyFields, MAX_METADATA_KEYS, type Metadata, type MetadataPatch, mergeMetadata } from './editing.ts';
import { milestoneEvent } from './event.ts';
import type { Uuid } from './ids.ts';
import { payForApproval } from './payment.ts';
import type { Project } from './project.ts';
import type { Scope } from './scopes.ts';

export const milestoneMoves = {
  pending: ['in_progress', 'submitted', 'cancelled'],
  in_progress: ['submitted', 'cancelled'],
  submitted: ['approved', 'changes_requested', 'in_progress'],
  changes_requested: ['in_progress', 'submitted', 'cancelled'],
  approved: [],
  cancelled: [],
} as const satisfies Record<string, readonly string[]>;

export type MilestoneStatus = keyof typeof milestoneMoves;

export const milestoneStatuses = Object.keys(milestoneMoves) as [MilestoneStatus, ...MilestoneStatus[]];

/** The scope that moving a milestone to this status asks for: who delivers and who approves can hold different keys. */
export const moveScopes = {
  pending: 'milestones:write',
  in_progress: 'milestones:submit',
  submitted: 'milestones:submit',
  changes_requested: 'milestones:approve',
  approved: 'milestones:approve',
  cancelled: 'milestones:write',
} as const satisfies Record<MilestoneStatus, Scope>;

/** Whether title, description, due date, payee and metadata may still change (until final), and whether the amount may. */
export const editableIn = {
  pending: { details: true, amount: true },
  in_progress: { details: true, amount: true },
  submitted: { details: true, amount: false },
  changes_requested: { details: true, amount: true },
  approved: { details: false, amount: false },
  cancelled: { details: false, amount: false },
} as const satisfies Record<MilestoneStatus, { details: boolean; amount: boolean }>;

export interface Submission {
  readonly note: string | null;
  readonly links: readonly string[];
}

export interface Milestone {
  readonly id: Uuid;
  readonly workspaceId: Uuid;
  readonly projectId: Uuid;
  readonly title: string;
  readonly description: string | null;
  /** In minor units of `currency`. */
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly payeeId: string | null;
  /** A calendar day, `YYYY-MM-DD`. */
  readonly dueDate: string | null;
  readonly status: MilestoneStatus;
  /** Why changes were requested or why it was cancelled, as last said. */
  readonly reason: string | null;
  readonly submission: Submission | null;
  readonly metadata: Metadata;
  readonly submittedAt: Date | null;
  readonly approvedAt: Date | null;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export function allowedMoves(from: MilestoneStatus): readonly MilestoneStatus[] {
  return milestoneMoves[from];
}

export interface MilestoneDraft {
  readonly title: string;
  readonly description: string | null;
  readonly amountMinor: bigint;
  /** Null: the project's. */
  readonly currency: string | null;
  /** Null: the project's. */
  readonly payeeId: string | null;
  readonly dueDate: string | null;
  readonly metadata: Metadata;
}

/** A new milestone record: it takes the project's currency and payee over where it names none of its own. */
export function draftMilestone(draft: MilestoneDraft, project: Project, context: Context): Milestone {
  return {
    ...draft,
    id: context.newId(),
    workspaceId: project.workspaceId,
    projectId: project.id,
    currency: draft.currency ?? project.currency,
    payeeId: draft.payeeId ?? project.payeeId,
    status: 'pending',
    reason: null,
    submission: null,
    submittedAt: null,
    approvedAt: null,
    version: 1,
    createdAt: context.now,
    updatedAt: context.now,
  };
}

export function decideMilestoneCreation(draft: MilestoneDraft, project: Project, context: Context): Decision<Milestone> {
  if (project.status === 'archived') return rejectArchived();
  const milestone = draftMilestone(draft, project, context);
  return accept(milestone, { milestones: [milestone], events: [milestoneEvent('milestone.created', milestone)] });
}

/** Absent: leave as it is. */
export interface MilestoneUpdate {
  readonly status?: MilestoneStatus | undefined;
  readonly reason?: string | undefined;
  readonly submission?: Submission | undefined;
  readonly title?: string | undefined;
  readonly description?: string | null | undefined;
  readonly dueDate?: string | null | undefined;
  readonly payeeId?: string | null | undefined;
  readonly metadata?: MetadataPatch | undefined;
  readonly amountMinor?: bigint | undefined;
  readonly currency?: string | undefined;
}

/** Edits and moves as one decision, the edits first: so `{amount, status: "submitted"}` submits the new amount. */
export function decideMilestoneUpdate(
  update: MilestoneUpdate,
  expectedVersion: number | null,
  milestone: Milestone,
  project: Project,
  context: Context,
): Decision<Milestone> {
  const stale = rejectStale(expectedVersion, milestone.version);
  if (stale !== null) return stale;
  const misplaced = rejectMisplaced(update);
  if (misplaced !== null) return misplaced;
  const edited = editMilestone(update, milestone);
  if (!edited.accepted) return edited;
  const moved = moveMilestone(update, edited.result, project, context);
  if (!moved.accepted) return moved;
  if (moved.result === milestone) return accept(milestone);
  if (project.status === 'archived') return rejectArchived();
  const next: Milestone = { ...moved.result, version: milestone.version + 1, updatedAt: context.now };
  return accept(next, { ...moved.changes, milestones: [next] });
}

function rejectArchived(): Decision<never> {
  return reject('project_archived', 'The project is archived; set its status to "active" first.');
}

/** A reason and a submission belong to a move. */
function rejectMisplaced(update: MilestoneUpdate): Decision<never> | null {
  if (update.reason !== undefined && update.status === undefined) {
    return rejectField('/reason', 'misplaced', 'A reason goes with a status: send it together with the move that it explains.');
  }
  if (update.submission !== undefined && update.status !== 'submitted') {
    return rejectField('/submission', 'misplaced', 'A submission goes with "status": "submitted".');
  }
  return null;
}

/** The milestone with its fields edited; the same object when nothing differs. */
function editMilestone(update: MilestoneUpdate, milestone: Milestone): Decision<Milestone> {
  const { status: _status, reason: _reason, submission: _submission, metadata: patch, ...fields } = update;
  const metadata = patch === undefined ? milestone.metadata : mergeMetadata(milestone.metadata, patch);
  if (metadata === null) return rejectField('/metadata', 'too_many_keys', `Metadata holds at most ${MAX_METADATA_KEYS} keys.`);
  const edited = applyFields({ ...milestone, metadata }, fields);
  if (isDeepStrictEqual(edited, milestone)) return accept(milestone);
  const editable = editableIn[milestone.status];
  if (!editable.details) return reject('not_editable', `The milestone is ${milestone.status} and can no longer be edited.`);
  const moneyChanged = edited.amountMinor !== milestone.amountMinor || edited.currency !== milestone.currency;
  if (moneyChanged && !editable.amount) {
    return reject('not_editable', `The milestone is ${milestone.status}; its amount and currency cannot change now.`);
  }
  return accept(edited);
}

/** What each move writes on the milestone, and the event that tells of it. */
function moveMilestone(update: MilestoneUpdate, milestone: Milestone, project: Project, context: Context): Decision<Milestone> {
  const { status: to, reason = null, submission = null } = update;
  if (to === undefined || to === milestone.status) return accept(milestone);
  const allowed = allowedMoves(milestone.status);
  if (!allowed.includes(to)) {
    const choice = allowed.length > 0 ? `It can go to ${allowed.join(', ')}.` : 'That status is final.';
    return reject('invalid_transition', `A milestone cannot go from ${milestone.status} to ${to}. ${choice}`);
  }
  if (to === 'changes_requested' && reason === null) {
    return rejectField('/reason', 'required', 'Say what should change: "reason" is required when requesting changes.');
  }
  const next: Milestone = { ...milestone, status: to, reason };
  const { now } = context;
  switch (to) {
    case 'pending':
    case 'in_progress':
      return accept({ ...next, submittedAt: null, submission: null });
    case 'submitted':
      return announce('milestone.submitted', { ...next, submission, submittedAt: now });
    case 'changes_requested':
      return announce('milestone.changes_requested', next);
    case 'cancelled':
      return announce('milestone.cancelled', next);
    case 'approved': {
      const approved = { ...next, approvedAt: now };
      const paid = payForApproval(approved, project, context);
      return accept(approved, { ...paid, events: [milestoneEvent('milestone.approved', approved), ...paid.events] });
    }
    default:
      return to satisfies never;
  }
}

function announce(type: Parameters<typeof milestoneEvent>[0], milestone: Milestone): Decision<Milestone> {
  return accept(milestone, { events: [milestoneEvent(type, milestone)] });
}
