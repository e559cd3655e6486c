// The profile of the workspace: who it is, what its invoices say, its defaults, and the way to close or leave it.
// Who may not change it reads it.

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useWords } from '../../app/words.ts';
import { client } from '../../client/client.ts';
import { keys } from '../../client/queries.ts';
import { useSession } from '../../session/session.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Rows } from '../../ui/skeletons.tsx';
import { DangerZone } from './danger-zone.tsx';
import { NewWorkspaceDialog } from './new-workspace-dialog.tsx';
import { WorkspaceForm } from './workspace-form.tsx';

export function WorkspacePage(): ReactNode {
  const { workspace, can } = useSession();
  const { words, set } = useWords();
  const query = useQuery({
    queryKey: keys.one('workspace', workspace.id),
    queryFn: async () => await client.workspace.retrieve(),
    // What is being typed must not be replaced because the window was left and come back to.
    refetchOnWindowFocus: false,
  });
  return (
    <>
      <PageHeader
        title="Workspace"
        description={
          can('workspace:write')
            ? 'Who you are to your clients, and what new projects begin with.'
            : 'Your role may read this, and not change it.'
        }
      />
      {query.isPending && (
        <div role="status" aria-busy="true" aria-label="Loading">
          <Rows count={8} />
        </div>
      )}
      {query.data === undefined && query.isError && <ErrorNotice error={query.error} retry={() => void query.refetch()} />}
      {query.data !== undefined && <WorkspaceForm key={query.data.version} workspace={query.data} />}
      {query.data !== undefined && <DangerZone name={query.data.name} />}
      <NewWorkspaceDialog opened={words.new !== undefined} onClose={() => set({ new: undefined })} />
    </>
  );
}
