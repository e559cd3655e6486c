// What waits for somebody: milestones to approve, milestones that are late, endpoints that fail. Each leads to where it is dealt with.
// Shows what the overview holds; what is beyond its first few opens beside the page.

import { Button, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useWords } from '../../app/words.ts';
import { client } from '../../client/client.ts';
import { itemsOf, keys, useList } from '../../client/queries.ts';
import type { Milestone, Overview, WebhookEndpoint } from '../../client/sdk.ts';
import { useCan } from '../../session/session.tsx';
import { DetailDrawer } from '../../ui/detail-drawer.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Money } from '../../ui/money.tsx';
import { Rows } from '../../ui/skeletons.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { Day, PlainTimes, Time } from '../../ui/time.tsx';
import { healthOf } from '../developers/endpoint-health.tsx';
import classes from './home.module.css';
import { Panel } from './panel.tsx';

export function NeedsAttention({ overview }: { readonly overview: Overview }): ReactNode {
  const { awaiting_approval: waiting, overdue, failing_endpoints: failing, today } = overview;
  const mayApprove = useCan('milestones:approve');
  return (
    <PlainTimes value={true}>
      <div className={classes.board}>
        <Panel title={mayApprove ? 'Awaiting your approval' : 'Awaiting approval'} count={waiting.count} tone="attention">
          {waiting.count === 0 && <p className={classes.calm}>Nothing is submitted.</p>}
          <Milestones milestones={waiting.milestones} when={submitted} />
          <More count={waiting.count} shown={waiting.milestones.length} word="waiting" />
        </Panel>
        <Panel title="Overdue" count={overdue.count} tone="bad">
          {overdue.count === 0 && <p className={classes.calm}>Nothing is late.</p>}
          <Milestones milestones={overdue.milestones} when={due} />
          <More count={overdue.count} shown={overdue.milestones.length} word="overdue" />
        </Panel>
        <Panel title="Failing endpoints" count={failing.count} tone="bad">
          {failing.count === 0 && <p className={classes.calm}>Every webhook endpoint answers.</p>}
          <Endpoints endpoints={failing.webhook_endpoints} />
          {failing.count > failing.webhook_endpoints.length && (
            <TextLink href="/developers/webhooks" className={classes.more}>
              All webhook endpoints
            </TextLink>
          )}
        </Panel>
      </div>
      <AllOfThem today={today} />
    </PlainTimes>
  );
}

const submitted = ({ submitted_at }: Milestone): ReactNode => <Time at={submitted_at} as="relative" />;
const due = ({ due_date }: Milestone): ReactNode => (
  <>
    due <Day day={due_date} />
  </>
);

function Milestones({
  milestones,
  when,
}: {
  readonly milestones: readonly Milestone[];
  readonly when: (milestone: Milestone) => ReactNode;
}): ReactNode {
  return (
    <ul className={classes.list}>
      {milestones.map((milestone) => (
        <li key={milestone.id}>
          <TextLink href={`/projects/${milestone.project_id}?open=${milestone.id}`} className={classes.item}>
            <span className={classes.name}>{milestone.title}</span>
            <Money amount={milestone.amount} currency={milestone.currency} />
            <span className={classes.faint}>
              <ProjectName id={milestone.project_id} />
            </span>
            <span className={classes.faint}>{when(milestone)}</span>
          </TextLink>
        </li>
      ))}
    </ul>
  );
}

/** Names change seldom; the few of this page are kept while it is looked at. */
const NAME_STALE_MS = 5 * 60_000;

function ProjectName({ id }: { readonly id: string }): ReactNode {
  const { data } = useQuery({
    queryKey: keys.one('projects', id),
    queryFn: async () => await client.projects.retrieve(id),
    staleTime: NAME_STALE_MS,
  });
  return data?.name ?? '…';
}

function Endpoints({ endpoints }: { readonly endpoints: readonly WebhookEndpoint[] }): ReactNode {
  return (
    <ul className={classes.list}>
      {endpoints.map((endpoint) => {
        const { id, url, description, consecutive_failures: failures, failing_since: since } = endpoint;
        return (
          <li key={id}>
            <TextLink href={`/developers/webhooks/${id}`} className={classes.item}>
              <span className={classes.name}>{description ?? url}</span>
              <span>{healthOf(endpoint).label}</span>
              <span className={classes.faint}>{failures === 1 ? '1 failed attempt' : `${failures} failed attempts`}</span>
              <span className={classes.faint}>
                began <Time at={since} as="relative" />
              </span>
            </TextLink>
          </li>
        );
      })}
    </ul>
  );
}

function More({ count, shown, word }: { readonly count: number; readonly shown: number; readonly word: string }): ReactNode {
  const { href } = useWords();
  if (count <= shown) return null;
  return (
    <TextLink href={href({ all: word })} className={classes.more}>
      Show all {count}
    </TextLink>
  );
}

/** Every milestone of one kind, beside the page: `?all=waiting`, `?all=overdue`. */
function AllOfThem({ today }: { readonly today: string }): ReactNode {
  const { words, set } = useWords();
  const { all } = words;
  return (
    <DetailDrawer
      opened={all === 'waiting' || all === 'overdue'}
      onClose={() => set({ all: undefined })}
      title={all === 'waiting' ? 'Awaiting approval' : 'Overdue'}
    >
      <MilestoneList
        filters={all === 'waiting' ? { status: 'submitted' } : { due_before: today }}
        when={all === 'waiting' ? submitted : due}
      />
    </DetailDrawer>
  );
}

interface MilestoneListProps {
  readonly filters: { readonly status?: 'submitted'; readonly due_before?: string };
  readonly when: (milestone: Milestone) => ReactNode;
}

function MilestoneList({ filters, when }: MilestoneListProps): ReactNode {
  const query = useList({ resource: 'milestones', filters, load: (cursor) => client.milestones.list({ ...filters, ...cursor }) });
  if (query.isPending) return <Rows count={6} />;
  if (query.data === undefined) return <ErrorNotice error={query.error} retry={() => void query.refetch()} />;
  return (
    <Stack gap="sm">
      <Milestones milestones={itemsOf(query)} when={when} />
      {query.hasNextPage && (
        <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Load more
        </Button>
      )}
    </Stack>
  );
}
