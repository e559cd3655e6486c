// Edits and moves a milestone; an approval brings its payment, invoice and ledger entries into the same commit.
// Scopes: by the status asked for (moveScopes), and milestones:write for edits.

import { rejectMissing } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import { decideMilestoneUpdate, type Milestone, type MilestoneUpdate, moveScopes } from '../domain/milestone.ts';
import type { Scope } from '../domain/scopes.ts';
import { type Command, type Envelope, SMALL } from './command.ts';

/** Every scope that this update asks for. A reason and a submission belong to the move they come with. */
export function scopesForMilestoneUpdate(update: MilestoneUpdate): Scope[] {
  const { status, reason: _reason, submission: _submission, ...fields } = update;
  const edits = Object.values(fields).some((value) => value !== undefined);
  const wanted: Scope[] = [];
  if (status !== undefined) wanted.push(moveScopes[status]);
  if (edits || status === undefined) wanted.push('milestones:write');
  return wanted;
}

export function updateMilestone(
  envelope: Envelope<Milestone>,
  milestoneId: Uuid,
  update: MilestoneUpdate,
  expectedVersion: number | null,
): Command<Milestone> {
  return {
    ...envelope,
    ...SMALL,
    name: 'update-milestone',
    needs: { milestoneId },
    decide(state, context) {
      const milestone = state.milestone(milestoneId);
      const project = milestone && state.project(milestone.projectId);
      if (milestone === undefined || project === undefined) return rejectMissing();
      return decideMilestoneUpdate(update, expectedVersion, milestone, project, context);
    },
  };
}
