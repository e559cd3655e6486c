// One entry of the audit log, with each field as it was and as it became.
// Reads only.

import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { AuditEntry } from '../../client/sdk.ts';
import { Id } from '../../ui/copy-button.tsx';
import { Details } from '../../ui/detail-drawer.tsx';
import { wordsOf } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { wordsOfActor } from './audit-words.ts';
import { browserWords } from './browser-words.ts';
import classes from './settings.module.css';

export function AuditEntryDetails({ entry, subject }: { readonly entry: AuditEntry; readonly subject: string | null }): ReactNode {
  const { actor, target, occurred_at, ip, user_agent, changes } = entry;
  return (
    <Stack gap="lg">
      <Details
        items={[
          { label: 'When', value: <Time at={occurred_at} /> },
          { label: 'Who', value: wordsOfActor(actor) },
          ...(actor.id === null ? [] : [{ label: actor.type === 'key' ? 'Key' : 'Person', value: <Id id={actor.id} /> }]),
          { label: 'Subject', value: subject ?? wordsOf(target.type) },
          { label: wordsOf(target.type), value: <Id id={target.id} /> },
          { label: 'Address', value: ip },
          { label: 'Program', value: user_agent === null ? null : <span title={user_agent}>{browserWords(user_agent)}</span> },
          { label: 'Entry', value: <Id id={entry.id} /> },
        ]}
      />
      {changes.length === 0 ? (
        <Text c="dimmed" size="sm">
          No field is recorded with it.
        </Text>
      ) : (
        <table className={classes.changes}>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Was</th>
              <th scope="col">Is</th>
            </tr>
          </thead>
          <tbody>
            {changes.map(({ field, from, to }) => (
              <tr key={field}>
                <th scope="row">{wordsOf(field)}</th>
                <td>{from ?? '–'}</td>
                <td>{to ?? '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Stack>
  );
}
