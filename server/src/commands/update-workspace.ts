// Changing the settings of a workspace: which records it needs and which decision is asked for.
// Knows no SQL and no HTTP.

import { rejectMissing } from '../domain/decision.ts';
import { decideSettingsUpdate, type WorkspaceSettings, type WorkspaceUpdate } from '../domain/workspace.ts';
import { type Command, type Envelope, SMALL } from './command.ts';

export function updateWorkspace(
  envelope: Envelope<WorkspaceSettings>,
  update: WorkspaceUpdate,
  expectedVersion: number | null,
): Command<WorkspaceSettings> {
  return {
    ...envelope,
    ...SMALL,
    name: 'update-workspace',
    needs: { settings: true },
    decide(state, context) {
      const settings = state.settings();
      return settings === undefined ? rejectMissing() : decideSettingsUpdate(update, expectedVersion, settings, context);
    },
  };
}
