// The buttons that move a milestone, on a card, in the timeline and in its drawer: only what the server allows now and the role may.
// What costs nothing is done at once and put back if it fails; everything else asks first.

import { Button, Group, Menu } from '@mantine/core';
import { type CSSProperties, type ReactNode, useRef } from 'react';
import { queryClient } from '../../client/queries.ts';
import { ApiError, type Milestone, type Project } from '../../client/sdk.ts';
import { useSession } from '../../session/session.tsx';
import { faultOf } from '../../ui/error-notice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { notify } from '../../ui/notices.tsx';
import { useAttemptKey } from './attempt-key.ts';
import { type Move, movesOf } from './moves.ts';
import { changeMilestone, milestonesKey } from './project-data.ts';

/** The red that is readable in both schemes, on the ground of a menu too. */
const danger = { '--menu-item-color': 'var(--mantine-color-error)' } as CSSProperties;

export interface MilestoneMovesProps {
  readonly milestone: Milestone;
  readonly project: Project;
  /** On a card: what is likely stands out, the rest is behind a menu. */
  readonly compact?: boolean;
  /** Opens the question; whoever holds it outlives this, since a milestone that was moved shows elsewhere. */
  readonly onAsk: (move: Move, milestone: Milestone) => void;
}

export function MilestoneMoves({ milestone, project, compact = false, onAsk }: MilestoneMovesProps): ReactNode {
  const { can } = useSession();
  const isBusy = useRef(false);
  const keyFor = useAttemptKey();
  const moves = movesOf(milestone, project, can);

  async function moveAtOnce(move: Move): Promise<void> {
    if (isBusy.current) return;
    isBusy.current = true;
    const key = milestonesKey(milestone.project_id);
    const before = queryClient.getQueryData<readonly Milestone[]>(key);
    // Shown as done, but with no further move on offer until the server has said so.
    const hoped: Milestone = { ...milestone, status: move.to, allowed_transitions: [] };
    queryClient.setQueryData<readonly Milestone[]>(key, (known) => known?.map((one) => (one.id === milestone.id ? hoped : one)));
    try {
      await changeMilestone(milestone, { status: move.to }, keyFor([move.to, milestone.version]));
    } catch (error) {
      const { title, detail, requestId } = faultOf(error);
      queryClient.setQueryData<readonly Milestone[]>(key, (known) =>
        known?.map((one) => (one === hoped ? (before?.find(({ id }) => id === one.id) ?? one) : one)),
      );
      // Where no answer came, it may have been done all the same; what is so is asked for anew.
      const outcome = error instanceof ApiError ? 'Not done.' : 'Perhaps not done.';
      notify(`${outcome} ${title}: ${detail}${requestId === null ? '' : ` (request ${requestId})`}`);
    } finally {
      isBusy.current = false;
    }
  }

  const choose = (move: Move): void => (move.question === null ? void moveAtOnce(move) : onAsk(move, milestone));
  const shown = compact ? moves.slice(0, 1) : moves;
  const hidden = compact ? moves.slice(1) : [];
  if (moves.length === 0) return null;
  return (
    <Group gap={6} wrap={compact ? 'nowrap' : 'wrap'}>
      {shown.map((move) => (
        <Button
          key={move.to}
          size={compact ? 'compact-sm' : 'sm'}
          variant={move.isForward ? (move.to === 'approved' ? 'filled' : 'light') : 'default'}
          onClick={() => choose(move)}
        >
          {move.label}
        </Button>
      ))}
      {hidden.length > 0 && (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button size="compact-sm" variant="default" aria-label={`More moves of ${milestone.title}`} px={6}>
              <Icon name="more" size={16} />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {hidden.map((move) => (
              <Menu.Item key={move.to} style={move.isDanger ? danger : undefined} onClick={() => choose(move)}>
                {move.label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </Group>
  );
}
