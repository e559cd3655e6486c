// Sends one delivery again or cancels it. Scope: webhooks:write.

import { type Decision, rejectMissing } from '../domain/decision.ts';
import type { Delivery } from '../domain/delivery.ts';
import { decideCancellation, decideReplay } from '../domain/delivery-repair.ts';
import type { Uuid } from '../domain/ids.ts';
import { type Command, type Envelope, SMALL } from './command.ts';

/** The delivery brings its endpoint along. */
export function replayDelivery(envelope: Envelope<Delivery>, deliveryId: Uuid): Command<Delivery> {
  return {
    ...envelope,
    ...SMALL,
    name: 'replay-delivery',
    needs: { deliveryId },
    decide(state, context): Decision<Delivery> {
      const delivery = state.delivery(deliveryId);
      const endpoint = delivery === undefined ? undefined : state.webhookEndpoint(delivery.endpointId);
      return delivery === undefined || endpoint === undefined ? rejectMissing() : decideReplay(delivery, endpoint, context);
    },
  };
}

export function cancelDelivery(envelope: Envelope<Delivery>, deliveryId: Uuid): Command<Delivery> {
  return {
    ...envelope,
    ...SMALL,
    name: 'cancel-delivery',
    needs: { deliveryId },
    decide(state, context): Decision<Delivery> {
      const delivery = state.delivery(deliveryId);
      return delivery === undefined ? rejectMissing() : decideCancellation(delivery, context);
    },
  };
}
