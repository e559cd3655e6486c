// What webhooks carry: the exact body {"event","data"} of every type of event, for the document and for whoever verifies it.
// Describes only; the bytes are made in the domain.

import { z } from 'zod';
import { allEventTypes, type EventType, eventTypes } from '../domain/event.ts';
import { amountField, currencyField, exampleId, idField, timestamp } from './text.ts';

const projectId = idField('project');
const milestoneId = idField('milestone');

const projectData = z
  .strictObject({ projectId, name: z.string(), clientId: z.string().meta({ description: 'Your own id of the client.' }) })
  .meta({ id: 'ProjectEventData', description: 'The payload of the events of a project.' });

const milestoneData = z
  .strictObject({
    projectId,
    milestoneId,
    title: z.string(),
    amount: amountField('In minor units of the currency.'),
    currency: currencyField(),
  })
  .meta({ id: 'MilestoneEventData', description: 'The payload of the events of a milestone.' });

const paymentData = z
  .strictObject({ projectId, milestoneId, amount: amountField('In minor units of the currency.'), currency: currencyField() })
  .meta({ id: 'PaymentReleasedData', description: 'The payload of `payment.released`.' });

const invoiceData = z
  .strictObject({
    projectId,
    milestoneId,
    invoiceId: idField('invoice'),
    number: z.string().meta({ example: 'INV-000042' }),
    total: amountField('In minor units of the currency.'),
    currency: currencyField(),
  })
  .meta({ id: 'InvoiceIssuedData', description: 'The payload of `invoice.issued`.' });

const endpointData = z
  .strictObject({
    endpointId: idField('webhook_endpoint'),
    url: z.string(),
    reason: z.string(),
    failingSince: timestamp('Since when every attempt had failed; null when the endpoint said itself that it is gone.').nullable(),
  })
  .meta({ id: 'WebhookEndpointDisabledData', description: 'The payload of `webhook_endpoint.disabled`.' });

const ids = { projectId: exampleId('project'), milestoneId: exampleId('milestone', 2) };
const projectDataExample = { projectId: ids.projectId, name: 'New website', clientId: 'client_42' };
const milestoneDataExample = { ...ids, title: 'Design', amount: 150000, currency: 'USD' };

const payloads = {
  'project.created': { data: projectData, example: projectDataExample },
  'milestone.submitted': { data: milestoneData, example: milestoneDataExample },
  'milestone.approved': { data: milestoneData, example: milestoneDataExample },
  'payment.released': { data: paymentData, example: { ...ids, amount: 150000, currency: 'USD' } },
  'milestone.created': { data: milestoneData, example: milestoneDataExample },
  'milestone.changes_requested': { data: milestoneData, example: milestoneDataExample },
  'milestone.cancelled': { data: milestoneData, example: milestoneDataExample },
  'invoice.issued': {
    data: invoiceData,
    example: { ...ids, invoiceId: exampleId('invoice', 4), number: 'INV-000042', total: 150000, currency: 'USD' },
  },
  'project.archived': { data: projectData, example: projectDataExample },
  'webhook_endpoint.disabled': {
    data: endpointData,
    example: {
      endpointId: exampleId('webhook_endpoint', 8),
      url: 'https://example.com/hooks/tranche',
      reason: 'Every attempt since 2026-03-21T08:00:00.000Z failed.',
      failingSince: '2026-03-21T08:00:00.000Z',
    },
  },
} as const satisfies Record<EventType, { data: z.ZodType; example: object }>;

/** `milestone.changes_requested` → `MilestoneChangesRequestedWebhook`. */
function componentName(type: EventType): string {
  const words = type.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}Webhook`;
}

export interface WebhookPayload {
  readonly type: EventType;
  readonly summary: string;
  /** Strict: the body has these two fields and no other. */
  readonly schema: z.ZodType<{ event: EventType; data: object }>;
  readonly example: { readonly event: EventType; readonly data: object };
}

/** One per type of event. */
export const webhookPayloads: readonly WebhookPayload[] = allEventTypes.map((type) => {
  const { data, example } = payloads[type];
  const body = { event: type, data: example };
  const schema = z
    .strictObject({ event: z.literal(type), data })
    .meta({ id: componentName(type), description: `The body of a webhook: ${eventTypes[type]}`, example: body });
  return { type, summary: eventTypes[type], schema: schema as WebhookPayload['schema'], example: body };
});
