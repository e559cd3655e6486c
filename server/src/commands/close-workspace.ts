// Closes a workspace: its keys are revoked and its endpoints disabled in the same commit. Scope: workspace:own.
// Nothing is deleted; members go on reading.

import { type Closing, decideClosing } from '../domain/closing.ts';
import type { Command, Envelope } from './command.ts';

/** Rows of keys and endpoints that one closing writes, as the batch reckons with them. */
const CLOSING_ROWS = 500;

export function closeWorkspace(envelope: Envelope<Closing>, name: string): Command<Closing> {
  return {
    ...envelope,
    name: 'close-workspace',
    needs: { holdings: true },
    secretAnswer: false,
    rows: CLOSING_ROWS,
    decide: (state, context) => decideClosing(name, state.liveKeys(), state.liveEndpoints(), context),
  };
}
