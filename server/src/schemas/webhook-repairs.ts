// Repairs on the wire: the resource, what asks for one, and the presenter.
// Which combinations make sense is said here; what a repair does is the business of the domain and the store.

import { z } from 'zod';
import { deliveryStatuses } from '../domain/delivery.ts';
import { allEventTypes } from '../domain/event.ts';
import { encodeId } from '../domain/ids.ts';
import { allRepairActions, repairActions, repairStatuses, type WebhookRepair } from '../domain/webhook-repair.ts';
import { deliveryStatus } from './deliveries.ts';
import { eventType } from './events.ts';
import { listOf, listQuery } from './lists.ts';
import { countField, exampleId, idField, idFilter, moment, orEmpty, setOf, timestamp, wanted } from './text.ts';

export const repairAction = z.enum(allRepairActions, wanted(`one of ${allRepairActions.join(', ')}`)).meta({
  id: 'WebhookRepairAction',
  description: Object.entries(repairActions)
    .map(([action, meaning]) => `\`${action}\`: ${meaning}`)
    .join(' '),
});

const repairStatus = z.enum(repairStatuses).meta({
  id: 'WebhookRepairStatus',
  description: 'A pending or running repair goes on by itself, over restarts too; the others are over.',
});

export const webhookRepairExample = {
  id: exampleId('webhook_repair', 11),
  object: 'webhook_repair' as const,
  action: 'replay' as const,
  dry_run: true,
  endpoint_id: null,
  event_types: ['payment.released' as const],
  statuses: ['failed' as const],
  project_id: null,
  since: '2026-03-20T00:00:00.000Z',
  until: null,
  status: 'completed' as const,
  stopped_reason: null,
  matched: 1204,
  changed: 0,
  created_at: '2026-03-21T09:00:00.000Z',
  completed_at: '2026-03-21T09:00:00.000Z',
};

export const webhookRepairResource = z
  .object({
    id: idField('webhook_repair'),
    object: z.literal('webhook_repair'),
    action: repairAction,
    dry_run: z.boolean().meta({ description: 'Whether it only counts.' }),
    endpoint_id: idField('webhook_endpoint').nullable(),
    event_types: z.array(eventType).nullable().meta({ description: 'Null: every kind.' }),
    statuses: z.array(deliveryStatus).meta({ description: 'Of the deliveries; empty with `recover`.' }),
    project_id: idField('project').nullable(),
    since: timestamp('Of the events; null: from the beginning.').nullable(),
    until: timestamp('Of the events; null: up to the moment the repair was asked for.').nullable(),
    status: repairStatus,
    stopped_reason: z.string().nullable().meta({ description: 'Why it was stopped; null otherwise.' }),
    matched: countField('What the filter has matched so far; all of it once completed.'),
    changed: countField('Of these, what was made due again, added or cancelled so far. 0 with a dry run.'),
    created_at: timestamp('When it was asked for.'),
    completed_at: timestamp('When it was over; null before.').nullable(),
  })
  .meta({ id: 'WebhookRepair', description: 'Bulk work on deliveries, and how far it has come.', example: webhookRepairExample });

export function presentWebhookRepair(repair: WebhookRepair): z.output<typeof webhookRepairResource> {
  return {
    id: encodeId('webhook_repair', repair.id),
    object: 'webhook_repair',
    action: repair.action,
    dry_run: repair.dryRun,
    endpoint_id: repair.endpointId === null ? null : encodeId('webhook_endpoint', repair.endpointId),
    event_types: repair.eventTypes === null ? null : [...repair.eventTypes],
    statuses: [...repair.statuses],
    project_id: repair.projectId === null ? null : encodeId('project', repair.projectId),
    since: repair.since?.toISOString() ?? null,
    until: repair.until?.toISOString() ?? null,
    status: repair.status,
    stopped_reason: repair.reason,
    matched: repair.matched,
    changed: repair.changed,
    created_at: repair.createdAt.toISOString(),
    completed_at: repair.completedAt?.toISOString() ?? null,
  };
}

export const webhookRepairList = listOf('WebhookRepairList', webhookRepairResource, webhookRepairExample);
export const webhookRepairListQuery = listQuery('webhook_repair', {});

export const webhookRequest = orEmpty(
  z
    .strictObject({})
    .meta({ id: 'WebhookRequest', description: 'No fields: what is to happen is in the path. Send an empty object or nothing.' }),
);

export const webhookRepairCreateExample = {
  action: 'replay',
  event_types: ['payment.released'],
  statuses: ['failed'],
  since: '2026-03-20T00:00:00Z',
  dry_run: true,
};

const statusList = setOf(deliveryStatus, deliveryStatuses.length, 'delivery status');
const eventTypeList = setOf(eventType, allEventTypes.length, 'event type');

export const webhookRepairCreate = z
  .strictObject({
    action: repairAction,
    endpoint_id: idFilter('webhook_endpoint')
      .optional()
      .meta({ description: 'Only this endpoint. Required with `recover`; left out otherwise: every enabled endpoint.' }),
    event_types: eventTypeList
      .optional()
      .meta({ description: 'Only these kinds. With `recover` at most those that the endpoint is sent. Default: every kind.' }),
    statuses: statusList.optional().meta({
      description:
        'With `replay` only: deliveries in one of these. With `pending`, what waits for its next attempt is sent at once. Default: `failed`.',
    }),
    project_id: idFilter('project').optional().meta({ description: 'Only events of this project.' }),
    since: moment.optional().meta({ description: 'Only events of this moment and later (RFC 3339). Required with `recover`.' }),
    until: moment.optional().meta({ description: 'Only events before this moment (RFC 3339).' }),
    dry_run: z
      .boolean(wanted('true or false'))
      .optional()
      .meta({ description: 'Say how many it would be, and change nothing. Default: false.' }),
  })
  .check((check) => {
    const { action, endpoint_id, statuses, since, until } = check.value;
    const refuse = (field: string, message: string): void => {
      check.issues.push({ code: 'custom', path: [field], input: check.value, message });
    };
    if (action === 'recover' && endpoint_id === undefined) refuse('endpoint_id', 'Required with recover: the endpoint that missed events.');
    if (action === 'recover' && since === undefined) refuse('since', 'Required with recover: the time from which on events were missed.');
    if (action !== 'replay' && statuses !== undefined) refuse('statuses', `Only with replay; ${action} has its own.`);
    if (since !== undefined && until !== undefined && until <= since) refuse('until', 'Must lie after since.');
  })
  .meta({ id: 'WebhookRepairCreate', description: 'A repair to carry out.', example: webhookRepairCreateExample });
