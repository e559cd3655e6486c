// Payments on the wire: the resource, the body of a release, the queries of the lists, and the presenter.
// Decides nothing; the domain does.

import { z } from 'zod';
import { encodeId } from '../domain/ids.ts';
import { type Payment, type PaymentStatus, paymentMoves, paymentStatuses } from '../domain/payment.ts';
import { formatTimestamp } from '../domain/timestamp.ts';
import { choiceQuery, listOf, listQuery } from './lists.ts';
import { amountField, currencyField, exampleId, idField, idFilter, name, orEmpty, timestamp, wanted } from './text.ts';

export const paymentStatus = z
  .enum(paymentStatuses, wanted(`one of ${paymentStatuses.join(', ')}`))
  .meta({ id: 'PaymentStatus', description: 'Whether the money has been let go. `released` is final.' });

export const paymentExample = {
  id: exampleId('payment', 3),
  object: 'payment' as const,
  project_id: exampleId('project'),
  milestone_id: exampleId('milestone', 2),
  invoice_id: exampleId('invoice', 4),
  client_id: 'client_42',
  payee_id: 'freelancer_7',
  amount: 150000,
  currency: 'USD',
  status: 'released' as const,
  allowed_transitions: [],
  released_at: '2026-03-21T08:00:00.000Z',
  created_at: '2026-03-21T08:00:00.000Z',
};

export const paymentResource = z
  .object({
    id: idField('payment'),
    object: z.literal('payment'),
    project_id: idField('project'),
    milestone_id: idField('milestone'),
    invoice_id: idField('invoice'),
    client_id: z.string().meta({ description: 'Your own id of who pays.' }),
    payee_id: z.string().nullable().meta({ description: 'Your own id of who is paid.' }),
    amount: amountField('In minor units of the currency.'),
    currency: currencyField(),
    status: paymentStatus,
    allowed_transitions: z.array(paymentStatus).meta({ description: 'The statuses it can reach now.' }),
    released_at: timestamp('When it was released; null before.').nullable(),
    created_at: timestamp('When it was created: at the approval of its milestone.'),
  })
  .meta({
    id: 'Payment',
    description: 'The money of one approved milestone. Released once, never rewritten after.',
    example: paymentExample,
  });

export function presentPayment(payment: Payment): z.output<typeof paymentResource> {
  return {
    id: encodeId('payment', payment.id),
    object: 'payment',
    project_id: encodeId('project', payment.projectId),
    milestone_id: encodeId('milestone', payment.milestoneId),
    invoice_id: encodeId('invoice', payment.invoiceId),
    client_id: payment.clientId,
    payee_id: payment.payeeId,
    amount: Number(payment.amountMinor),
    currency: payment.currency,
    status: payment.status,
    allowed_transitions: paymentMoves[payment.status] as unknown as PaymentStatus[],
    released_at: payment.releasedAt === null ? null : formatTimestamp(payment.releasedAt),
    created_at: formatTimestamp(payment.createdAt),
  };
}

export const paymentList = listOf('PaymentList', paymentResource, paymentExample);

export const projectPaymentListQuery = listQuery('payment', { status: paymentStatus.optional() });

const filters = {
  status: paymentStatus.optional(),
  project_id: idFilter('project').optional(),
  client_id: name.optional(),
  milestone_id: idFilter('milestone').optional(),
};

export const paymentListQuery = listQuery('payment', filters);

/** The same choice without pages: what totals and exports are of. */
export const paymentChoiceQuery = choiceQuery(filters);

/** A release says nothing but where: an empty object, or no body. */
export const paymentRelease = orEmpty(
  z.strictObject({}).meta({ id: 'PaymentRelease', description: 'Nothing to say; may be left out.', example: {} }),
);
