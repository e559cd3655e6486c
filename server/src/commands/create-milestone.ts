// Adds a milestone to a project. Scope: milestones:write.

import { rejectMissing } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import { decideMilestoneCreation, type Milestone, type MilestoneDraft } from '../domain/milestone.ts';
import { type Command, type Envelope, SMALL } from './command.ts';

export function createMilestone(envelope: Envelope<Milestone>, projectId: Uuid, draft: MilestoneDraft): Command<Milestone> {
  return {
    ...envelope,
    ...SMALL,
    name: 'create-milestone',
    needs: { projectId },
    decide(state, context) {
      const project = state.project(projectId);
      return project === undefined ? rejectMissing() : decideMilestoneCreation(draft, project, context);
    },
  };
}
