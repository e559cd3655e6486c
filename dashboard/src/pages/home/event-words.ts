// An event of the log in words a person reads: what it is about, the money in it, and the page that shows more.
// Pure. Payloads come from the log as they are; what is missing in one is left out, never guessed.

import type { Event, EventType } from '../../client/sdk.ts';
import { formatMoney } from '../../ui/amount.ts';

export interface EventWords {
  readonly title: string;
  /** The subject: a title, a number, an address. */
  readonly about: string | null;
  readonly amount: string | null;
  readonly href: string | null;
}

const titles: Readonly<Record<EventType, string>> = {
  'project.created': 'Project created',
  'project.archived': 'Project archived',
  'milestone.created': 'Milestone created',
  'milestone.submitted': 'Milestone submitted',
  'milestone.approved': 'Milestone approved',
  'milestone.changes_requested': 'Changes requested',
  'milestone.cancelled': 'Milestone cancelled',
  'payment.released': 'Payment released',
  'invoice.issued': 'Invoice issued',
  'webhook_endpoint.disabled': 'Webhook endpoint disabled',
};

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

function hrefOf({ projectId, milestoneId, invoiceId, endpointId }: Event['data']): string | null {
  const [project, milestone, invoice, endpoint] = [text(projectId), text(milestoneId), text(invoiceId), text(endpointId)];
  if (endpoint !== null) return `/developers/webhooks/${endpoint}`;
  if (invoice !== null) return `/invoices/${invoice}`;
  if (project === null) return null;
  return milestone === null ? `/projects/${project}` : `/projects/${project}?open=${milestone}`;
}

export function eventWords({ type, data }: Event): EventWords {
  const minor = data.amount ?? data.total;
  const currency = text(data.currency);
  return {
    // A server newer than this page may tell of kinds that it does not know.
    title: titles[type] ?? type,
    about: text(data.title) ?? text(data.name) ?? text(data.number) ?? text(data.url),
    amount: typeof minor === 'number' && Number.isSafeInteger(minor) && currency !== null ? formatMoney(minor, currency) : null,
    href: hrefOf(data),
  };
}
