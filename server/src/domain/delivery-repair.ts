// Sending one delivery again, and cancelling it: what each means for a delivery in any state.
// Pure. While an attempt is under way nothing is taken from the worker: what is asked for follows when it has ended.

import { accept, type Context, type Decision, reject } from './decision.ts';
import type { Delivery } from './delivery.ts';
import type { Uuid } from './ids.ts';
import type { WebhookEndpoint } from './webhook-endpoint.ts';
import { rejectDisabled } from './webhook-repair.ts';

/** A delivery as a decision needs it: locked, with whether an attempt is under way. */
export interface LockedDelivery extends Delivery {
  readonly isUnderWay: boolean;
}

export interface DeliveryAsk {
  readonly workspaceId: Uuid;
  readonly id: Uuid;
  readonly ask: 'replay' | 'cancel';
  readonly at: Date;
}

/** From any state, as often as wanted: the schedule begins anew. One that waits for its next attempt does not wait any more. */
export function decideReplay(delivery: LockedDelivery, endpoint: WebhookEndpoint, context: Context): Decision<Delivery> {
  const refused = rejectDisabled(endpoint);
  if (refused !== null) return refused;
  const next: LockedDelivery = delivery.isUnderWay
    ? delivery
    : { ...delivery, status: 'pending', nextAttemptAt: context.now, completedAt: null };
  return accept(next, changes(next, 'replay', context));
}

/** Of what is pending. A second cancellation changes nothing; what arrived or failed is past cancelling. */
export function decideCancellation(delivery: LockedDelivery, context: Context): Decision<Delivery> {
  if (delivery.status === 'cancelled') return accept(delivery);
  if (delivery.status !== 'pending')
    return reject('invalid_transition', `A delivery that has ${delivery.status} is over and cannot be cancelled.`);
  const next: LockedDelivery = delivery.isUnderWay
    ? delivery
    : { ...delivery, status: 'cancelled', nextAttemptAt: null, completedAt: context.now };
  return accept(next, changes(next, 'cancel', context));
}

const changes = (delivery: LockedDelivery, ask: DeliveryAsk['ask'], { now }: Context) => ({
  deliveries: [{ delivery, ask: { workspaceId: delivery.workspaceId, id: delivery.id, ask, at: now } }],
});
