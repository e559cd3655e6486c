// Every project, with search and filters kept in the address.
// Opens nothing itself: a project has a page of its own.

import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useShortcut } from '../../app/shortcuts.ts';
import { useWords } from '../../app/words.ts';
import { client } from '../../client/client.ts';
import { useList } from '../../client/queries.ts';
import type { Project, ProjectStatus } from '../../client/sdk.ts';
import { useCan } from '../../session/session.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { FilterBar, SearchFilter, SelectFilter, TextFilter } from '../../ui/filters.tsx';
import { Icon } from '../../ui/icon.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { ProjectDialog } from './project-dialog.tsx';

const columns: readonly Column<Project>[] = [
  { header: 'Name', cell: ({ name }) => name },
  { header: 'Client', cell: ({ client_id }) => client_id, width: '22%', wideOnly: true },
  { header: 'Currency', cell: ({ currency }) => currency, width: 90, wideOnly: true },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} />, width: 110 },
  { header: 'Created', cell: ({ created_at }) => <Time at={created_at} as="date" />, width: 130, align: 'right', wideOnly: true },
];

export function ProjectsPage(): ReactNode {
  const { words, set } = useWords();
  const mayWrite = useCan('projects:write');
  const filters = { q: words.q, status: words.status as ProjectStatus | undefined, client_id: words.client_id };
  const query = useList({ resource: 'projects', filters, load: (cursor) => client.projects.list({ ...filters, ...cursor }) });
  const create = (): void => {
    if (mayWrite) set({ new: '1' }, 'push');
  };
  useShortcut('n', 'New project', create);
  const isFiltered = words.q !== undefined || words.status !== undefined || words.client_id !== undefined;
  return (
    <>
      <PageHeader title="Projects">
        {mayWrite && (
          <Button onClick={create} leftSection={<Icon name="plus" size={16} />}>
            New project
          </Button>
        )}
      </PageHeader>
      <FilterBar names={['q', 'status', 'client_id']}>
        <SearchFilter label="Search name or client" />
        <SelectFilter
          word="status"
          label="Status"
          options={[
            { value: 'active', label: 'Active' },
            { value: 'archived', label: 'Archived' },
          ]}
        />
        <TextFilter word="client_id" label="Client" />
      </FilterBar>
      <DataTable
        label="Projects"
        query={query}
        columns={columns}
        idOf={({ id }) => id}
        href={({ id }) => `/projects/${id}`}
        empty={
          isFiltered ? (
            <EmptyState title="No project matches">Change the filters, or clear them.</EmptyState>
          ) : (
            <NoProjects create={mayWrite ? create : null} />
          )
        }
      />
      {words.new === '1' && mayWrite && <ProjectDialog onClose={() => set({ new: undefined })} />}
    </>
  );
}

function NoProjects({ create }: { readonly create: (() => void) | null }): ReactNode {
  return (
    <EmptyState
      title="No projects yet"
      action={create === null ? undefined : <Button onClick={create}>New project</Button>}
      curl={{ method: 'POST', path: '/v1/projects', body: { name: 'Website', client_id: 'acme' } }}
    >
      A project is what a client has ordered. Create one here, or from your own system:
    </EmptyState>
  );
}
