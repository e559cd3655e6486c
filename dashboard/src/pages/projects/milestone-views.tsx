// The milestones of a project in two ways: along the time they are due, and in columns by their status.
// Both show the same and open the same drawer; neither loads or changes anything itself.

import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Milestone, MilestoneStatus, Project } from '../../client/sdk.ts';
import { totalsByCurrency } from '../../ui/amount.ts';
import { Money } from '../../ui/money.tsx';
import { StatusBadge, wordsOf } from '../../ui/status-badge.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { Day } from '../../ui/time.tsx';
import { MilestoneMoves } from './milestone-moves.tsx';
import classes from './milestones.module.css';
import type { Move } from './moves.ts';

export interface MilestoneViewProps {
  readonly milestones: readonly Milestone[];
  readonly project: Project;
  /** The address that opens one beside the page. */
  readonly href: (milestone: Milestone) => string;
  readonly onAsk: (move: Move, milestone: Milestone) => void;
}

const isOpen = ({ status }: Milestone): boolean => status !== 'approved' && status !== 'cancelled';

/** The calendar day of the viewer, as due dates are written. */
export function todayText(now: Date): string {
  const [month, day] = [now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, '0'));
  return `${now.getFullYear()}-${month}-${day}`;
}

/** By the day they are due, those without one last, and then as they were made. */
export function inOrder(milestones: readonly Milestone[]): readonly Milestone[] {
  const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  return milestones.toSorted((a, b) => byText(a.due_date ?? '9999', b.due_date ?? '9999') || byText(a.id, b.id));
}

function Due({ milestone, today }: { readonly milestone: Milestone; readonly today: string }): ReactNode {
  const { due_date, status } = milestone;
  if (due_date === null) return <span>No date</span>;
  const isLate = due_date < today && isOpen(milestone) && status !== 'submitted';
  return (
    <span className={isLate ? classes.late : undefined}>
      <Day day={due_date} />
      {isLate && ' overdue'}
    </span>
  );
}

export function Timeline({ milestones, project, href, onAsk }: MilestoneViewProps): ReactNode {
  const today = todayText(new Date());
  const ordered = inOrder(milestones);
  const firstAhead = ordered.findIndex(({ due_date }) => due_date !== null && due_date >= today);
  return (
    <ol className={classes.timeline} aria-label="Milestones by due date">
      {ordered.flatMap((milestone, index) => {
        const entry = (
          <li key={milestone.id} className={`${classes.entry} ${milestone.status === 'cancelled' ? classes.ended : ''}`}>
            <div className={classes.when}>
              <Due milestone={milestone} today={today} />
            </div>
            <span className={classes.dot} data-status={milestone.status} aria-hidden="true" />
            <div className={classes.main}>
              <TextLink href={href(milestone)} className={classes.title ?? ''}>
                {milestone.title}
              </TextLink>
              <div className={classes.facts}>
                <StatusBadge status={milestone.status} />
                {milestone.payee_id !== null && <span>to {milestone.payee_id}</span>}
              </div>
            </div>
            <div className={classes.side}>
              <span className={classes.amount}>
                <Money amount={milestone.amount} currency={milestone.currency} />
              </span>
              <MilestoneMoves milestone={milestone} project={project} compact onAsk={onAsk} />
            </div>
          </li>
        );
        if (index !== firstAhead || index === 0) return [entry];
        return [
          <li key="today" className={classes.today}>
            <span>Today</span>
          </li>,
          entry,
        ];
      })}
    </ol>
  );
}

const columns: readonly MilestoneStatus[] = ['pending', 'in_progress', 'changes_requested', 'submitted', 'approved'];

export function Board({ milestones, project, href, onAsk }: MilestoneViewProps): ReactNode {
  const today = todayText(new Date());
  const ordered = inOrder(milestones);
  const shown = ordered.some(({ status }) => status === 'cancelled') ? [...columns, 'cancelled' as const] : columns;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than the page is scrolled with the keys.
    <section className={classes.board} aria-label="Milestones by status" tabIndex={0}>
      {shown.map((status) => {
        const cards = ordered.filter((one) => one.status === status);
        return (
          <div key={status} className={classes.column} data-column={status}>
            <div className={classes.columnHead}>
              <h3>
                <StatusBadge status={status} label={wordsOf(status)} />
              </h3>
              <Text size="xs" c="dimmed">
                {cards.length}
              </Text>
            </div>
            <span className={classes.columnSum}>
              {[...totalsByCurrency(cards)].map(([currency, sum], index) => (
                <span key={currency}>
                  {index > 0 && ' · '}
                  <Money amount={sum} currency={currency} />
                </span>
              ))}
            </span>
            <ul className={classes.cards}>
              {cards.map((milestone) => (
                <li key={milestone.id} className={`${classes.card} ${status === 'cancelled' ? classes.ended : ''}`}>
                  <TextLink href={href(milestone)} className={classes.title ?? ''}>
                    {milestone.title}
                  </TextLink>
                  <Text size="xs" c="dimmed" component="div">
                    <Due milestone={milestone} today={today} />
                  </Text>
                  <div className={classes.cardFoot}>
                    <span className={classes.amount}>
                      <Money amount={milestone.amount} currency={milestone.currency} />
                    </span>
                    <MilestoneMoves milestone={milestone} project={project} compact onAsk={onAsk} />
                  </div>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </section>
  );
}
