// Creates a project together with its first milestones. Scope: projects:write.

import { decideProjectCreation, type Project, type ProjectDraft } from '../domain/project.ts';
import type { Command, Envelope } from './command.ts';

export function createProject(envelope: Envelope<Project>, draft: ProjectDraft): Command<Project> {
  return {
    ...envelope,
    name: 'create-project',
    needs: {},
    secretAnswer: false,
    rows: 2 + 2 * draft.milestones.length,
    decide: (_state, context) => decideProjectCreation(draft, context),
  };
}
