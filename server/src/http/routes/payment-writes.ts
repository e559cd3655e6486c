// The route that releases a payment. It turns a request into a command and decides nothing.

import { releasePayment } from '../../commands/release-payment.ts';
import type { Payment } from '../../domain/payment.ts';
import { paymentExample, paymentRelease, paymentResource, presentPayment } from '../../schemas/payments.ts';
import { defineRoute, type Route } from '../route.ts';
import { serializerOf } from '../serialize.ts';
import { envelope, submit, type Writes } from '../writes.ts';

const serialize = serializerOf(paymentResource);
const released = (payment: Payment) => ({ status: 200, headers: {}, body: serialize(presentPayment(payment)) });

export function paymentWriteRoutes({ lane }: Writes): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/payments/:id/release',
      operationId: 'releasePayment',
      tag: 'Payments',
      summary: 'Release a pending payment',
      description:
        'For projects whose `release` is `manual`. Marks the invoice paid in the same commit and emits `payment.released`. ' +
        'Releasing a released payment changes nothing and answers 200.',
      scope: 'payments:release',
      ids: { id: 'payment' },
      body: paymentRelease,
      success: { status: 200, description: 'The payment, released.', schema: paymentResource, example: paymentExample },
      errors: ['idempotency_key_reused'],
      idempotent: true,
      handle: (request) => submit(lane, releasePayment(envelope(request, released), request.ids.id as string)),
    }),
  ];
}
