// Single deliveries in the lane: locked for a decision, then sent again or cancelled as it was decided.
// The worker writes the same rows; so a row is never rewritten whole, and what is under way is left to it.

import type { DeliveryAsk, LockedDelivery } from '../domain/delivery-repair.ts';
import type { Uuid } from '../domain/ids.ts';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import type { Queryable } from './database.ts';
import { deliverySource } from './deliveries.ts';
import type { RecordKey } from './records.ts';
import { cancelAssignments, orderKeyOf, replayAssignments } from './repair-steps.ts';
import type { Write } from './tables.ts';
import { webhookEndpointTable } from './webhook-endpoints.ts';

const named = 'unnest($1::uuid[], $2::uuid[]) as n(workspace_id, id)';
const split = (keys: readonly RecordKey[]): [Uuid[], Uuid[]] => [keys.map((key) => key.workspaceId), keys.map((key) => key.id)];

const lockText =
  `select ${deliverySource.select}, t.lease_token is not null as is_under_way ` +
  `from ${named} join deliveries t on t.workspace_id = n.workspace_id and t.id = n.id ${deliverySource.join} order by t.id for no key update of t`;

/** Deliveries by primary key, locked in id order until the batch has committed: a result that comes meanwhile waits that long. */
export async function lockDeliveries(transaction: Queryable, keys: readonly RecordKey[]): Promise<LockedDelivery[]> {
  const rows = await transaction.query<Record<string, unknown>>(lockText, split(keys));
  return rows.map((row) => ({ ...deliverySource.fromRow(row), isUnderWay: row.is_under_way === true }));
}

const endpointsText =
  `select ${webhookEndpointTable.select('t')} from ${named} join deliveries d on d.workspace_id = n.workspace_id and d.id = n.id ` +
  'join webhook_endpoints t on t.workspace_id = d.workspace_id and t.id = d.endpoint_id';

/** The endpoints of deliveries: primary key look-ups. */
export async function loadEndpointsOf(transaction: Queryable, deliveries: readonly RecordKey[]): Promise<WebhookEndpoint[]> {
  const rows = await transaction.query<Record<string, unknown>>(endpointsText, split(deliveries));
  return rows.map(webhookEndpointTable.fromRow);
}

const replayText = `
  update deliveries d set ${replayAssignments('n.at', orderKeyOf)}
  from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as n(workspace_id, id, at), events e, webhook_endpoints w
  where d.workspace_id = n.workspace_id and d.id = n.id and e.workspace_id = d.workspace_id and e.seq = d.event_seq
    and w.workspace_id = d.workspace_id and w.id = d.endpoint_id`;

const cancelText = `
  update deliveries d set ${cancelAssignments('n.at')}
  from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as n(workspace_id, id, at)
  where d.workspace_id = n.workspace_id and d.id = n.id and d.status = 'pending'`;

/** Carries out what was asked of deliveries that this transaction has locked, by primary key; of each delivery one thing only. */
export function deliveryAskWrites(asks: readonly DeliveryAsk[]): Write[] {
  return (['replay', 'cancel'] as const).flatMap((kind) => {
    const wanted = asks.filter(({ ask }) => ask === kind);
    if (wanted.length === 0) return [];
    return [{ text: kind === 'replay' ? replayText : cancelText, parameters: [...split(wanted), wanted.map(({ at }) => at)] }];
  });
}
