// One milestone beside its project: everything about it, what was handed in, what it paid, and its moves.
// What it shows is handed in; only its payment is asked for here.

import { Anchor, Button, Divider, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { client } from '../../client/client.ts';
import { keys } from '../../client/queries.ts';
import type { Milestone, Project } from '../../client/sdk.ts';
import { useCan } from '../../session/session.tsx';
import { Id } from '../../ui/copy-button.tsx';
import { DetailDrawer, Details } from '../../ui/detail-drawer.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Money } from '../../ui/money.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { Day, Time } from '../../ui/time.tsx';
import { MilestoneMoves } from './milestone-moves.tsx';
import classes from './milestones.module.css';
import { editableOf, type Move } from './moves.ts';

export interface MilestoneDrawerProps {
  readonly milestone: Milestone;
  readonly project: Project;
  readonly onClose: () => void;
  readonly onEdit: () => void;
  readonly onAsk: (move: Move, milestone: Milestone) => void;
}

export function MilestoneDrawer({ milestone, project, onClose, onEdit, onAsk }: MilestoneDrawerProps): ReactNode {
  const mayWrite = useCan('milestones:write');
  const isEditable = mayWrite && editableOf(milestone).details;
  return (
    <DetailDrawer opened onClose={onClose} title="Milestone">
      <Stack gap="md">
        <div>
          <Title order={2} style={{ overflowWrap: 'anywhere' }}>
            {milestone.title}
          </Title>
          <Group gap="md" mt={4}>
            <Text size="lg" fw={600} component="span">
              <Money amount={milestone.amount} currency={milestone.currency} />
            </Text>
            <StatusBadge status={milestone.status} />
          </Group>
        </div>
        <Group gap={6}>
          <MilestoneMoves milestone={milestone} project={project} onAsk={onAsk} />
          {isEditable && (
            <Button variant="default" onClick={onEdit} leftSection={<Icon name="edit" size={16} />}>
              Edit
            </Button>
          )}
        </Group>
        {project.status === 'archived' && (
          <Text size="sm" c="dimmed">
            The project is archived: its milestones cannot be moved until it is active again.
          </Text>
        )}
        {milestone.reason !== null && (
          <Said title={milestone.status === 'cancelled' ? 'Why it was cancelled' : 'Changes that were requested'} text={milestone.reason} />
        )}
        {milestone.description !== null && <Said title="Description" text={milestone.description} />}
        {milestone.submission !== null && (
          <div>
            <Title order={3} mb={4}>
              Handed in <Time at={milestone.submitted_at} as="relative" />
            </Title>
            {milestone.submission.note !== null && <p className={classes.prose}>{milestone.submission.note}</p>}
            <Links links={milestone.submission.links} />
          </div>
        )}
        <Divider />
        <Facts milestone={milestone} />
        {milestone.status === 'approved' && <Paid milestone={milestone} />}
      </Stack>
    </DetailDrawer>
  );
}

function Said({ title, text }: { readonly title: string; readonly text: string }): ReactNode {
  return (
    <div>
      <Title order={3} mb={4}>
        {title}
      </Title>
      <p className={classes.prose}>{text}</p>
    </div>
  );
}

/** Only addresses of the web are links; anything else that was stored is text. */
function Links({ links }: { readonly links: readonly string[] }): ReactNode {
  if (links.length === 0) return null;
  return (
    <ul className={classes.links}>
      {links.map((link) => (
        <li key={link}>
          {/^https?:\/\//i.test(link) ? (
            <Anchor href={link} target="_blank" rel="noopener noreferrer" size="sm">
              {link}
            </Anchor>
          ) : (
            link
          )}
        </li>
      ))}
    </ul>
  );
}

function Facts({ milestone }: { readonly milestone: Milestone }): ReactNode {
  const metadata = Object.entries(milestone.metadata).map(([label, value]) => ({ label, value }));
  return (
    <>
      <Details
        items={[
          { label: 'Due', value: <Day day={milestone.due_date} /> },
          { label: 'Payee', value: milestone.payee_id },
          { label: 'Created', value: <Time at={milestone.created_at} /> },
          ...(milestone.submitted_at === null ? [] : [{ label: 'Submitted', value: <Time at={milestone.submitted_at} /> }]),
          ...(milestone.approved_at === null ? [] : [{ label: 'Approved', value: <Time at={milestone.approved_at} /> }]),
          { label: 'Last change', value: <Time at={milestone.updated_at} /> },
          { label: 'Id', value: <Id id={milestone.id} /> },
        ]}
      />
      {metadata.length > 0 && (
        <div>
          <Title order={3} mb={4}>
            Metadata
          </Title>
          <Details items={metadata} />
        </div>
      )}
    </>
  );
}

function Paid({ milestone }: { readonly milestone: Milestone }): ReactNode {
  const { data } = useQuery({
    queryKey: keys.other('payments', 'of-milestone', milestone.id),
    queryFn: async () => (await client.payments.list({ milestone_id: milestone.id, limit: 1 })).data,
  });
  const payment = data?.[0];
  if (payment === undefined) return null;
  return (
    <div>
      <Title order={3} mb={4}>
        Money
      </Title>
      <Details
        items={[
          {
            label: 'Payment',
            value: (
              <Group gap="sm">
                <TextLink href={`/payments?open=${payment.id}`}>
                  <Money amount={payment.amount} currency={payment.currency} />
                </TextLink>
                <StatusBadge status={payment.status} />
              </Group>
            ),
          },
          { label: 'Released', value: <Time at={payment.released_at} /> },
          { label: 'Invoice', value: <TextLink href={`/invoices/${payment.invoice_id}`}>Open the invoice</TextLink> },
        ]}
      />
    </div>
  );
}
