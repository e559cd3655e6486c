// Totals per currency on the wire: of payments, of invoices, of one project. Sums of different currencies are never added up.
// Presents what was summed; sums nothing.

import { z } from 'zod';
import type { Uuid } from '../domain/ids.ts';
import { encodeId } from '../domain/ids.ts';
import type { InvoiceTotals, PaymentTotals, ProjectTotals } from '../domain/totals.ts';
import { countField, currencyField, exampleId, idField } from './text.ts';

/** A sum may have more digits than a float holds; it is written exactly, and a reader of JSON should take it as a whole number. */
export const sumField = (description: string) =>
  z.number().meta({ type: 'integer', format: 'int64', minimum: 0, description, example: 150000 });

const sumExample = (count: number, amount: number) => ({ count, amount });

export const sumResource = z
  .object({ count: countField('How many.'), amount: sumField('Together, in minor units of the currency.') })
  .meta({ id: 'Sum', description: 'How many, and how much together.', example: sumExample(2, 300000) });

export const paymentTotalsExample = {
  object: 'payment_totals' as const,
  currencies: [{ currency: 'USD', pending: sumExample(1, 50000), released: sumExample(2, 300000) }],
};

export const paymentTotalsResource = z
  .object({
    object: z.literal('payment_totals'),
    currencies: z.array(
      z
        .object({ currency: currencyField(), pending: sumResource, released: sumResource })
        .meta({ id: 'PaymentTotalsOfCurrency', description: 'Payments in one currency.', example: paymentTotalsExample.currencies[0] }),
    ),
  })
  .meta({
    id: 'PaymentTotals',
    description: 'Payments added up, by currency and in the order of its code.',
    example: paymentTotalsExample,
  });

export function presentPaymentTotals(totals: readonly PaymentTotals[]): object {
  return { object: 'payment_totals', currencies: totals };
}

export const invoiceTotalsExample = {
  object: 'invoice_totals' as const,
  currencies: [{ currency: 'USD', unpaid: sumExample(1, 50000), paid: sumExample(2, 300000), void: sumExample(0, 0) }],
};

export const invoiceTotalsResource = z
  .object({
    object: z.literal('invoice_totals'),
    currencies: z.array(
      z
        .object({ currency: currencyField(), unpaid: sumResource, paid: sumResource, void: sumResource })
        .meta({ id: 'InvoiceTotalsOfCurrency', description: 'Invoices in one currency.', example: invoiceTotalsExample.currencies[0] }),
    ),
  })
  .meta({
    id: 'InvoiceTotals',
    description: 'Invoices added up, by currency and in the order of its code.',
    example: invoiceTotalsExample,
  });

export function presentInvoiceTotals(totals: readonly InvoiceTotals[]): object {
  return { object: 'invoice_totals', currencies: totals };
}

export const projectTotalsExample = {
  object: 'project_totals' as const,
  project_id: exampleId('project'),
  currencies: [
    {
      currency: 'USD',
      planned: sumExample(3, 450000),
      submitted: sumExample(1, 100000),
      approved: sumExample(2, 350000),
      pending: sumExample(1, 50000),
      released: sumExample(1, 300000),
    },
  ],
};

export const projectTotalsResource = z
  .object({
    object: z.literal('project_totals'),
    project_id: idField('project'),
    currencies: z.array(
      z
        .object({
          currency: currencyField(),
          planned: sumResource.meta({ description: 'Milestones that are not cancelled, the approved ones included.' }),
          submitted: sumResource.meta({ description: 'Milestones that await approval.' }),
          approved: sumResource.meta({ description: 'Approved milestones.' }),
          pending: sumResource.meta({ description: 'Payments that wait for their release.' }),
          released: sumResource.meta({ description: 'Released payments.' }),
        })
        .meta({ id: 'ProjectTotalsOfCurrency', description: 'A project in one currency.', example: projectTotalsExample.currencies[0] }),
    ),
  })
  .meta({
    id: 'ProjectTotals',
    description: 'A project added up, by currency and in the order of its code.',
    example: projectTotalsExample,
  });

export function presentProjectTotals(projectId: Uuid, totals: readonly ProjectTotals[]): object {
  return { object: 'project_totals', project_id: encodeId('project', projectId), currencies: totals };
}
