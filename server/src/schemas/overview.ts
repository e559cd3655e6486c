// The overview on the wire: what needs somebody in a workspace, and what was released.
// Presents what was read; decides nothing.

import { z } from 'zod';
import type { Milestone } from '../domain/milestone.ts';
import type { MonthTotals, PaymentTotals } from '../domain/totals.ts';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import { milestoneExample, milestoneResource, presentMilestone } from './milestones.ts';
import { countField, currencyField } from './text.ts';
import { paymentTotalsExample, sumField, sumResource } from './totals.ts';
import { presentWebhookEndpoint, webhookEndpointExample, webhookEndpointResource } from './webhook-endpoints.ts';

/** How many records each part of the overview shows. */
export const OVERVIEW_RECORDS = 5;
/** How many months it goes back, the current one included. */
export const OVERVIEW_MONTHS = 12;

const failingEndpointExample = {
  ...webhookEndpointExample,
  breaker: 'open' as const,
  consecutive_failures: 12,
  failing_since: '2026-03-20T16:05:12.345Z',
  next_probe_at: '2026-03-20T18:05:12.345Z',
};

export const overviewExample = {
  object: 'overview' as const,
  today: '2026-03-21',
  awaiting_approval: { count: 1, milestones: [milestoneExample] },
  overdue: { count: 0, milestones: [] },
  failing_endpoints: { count: 1, webhook_endpoints: [failingEndpointExample] },
  months: ['2026-02', '2026-03'],
  released: [{ month: '2026-03', currency: 'USD', count: 2, amount: 300000 }],
  totals: paymentTotalsExample.currencies,
  latest_event_seq: 4,
};

const someMilestones = (id: string, description: string, which: string) =>
  z
    .object({ count: countField('How many there are.'), milestones: z.array(milestoneResource).meta({ description: which }) })
    .meta({ id, description, example: { count: 1, milestones: [milestoneExample] } });

export const overviewResource = z
  .object({
    object: z.literal('overview'),
    today: z.string().meta({ description: "The day in the workspace's time zone, YYYY-MM-DD.", example: '2026-03-21' }),
    awaiting_approval: someMilestones(
      'AwaitingApproval',
      'Milestones that are submitted.',
      `Up to ${OVERVIEW_RECORDS}, those that have waited longest first.`,
    ),
    overdue: someMilestones(
      'Overdue',
      'Milestones whose due date has passed and that are neither submitted nor final.',
      `Up to ${OVERVIEW_RECORDS}, those that are due for longest first.`,
    ),
    failing_endpoints: z.object({ count: countField('How many there are.'), webhook_endpoints: z.array(webhookEndpointResource) }).meta({
      id: 'FailingEndpoints',
      description: `Endpoints that do not acknowledge, or that were disabled for it. Up to ${OVERVIEW_RECORDS} are shown, newest first.`,
      example: overviewExample.failing_endpoints,
    }),
    months: z.array(z.string()).meta({
      description: `The last ${OVERVIEW_MONTHS} months of the workspace's time zone, oldest first, the current one included.`,
    }),
    released: z.array(
      z
        .object({
          month: z.string().meta({ description: 'YYYY-MM.', example: '2026-03' }),
          currency: currencyField(),
          count: countField('Payments released.'),
          amount: sumField('Together, in minor units of the currency.'),
        })
        .meta({ id: 'ReleasedInMonth', description: 'What was released in one month.', example: overviewExample.released[0] }),
    ),
    totals: z
      .array(
        z
          .object({ currency: currencyField(), pending: sumResource, released: sumResource })
          .meta({ id: 'OverviewTotals', description: 'Payments in one currency.', example: overviewExample.totals[0] }),
      )
      .meta({ description: 'What waits for its release, and what was released in those months.' }),
    latest_event_seq: countField('The `seq` of the last event, 0 before the first. `GET /v1/events` goes on from any number before it.'),
  })
  .meta({ id: 'Overview', description: 'What needs somebody, and what was released.', example: overviewExample });

export interface Overview {
  readonly today: string;
  readonly awaitingApproval: { readonly count: number; readonly milestones: readonly Milestone[] };
  readonly overdue: { readonly count: number; readonly milestones: readonly Milestone[] };
  readonly failingEndpoints: { readonly count: number; readonly endpoints: readonly WebhookEndpoint[] };
  readonly months: readonly string[];
  readonly released: readonly MonthTotals[];
  readonly totals: readonly PaymentTotals[];
  readonly latestEventSeq: number;
}

export function presentOverview(overview: Overview): object {
  const { awaitingApproval, overdue, failingEndpoints } = overview;
  return {
    object: 'overview',
    today: overview.today,
    awaiting_approval: { count: awaitingApproval.count, milestones: awaitingApproval.milestones.map(presentMilestone) },
    overdue: { count: overdue.count, milestones: overdue.milestones.map(presentMilestone) },
    failing_endpoints: {
      count: failingEndpoints.count,
      webhook_endpoints: failingEndpoints.endpoints.map(presentWebhookEndpoint),
    },
    months: overview.months,
    released: overview.released,
    totals: overview.totals,
    latest_event_seq: overview.latestEventSeq,
  };
}
