// Edits, archives or takes back a project. Scope: projects:write.

import { rejectMissing } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import { decideProjectUpdate, type Project, type ProjectUpdate } from '../domain/project.ts';
import { type Command, type Envelope, SMALL } from './command.ts';

export function updateProject(
  envelope: Envelope<Project>,
  projectId: Uuid,
  update: ProjectUpdate,
  expectedVersion: number | null,
): Command<Project> {
  return {
    ...envelope,
    ...SMALL,
    name: 'update-project',
    needs: { projectId },
    decide(state, context) {
      const project = state.project(projectId);
      return project === undefined ? rejectMissing() : decideProjectUpdate(update, expectedVersion, project, context);
    },
  };
}
