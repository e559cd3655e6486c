// Where one is signed in, and ending what one does not know.
// The session of this browser ends by signing out, in the menu.

import { Button, Group, Text, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { client } from '../../client/client.ts';
import { itemsOf, keys, queryClient, useList } from '../../client/queries.ts';
import type { Session } from '../../client/sdk.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { notify } from '../../ui/notices.tsx';
import { Rows } from '../../ui/skeletons.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Time } from '../../ui/time.tsx';
import { browserWords } from './browser-words.ts';
import classes from './settings.module.css';

export const sessionsChanged = (): Promise<void> => queryClient.invalidateQueries({ queryKey: keys.list('sessions') });

async function end(sessions: readonly Session[]): Promise<void> {
  for (const { id } of sessions) await client.account.revokeSession(id);
  notify(sessions.length === 1 ? 'The session has ended' : `${sessions.length} sessions have ended`);
  await sessionsChanged();
}

export function Sessions(): ReactNode {
  const [ending, setEnding] = useState<readonly Session[] | null>(null);
  const query = useList({ resource: 'sessions', load: (cursor) => client.account.listSessions(cursor) });
  // This browser's first; the others as the server lists them.
  const sessions = [...itemsOf(query)].sort((a, b) => Number(b.current) - Number(a.current));
  const others = sessions.filter(({ current }) => !current);
  return (
    <section className={classes.card} aria-labelledby="sessions">
      <Group justify="space-between" gap="sm">
        <Title order={2} id="sessions">
          Sessions
        </Title>
        {others.length > 1 && (
          <Button variant="default" size="compact-sm" onClick={() => setEnding(others)}>
            End all others
          </Button>
        )}
      </Group>
      <Text c="dimmed" size="sm">
        Where you are signed in. A session ends after 30 days, or 7 without use.
      </Text>
      {query.isPending && <Rows count={2} />}
      {query.isError && <ErrorNotice error={query.error} retry={() => void query.refetch()} />}
      <ul className={classes.list}>
        {sessions.map((session) => (
          <li key={session.id}>
            <Row session={session} end={() => setEnding([session])} />
          </li>
        ))}
      </ul>
      {query.hasNextPage && (
        <Button variant="default" size="compact-sm" mt="xs" onClick={() => void query.fetchNextPage()}>
          Load more
        </Button>
      )}
      <ConfirmDialog
        opened={ending !== null}
        onClose={() => setEnding(null)}
        danger
        title={ending !== null && ending.length > 1 ? `End ${ending.length} sessions?` : 'End this session?'}
        effect="Whoever uses it has to sign in again. If you do not know it, change your password as well."
        confirm="End"
        onConfirm={() => end(ending ?? [])}
      />
    </section>
  );
}

function Row({ session, end }: { readonly session: Session; readonly end: () => void }): ReactNode {
  const { current, ip, user_agent, last_used_at, created_at } = session;
  const what = browserWords(user_agent);
  return (
    <Group justify="space-between" gap="sm" wrap="nowrap" py={10}>
      <div className={classes.person}>
        <span title={user_agent ?? undefined}>{what}</span>
        <span className={classes.faint}>
          {ip ?? 'unknown address'} · used <Time at={last_used_at} as="relative" /> · since <Time at={created_at} as="date" />
        </span>
      </div>
      {current ? (
        <StatusBadge status="current" label="This browser" tone="good" />
      ) : (
        <Button variant="default" size="compact-sm" onClick={end} aria-label={`End the session of ${what}`}>
          End
        </Button>
      )}
    </Group>
  );
}
