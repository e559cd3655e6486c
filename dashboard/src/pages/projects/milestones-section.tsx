// The milestones of a project: the switch between timeline and board, the drawer, and the dialogs that create, edit and move.
// Which view and which milestone is open stands in the address; the dialogs live here, since what is moved shows elsewhere after.

import { Button, Group, SegmentedControl } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useShortcut } from '../../app/shortcuts.ts';
import { useWords } from '../../app/words.ts';
import type { Milestone, Project } from '../../client/sdk.ts';
import { useCan } from '../../session/session.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Rows } from '../../ui/skeletons.tsx';
import { EarlierMilestones } from './earlier-milestones.tsx';
import { MilestoneDialog } from './milestone-dialog.tsx';
import { MilestoneDrawer } from './milestone-drawer.tsx';
import { Board, Timeline } from './milestone-views.tsx';
import { MoveDialog } from './move-dialog.tsx';
import type { Move } from './moves.ts';
import { hasMoreMilestones, useMilestones } from './project-data.ts';

export function MilestonesSection({ project }: { readonly project: Project }): ReactNode {
  const { words, set, href } = useWords();
  const mayWrite = useCan('milestones:write') && project.status === 'active';
  const query = useMilestones(project.id);
  const [asked, setAsked] = useState<{ readonly move: Move; readonly id: string } | null>(null);
  const [editedId, setEditedId] = useState<string | null>(null);
  const isBoard = words.view === 'board';
  const create = (): void => {
    if (mayWrite) set({ new: '1' }, 'push');
  };
  useShortcut('n', 'New milestone', create);
  useShortcut('b', 'Timeline or board', () => set({ view: isBoard ? undefined : 'board' }));
  if (query.isPending) {
    return (
      <div role="status" aria-busy="true" aria-label="Loading">
        <Rows count={6} />
      </div>
    );
  }
  if (query.data === undefined) return <ErrorNotice error={query.error} retry={() => void query.refetch()} />;
  const milestones = query.data;
  const byId = (id: string | undefined | null): Milestone | undefined => milestones.find((one) => one.id === id);
  const open = byId(words.open);
  const edited = byId(editedId);
  const moved = byId(asked?.id);
  const onAsk = (move: Move, { id }: Milestone): void => setAsked({ move, id });
  const View = isBoard ? Board : Timeline;
  return (
    <>
      <Group justify="space-between" mb="sm" gap="xs">
        <SegmentedControl
          aria-label="View"
          size="xs"
          value={isBoard ? 'board' : 'timeline'}
          onChange={(view) => set({ view: view === 'board' ? view : undefined })}
          data={[
            { value: 'timeline', label: 'Timeline' },
            { value: 'board', label: 'Board' },
          ]}
        />
        {mayWrite && milestones.length > 0 && (
          <Button variant="default" onClick={create} leftSection={<Icon name="plus" size={16} />}>
            New milestone
          </Button>
        )}
      </Group>
      {milestones.length === 0 ? (
        <EmptyState
          title="No milestones yet"
          action={mayWrite ? <Button onClick={create}>New milestone</Button> : undefined}
          curl={{
            method: 'POST',
            path: `/v1/projects/${project.id}/milestones`,
            body: { title: 'Design', amount: 150000, due_date: '2027-03-31' },
          }}
        >
          A milestone is a piece of work with its price. When it is approved, its payment and its invoice are made.
        </EmptyState>
      ) : (
        <View milestones={milestones} project={project} href={({ id }) => href({ open: id })} onAsk={onAsk} />
      )}
      {hasMoreMilestones(project.id, milestones) && <EarlierMilestones projectId={project.id} count={milestones.length} />}
      {open !== undefined && (
        <MilestoneDrawer
          milestone={open}
          project={project}
          onClose={() => set({ open: undefined })}
          onEdit={() => setEditedId(open.id)}
          onAsk={onAsk}
        />
      )}
      {words.new === '1' && mayWrite && <MilestoneDialog project={project} milestone={null} onClose={() => set({ new: undefined })} />}
      {edited !== undefined && <MilestoneDialog project={project} milestone={edited} onClose={() => setEditedId(null)} />}
      {asked !== null && moved !== undefined && (
        <MoveDialog
          key={`${moved.id} ${asked.move.to}`}
          move={asked.move}
          milestone={moved}
          project={project}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  );
}
