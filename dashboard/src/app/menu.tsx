// The menu at the side: the entries of each area under its heading, those that the person may see.
// Holds no state: where one is, the address says.

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useSession } from '../session/session.tsx';
import { Icon } from '../ui/icon.tsx';
import type { NavEntry } from './area.ts';
import { useAreas } from './areas-context.ts';
import classes from './menu.module.css';

export function Menu(): ReactNode {
  const areas = useAreas();
  const { can } = useSession();
  const maySee = ({ scope }: NavEntry): boolean => scope === undefined || can(scope);
  const top = areas
    .filter(({ group }) => group === null)
    .flatMap(({ nav }) => nav)
    .filter(maySee);
  const groups = areas
    .flatMap(({ group, nav }) => (group === null ? [] : [{ group, nav: nav.filter(maySee) }]))
    .filter(({ nav }) => nav.length > 0);
  return (
    <>
      <Entries entries={top} />
      {groups.map(({ group, nav }) => (
        <section key={group} aria-label={group}>
          <h2 className={classes.heading}>{group}</h2>
          <Entries entries={nav} />
        </section>
      ))}
    </>
  );
}

function Entries({ entries }: { readonly entries: readonly NavEntry[] }): ReactNode {
  return (
    <ul className={classes.list}>
      {entries.map(({ label, to, icon, key }) => (
        <li key={to}>
          {/* The areas name their paths as text; a test holds them against the routes. */}
          <Link
            to={to as '/'}
            activeOptions={{ exact: to === '/', includeSearch: false }}
            className={classes.link}
            title={key === undefined ? undefined : `g ${key}`}
          >
            <Icon name={icon} />
            {label}
          </Link>
        </li>
      ))}
    </ul>
  );
}
