// What each role may do, for whoever wonders what theirs or another's is good for.
// Words only.

import { Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { roleWords } from './roles.ts';
import classes from './settings.module.css';

export function RolesExplained(): ReactNode {
  return (
    <section className={classes.section} aria-labelledby="roles">
      <Title order={2} id="roles" mb="xs">
        What roles may do
      </Title>
      <dl className={classes.roles}>
        {roleWords.map(({ role, label, may, mayNot }) => (
          <div key={role}>
            <dt>{label}</dt>
            <dd>
              {may}
              {mayNot !== null && <span className={classes.faint}> Not: {mayNot.charAt(0).toLowerCase() + mayNot.slice(1)}</span>}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
