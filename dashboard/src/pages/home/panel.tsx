// A frame of the front page: a heading, perhaps a number, and what belongs under it.
// Holds no data.

import type { ReactNode } from 'react';
import classes from './home.module.css';

export interface PanelProps {
  readonly title: string;
  readonly count?: number;
  /** How the number looks when it is not zero. */
  readonly tone?: 'attention' | 'bad';
  readonly children: ReactNode;
  /** At the right of the heading. */
  readonly aside?: ReactNode;
}

export function Panel({ title, count, tone, aside, children }: PanelProps): ReactNode {
  return (
    <section className={classes.panel} aria-label={title}>
      <div className={classes.head}>
        <h2 style={{ margin: 0, flex: aside === undefined ? undefined : 1 }}>{title}</h2>
        {count !== undefined && (
          <span className={classes.count} data-tone={count === 0 ? undefined : tone}>
            {count}
          </span>
        )}
        {aside}
      </div>
      {children}
    </section>
  );
}
