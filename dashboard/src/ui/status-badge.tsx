// The status of a record: a dot and a word, in a tone that says how things stand.
// Holds the tones of every status of the API; a new status is neutral until it has its row.

import type { ReactNode } from 'react';
import classes from './status-badge.module.css';

export type Tone = 'neutral' | 'info' | 'good' | 'attention' | 'bad';

const tones: Readonly<Record<string, Tone>> = {
  active: 'good',
  archived: 'neutral',
  pending: 'neutral',
  in_progress: 'info',
  submitted: 'attention',
  changes_requested: 'attention',
  approved: 'good',
  cancelled: 'neutral',
  released: 'good',
  issued: 'info',
  void: 'neutral',
  unpaid: 'attention',
  paid: 'good',
  enabled: 'good',
  disabled: 'bad',
  failing: 'bad',
  delivering: 'info',
  delivered: 'good',
  acknowledged: 'good',
  failed: 'bad',
  dead: 'bad',
  revoked: 'neutral',
  expired: 'neutral',
  overdue: 'bad',
  running: 'info',
  completed: 'good',
};

export const wordsOf = (status: string): string => {
  const words = status.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

export interface StatusBadgeProps {
  readonly status: string;
  /** Where the word alone does not say enough, or something else than usual. */
  readonly label?: string;
  readonly tone?: Tone;
}

export function StatusBadge({ status, label = wordsOf(status), tone = tones[status] ?? 'neutral' }: StatusBadgeProps): ReactNode {
  return (
    <span className={classes.badge} data-tone={tone}>
      {label}
    </span>
  );
}
