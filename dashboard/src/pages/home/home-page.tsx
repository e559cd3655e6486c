// What needs me: the front page. One answer of the server for what waits and what was released, and the log as it grows.
// Approves and releases nothing; every entry leads to the page that can.

import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { client } from '../../client/client.ts';
import { keys } from '../../client/queries.ts';
import { useSession } from '../../session/session.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Rows } from '../../ui/skeletons.tsx';
import { Day } from '../../ui/time.tsx';
import { FirstRun } from './first-run.tsx';
import classes from './home.module.css';
import { LatestEvents } from './latest-events.tsx';
import { NeedsAttention } from './needs-attention.tsx';
import { Released } from './released.tsx';

export function HomePage(): ReactNode {
  const { workspace } = useSession();
  const overview = useQuery({
    queryKey: keys.other('overview', 'now', workspace.id),
    queryFn: async () => await client.overview.retrieve(),
  });
  const { data } = overview;
  if (data === undefined) {
    return (
      <>
        <PageHeader title="Home" />
        {overview.isError ? <ErrorNotice error={overview.error} retry={() => void overview.refetch()} /> : <HomeSkeleton />}
      </>
    );
  }
  if (data.latest_event_seq === 0) return <FirstRun />;
  return (
    <>
      <PageHeader title="Home" description={<Day day={data.today} />} />
      {overview.isError && (
        <Text c="dimmed" size="sm" mb="sm" role="status">
          Shown as of the last answer; asking again failed.
        </Text>
      )}
      <NeedsAttention overview={data} />
      <div className={classes.lower}>
        <Released overview={data} />
        <LatestEvents latestSeq={data.latest_event_seq} />
      </div>
    </>
  );
}

function HomeSkeleton(): ReactNode {
  return (
    <div className={classes.board} role="status" aria-busy="true" aria-label="Loading">
      {['waiting', 'overdue', 'failing'].map((part) => (
        <div key={part} className={classes.panel}>
          <Rows count={4} />
        </div>
      ))}
    </div>
  );
}
