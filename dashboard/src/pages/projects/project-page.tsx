// One project: its head with what may be done with it, its totals, and its milestones, payments, invoices and events as tabs.
// Which tab is open stands in the address; each part loads its own.

import { Button, Group, Tabs, Text, Title } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useShortcut } from '../../app/shortcuts.ts';
import { useWords } from '../../app/words.ts';
import { ApiError, type Project } from '../../client/sdk.ts';
import { useSession } from '../../session/session.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Id } from '../../ui/copy-button.tsx';
import { Details } from '../../ui/detail-drawer.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { notify } from '../../ui/notices.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { PageSkeleton } from '../../ui/skeletons.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { Totals } from '../../ui/totals.tsx';
import { InvoicesTable } from '../invoices/invoices-table.tsx';
import { PaymentsTable } from '../payments/payments-table.tsx';
import { useAttemptKey } from './attempt-key.ts';
import { EditProjectDialog } from './edit-project-dialog.tsx';
import { EventsSection } from './events-section.tsx';
import { MilestonesSection } from './milestones-section.tsx';
import { changeProject, useProject, useProjectTotals } from './project-data.ts';

export function ProjectPage(): ReactNode {
  const { projectId } = useParams({ from: '/inside/projects/$projectId' });
  const query = useProject(projectId);
  if (query.isPending) return <PageSkeleton />;
  if (query.data === undefined) {
    const isAbsent = query.error instanceof ApiError && query.error.status === 404;
    return (
      <>
        <PageHeader title="Project" />
        <ErrorNotice error={query.error} {...(isAbsent ? {} : { retry: () => void query.refetch() })} />
      </>
    );
  }
  return <Shown key={projectId} project={query.data} />;
}

type Asked = 'edit' | 'archive' | null;

function Shown({ project }: { readonly project: Project }): ReactNode {
  const [asked, setAsked] = useState<Asked>(null);
  const close = (): void => setAsked(null);
  return (
    <>
      <Head project={project} onAsk={setAsked} />
      <ProjectTotals project={project} />
      <Sections project={project} />
      {asked === 'edit' && <EditProjectDialog project={project} onClose={close} />}
      {asked === 'archive' && <ArchiveDialog project={project} onClose={close} />}
    </>
  );
}

function Head({ project, onAsk }: { readonly project: Project; readonly onAsk: (what: Asked) => void }): ReactNode {
  const { can } = useSession();
  const mayWrite = can('projects:write');
  const isArchived = project.status === 'archived';
  const isMovable = project.allowed_transitions.length > 0;
  useShortcut('e', 'Edit the project', () => mayWrite && onAsk('edit'));
  return (
    <PageHeader
      title={project.name}
      description={
        <Group gap="4px 14px" style={{ overflowWrap: 'anywhere' }}>
          <StatusBadge status={project.status} />
          <span>for {project.client_id}</span>
          {project.payee_id !== null && <span>paid to {project.payee_id}</span>}
          <span>{project.release === 'manual' ? 'released by hand' : 'released on approval'}</span>
        </Group>
      }
    >
      {mayWrite && (
        <>
          <Button variant="default" onClick={() => onAsk('edit')} leftSection={<Icon name="edit" size={16} />}>
            Edit
          </Button>
          {isMovable && (
            <Button variant="default" onClick={() => onAsk('archive')}>
              {isArchived ? 'Unarchive' : 'Archive'}
            </Button>
          )}
        </>
      )}
    </PageHeader>
  );
}

