// Who is signed in, as the server says, and which workspace this tab is in.
// Knows no page; session.tsx and the routes use it.

import { queryOptions } from '@tanstack/react-query';
import { client } from '../client/client.ts';
import { queryClient } from '../client/queries.ts';
import { type Account, type AccountWorkspace, ApiError } from '../client/sdk.ts';
import { chooseWorkspace, chosenWorkspace } from '../client/workspace-choice.ts';

/** Whose answers are kept. Another tab of the browser may sign somebody else in: the session is the browser's, and this page would go on with it. */
let person: string | null = null;

/** Nothing that one person read may be shown to the next. */
function forgetOthers(id: string): void {
  if (person !== null && person !== id) {
    const ofPerson = {
      predicate: ({ queryKey }: { readonly queryKey: readonly unknown[] }) => queryKey[1] !== 'one' || queryKey[2] !== 'me',
    };
    queryClient.removeQueries({ ...ofPerson, type: 'inactive' });
    void queryClient.resetQueries(ofPerson);
  }
  person = id;
}

async function readAccount(): Promise<Account | null> {
  try {
    const account = await client.account.retrieve();
    forgetOthers(account.id);
    return account;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

/** Null: nobody is signed in. */
export const accountQuery = queryOptions({ queryKey: ['account', 'one', 'me'], queryFn: readAccount, staleTime: 60_000 });

/** The workspace of this tab: the one chosen, if it is still theirs, else their first that is open. */
export function currentWorkspace(account: Account): AccountWorkspace | null {
  const { workspaces } = account;
  const open = workspaces.find(({ closed_at }) => closed_at === null) ?? workspaces[0] ?? null;
  const chosen = workspaces.find(({ id }) => id === chosenWorkspace()) ?? open;
  if (chosen !== null && chosen.id !== chosenWorkspace()) chooseWorkspace(chosen.id);
  return chosen;
}

/** After signing in: nothing that was read before holds any more. For pages outside of the shell. */
export async function startAfresh(account?: Account): Promise<void> {
  queryClient.clear();
  if (account !== undefined) person = account.id;
  if (account === undefined) await queryClient.prefetchQuery(accountQuery);
  else queryClient.setQueryData(accountQuery.queryKey, account);
}

/**
 * Into another workspace, from inside of the shell; without an id, into the next one that is left. The account is read first, since a choice
 * that it does not hold yet would be taken back; then whatever is shown is asked for anew, and the rest is forgotten.
 */
export async function enterWorkspace(id?: string): Promise<void> {
  queryClient.setQueryData(accountQuery.queryKey, await readAccount());
  if (id !== undefined) chooseWorkspace(id);
  const ofWorkspace = { predicate: ({ queryKey }: { readonly queryKey: readonly unknown[] }) => queryKey[0] !== accountQuery.queryKey[0] };
  queryClient.removeQueries({ ...ofWorkspace, type: 'inactive' });
  void queryClient.resetQueries(ofWorkspace);
}
