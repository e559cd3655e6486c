// Releases a pending payment and marks its invoice paid. Scope: payments:release.

import { rejectMissing } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import { decideRelease, type Payment } from '../domain/payment.ts';
import { type Command, type Envelope, SMALL } from './command.ts';

export function releasePayment(envelope: Envelope<Payment>, paymentId: Uuid): Command<Payment> {
  return {
    ...envelope,
    ...SMALL,
    name: 'release-payment',
    needs: { paymentId },
    decide(state, context) {
      const payment = state.payment(paymentId);
      const invoice = payment && state.invoice(payment.invoiceId);
      if (payment === undefined || invoice === undefined) return rejectMissing();
      return decideRelease(payment, invoice, context);
    },
  };
}