function ArchiveDialog({ project, onClose }: { readonly project: Project; readonly onClose: () => void }): ReactNode {
  // The question stays the one that was asked, also while the answer turns it around.
  const [held] = useState(project);
  const keyFor = useAttemptKey();
  const isArchived = held.status === 'archived';
  const to = isArchived ? 'active' : 'archived';
  async function carryOut(): Promise<void> {
    await changeProject(held, { status: to }, keyFor([to, held.version]));
    notify(isArchived ? 'Project is active again' : 'Project archived');
  }
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={isArchived ? 'Make this project active again?' : 'Archive this project?'}
      confirm={isArchived ? 'Unarchive' : 'Archive'}
      onConfirm={carryOut}
      effect={
        isArchived
          ? 'No money moves. Milestones can be created and moved again.'
          : 'No money moves. No milestone can be created or moved while it is archived; payments that are pending can still be released. It can be made active again at any time.'
      }
    />
  );
}

function ProjectTotals({ project }: { readonly project: Project }): ReactNode {
  const totals = useProjectTotals(project.id);
  return (
    <Totals
      label="Amounts by currency"
      query={totals}
      sumsOf={({ planned, submitted, approved, pending, released }) => [
        { label: 'Planned', sum: planned },
        { label: 'Submitted', sum: submitted },
        { label: 'Approved', sum: approved },
        { label: 'Pending', sum: pending },
        { label: 'Released', sum: released },
      ]}
    />
  );
}

const tabs = ['milestones', 'payments', 'invoices', 'events', 'about'] as const;

function Sections({ project }: { readonly project: Project }): ReactNode {
  const { words, set } = useWords();
  const { can } = useSession();
  const tab = tabs.find((one) => one === words.tab) ?? 'milestones';
  return (
    <Tabs
      value={tab}
      onChange={(chosen) => set({ tab: chosen === 'milestones' || chosen === null ? undefined : chosen, open: undefined, new: undefined })}
      keepMounted={false}
    >
      <Tabs.List mb="md" style={{ flexWrap: 'nowrap', overflowX: 'auto' }}>
        <Tabs.Tab value="milestones">Milestones</Tabs.Tab>
        {can('payments:read') && <Tabs.Tab value="payments">Payments</Tabs.Tab>}
        {can('invoices:read') && <Tabs.Tab value="invoices">Invoices</Tabs.Tab>}
        {can('events:read') && <Tabs.Tab value="events">Events</Tabs.Tab>}
        <Tabs.Tab value="about">About</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="milestones">
        <MilestonesSection project={project} />
      </Tabs.Panel>
      <Tabs.Panel value="payments">
        <PaymentsTable
          filters={{ project_id: project.id }}
          withoutProject
          empty={
            <EmptyState title="No payments yet" curl={{ path: `/v1/projects/${project.id}/payments` }}>
              A payment is made when a milestone of this project is approved.
            </EmptyState>
          }
        />
      </Tabs.Panel>
      <Tabs.Panel value="invoices">
        <InvoicesTable
          filters={{ project_id: project.id }}
          withoutProject
          empty={
            <EmptyState title="No invoices yet" curl={{ path: `/v1/invoices?project_id=${project.id}` }}>
              An invoice is issued when a milestone of this project is approved.
            </EmptyState>
          }
        />
      </Tabs.Panel>
      <Tabs.Panel value="events">
        <EventsSection project={project} />
      </Tabs.Panel>
      <Tabs.Panel value="about">
        <About project={project} />
      </Tabs.Panel>
    </Tabs>
  );
}

function About({ project }: { readonly project: Project }): ReactNode {
  const metadata = Object.entries(project.metadata).map(([label, value]) => ({ label, value }));
  return (
    <div style={{ maxWidth: 640 }}>
      <Details
        items={[
          { label: 'Id', value: <Id id={project.id} /> },
          { label: 'Client', value: project.client_id },
          { label: 'Payee', value: project.payee_id },
          { label: 'Currency', value: project.currency },
          { label: 'Created', value: <Time at={project.created_at} /> },
          { label: 'Last change', value: <Time at={project.updated_at} /> },
          { label: 'Version', value: project.version },
        ]}
      />
      <Title order={2} mt="lg" mb="xs">
        Metadata
      </Title>
      {metadata.length === 0 ? <Text c="dimmed">None.</Text> : <Details items={metadata} />}
    </div>
  );
}
