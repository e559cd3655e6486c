// The events of a project, newest first, each with its payload: as they are in the log, and as they happen.
// The server looks for them a stretch of the log at a time, from the latest back to where the project begins.

import { Button, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { client } from '../../client/client.ts';
import { itemsOf, useList } from '../../client/queries.ts';
import type { Project } from '../../client/sdk.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { dateAndTimeText } from '../../ui/moments.ts';
import { Rows } from '../../ui/skeletons.tsx';
import { Time } from '../../ui/time.tsx';
import classes from './events-section.module.css';

export function EventsSection({ project }: { readonly project: Project }): ReactNode {
  const query = useList({
    resource: 'events',
    filters: { project_id: project.id },
    cursor: 'before_seq',
    load: (cursor) => client.events.list({ order: 'desc', project_id: project.id, ...cursor }),
  });
  const events = itemsOf(query);
  if (query.isPending) {
    return (
      <div role="status" aria-busy="true" aria-label="Loading">
        <Rows count={6} />
      </div>
    );
  }
  if (query.data === undefined) return <ErrorNotice error={query.error} retry={() => void query.refetch()} />;
  return (
    <>
      {events.length === 0 && !query.hasNextPage && (
        <EmptyState title="No events" curl={{ path: '/v1/events' }}>
          What happens to the project and its milestones stands here, and goes to your webhooks:
        </EmptyState>
      )}
      <ol className={classes.events} aria-label="Events of the project">
        {events.map(({ id, seq, type, created_at, data }) => {
          const payload = JSON.stringify(data, null, 2);
          return (
            <li key={id}>
              <details>
                <summary>
                  <code>{type}</code>
                  <span className={classes.about}>{typeof data.title === 'string' ? data.title : ''}</span>
                  <span className={classes.when}>
                    #{seq} · <time dateTime={created_at}>{dateAndTimeText(new Date(created_at))}</time>
                  </span>
                </summary>
                <Group gap="xs" align="flex-start" wrap="nowrap" mt={6}>
                  {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than the page is scrolled with the keys. */}
                  <pre className={classes.payload} tabIndex={0}>
                    {payload}
                  </pre>
                  <CopyButton text={payload} label="Copy the payload" />
                </Group>
                <Text size="xs" c="dimmed">
                  {id} · <Time at={created_at} />
                </Text>
              </details>
            </li>
          );
        })}
      </ol>
      {query.hasNextPage && (
        <Group py="sm">
          <Text size="sm" c="dimmed">
            {events.length === 0 ? 'None among the latest events.' : `${events.length} shown.`} There may be earlier ones.
          </Text>
          <Button variant="default" size="compact-sm" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Look further
          </Button>
        </Group>
      )}
    </>
  );
}
