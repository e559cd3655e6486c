// The session as pages see it: the person, the workspace of this tab, and what may be done there.
// Only inside of the shell; pages for people who are not signed in have none.

import { useQuery } from '@tanstack/react-query';
import { createContext, Fragment, type ReactNode, useContext, useEffect, useMemo, useSyncExternalStore } from 'react';
import { startLiveEvents } from '../client/live-events.ts';
import type { Account, AccountWorkspace, Scope } from '../client/sdk.ts';
import { chosenWorkspace, onWorkspaceChosen } from '../client/workspace-choice.ts';
import { accountQuery, currentWorkspace } from './account.ts';
import { NoWorkspace } from './no-workspace.tsx';

export interface Session {
  readonly account: Account;
  readonly workspace: AccountWorkspace;
  /** Whether the role holds the scope. Offer nothing that it does not; the server refuses it in any case. */
  can(scope: Scope): boolean;
}

const SessionContext = createContext<Session | null>(null);

export function SessionProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const { data: account } = useQuery(accountQuery);
  useSyncExternalStore(onWorkspaceChosen, chosenWorkspace);
  const workspace = account == null ? null : currentWorkspace(account);
  const workspaceId = workspace?.id;
  useEffect(() => (workspaceId === undefined ? undefined : startLiveEvents(workspaceId)), [workspaceId]);
  const session = useMemo<Session | null>(() => {
    if (account == null || workspace === null) return null;
    // Nothing in a closed workspace changes any more, whoever asks.
    const isOpen = workspace.closed_at === null;
    return { account, workspace, can: (scope) => workspace.scopes.includes(scope) && (isOpen || scope.endsWith(':read')) };
  }, [account, workspace]);
  if (session === null) return account == null ? null : <NoWorkspace account={account} />;
  return (
    <SessionContext value={session}>
      {/* What a page holds of one workspace, or for one person, means nothing to another. */}
      <Fragment key={`${account?.id} ${workspaceId}`}>{children}</Fragment>
    </SessionContext>
  );
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('useSession is for pages inside of the shell.');
  return session;
}

/** Whether the person may: `const mayRelease = useCan('payments:release')`. */
export const useCan = (scope: Scope): boolean => useSession().can(scope);
