// Who is signed in, as the server says, and what they may do in the workspace of this tab.
// Knows no page; session.tsx and the routes use it.

import { queryOptions } from '@tanstack/react-query';
import { client, developerKey, send } from '../client/client.ts';
import { queryClient } from '../client/queries.ts';
import { ApiError } from '../client/sdk.ts';
import { chooseWorkspace, chosenWorkspace } from '../client/workspace-choice.ts';

export interface WorkspaceMembership {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  /** What the role may do; where the server does not say, everything is offered and refusals are shown. */
  readonly scopes?: readonly string[];
}

export interface Account {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly totp_enabled: boolean;
  readonly workspaces: readonly WorkspaceMembership[];
}

/** Stands in while a developer works with a pasted key instead of a session. */
const DEVELOPER: Account = {
  id: 'per_developer',
  email: 'developer@localhost',
  name: 'Developer',
  totp_enabled: false,
  workspaces: [{ id: 'wsp_of_key', name: 'Workspace of the key', role: 'owner' }],
};

async function readAccount(): Promise<Account | null> {
  if (developerKey() !== null) {
    await client.projects.list({ limit: 1 });
    return DEVELOPER;
  }
  const response = await send('/v1/account', { headers: { accept: 'application/json' } });
  if (response.status === 401 || response.status === 404) return null;
  if (!response.ok) {
    const { detail } = (await response.json().catch(() => ({}))) as { detail?: string };
    const { status, headers } = response;
    const requestId = headers.get('request-id');
    throw new ApiError({
      status,
      code: null,
      message: detail ?? `Status ${status}`,
      requestId,
      fieldErrors: [],
      headers,
      retryAfterMs: null,
    });
  }
  return (await response.json()) as Account;
}

/** Null: nobody is signed in. */
export const accountQuery = queryOptions({
  queryKey: ['account', 'one', 'me'],
  queryFn: () => readAccount().catch(forgetRefusal),
  staleTime: 60_000,
});

function forgetRefusal(error: unknown): null {
  if (error instanceof ApiError && error.status === 401) return null;
  throw error;
}

/** The workspace of this tab: the one chosen, if it is still theirs, else their first. */
export function currentWorkspace(account: Account): WorkspaceMembership | null {
  const chosen = account.workspaces.find(({ id }) => id === chosenWorkspace()) ?? account.workspaces[0] ?? null;
  if (chosen !== null && chosen.id !== chosenWorkspace()) chooseWorkspace(chosen.id);
  return chosen;
}

/** After signing in or out, or changing the workspace: nothing that was read before holds any more. */
export async function startAfresh(): Promise<void> {
  queryClient.clear();
  await queryClient.prefetchQuery(accountQuery);
}
