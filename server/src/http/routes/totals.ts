// The routes of totals: the same choice as a list, added up by currency.
// They turn a query into a read and sums into an answer, and decide nothing.

import type { Uuid } from '../../domain/ids.ts';
import { invoiceChoiceQuery } from '../../schemas/invoices.ts';
import { paymentChoiceQuery } from '../../schemas/payments.ts';
import {
  invoiceTotalsExample,
  invoiceTotalsResource,
  paymentTotalsExample,
  paymentTotalsResource,
  presentInvoiceTotals,
  presentPaymentTotals,
  presentProjectTotals,
  projectTotalsExample,
  projectTotalsResource,
} from '../../schemas/totals.ts';
import { invoiceChoiceOf, paymentChoiceOf } from '../choices.ts';
import { ABSENT } from '../mount.ts';
import type { Reads } from '../reads.ts';
import { defineRoute, type Route } from '../route.ts';

export function totalsRoutes(reads: Reads): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/payments/totals',
      operationId: 'getPaymentTotals',
      tag: 'Payments',
      summary: 'Add payments up',
      description: 'How many payments there are and how much they are together, by currency. It takes the filters of the list.',
      scope: 'payments:read',
      query: paymentChoiceQuery,
      success: { status: 200, description: 'The totals.', schema: paymentTotalsResource, example: paymentTotalsExample },
      errors: [],
      async handle({ caller, query }) {
        const { filters, times } = paymentChoiceOf(query);
        return { body: presentPaymentTotals(await reads.sumPayments(caller.workspaceId, filters, times)) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/invoices/totals',
      operationId: 'getInvoiceTotals',
      tag: 'Invoices',
      summary: 'Add invoices up',
      description: 'How many invoices there are and how much they are together, by currency. It takes the filters of the list.',
      scope: 'invoices:read',
      query: invoiceChoiceQuery,
      success: { status: 200, description: 'The totals.', schema: invoiceTotalsResource, example: invoiceTotalsExample },
      errors: [],
      async handle({ caller, query }) {
        const { filters, times } = invoiceChoiceOf(query);
        return { body: presentInvoiceTotals(await reads.sumInvoices(caller.workspaceId, filters, times)) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/projects/:id/totals',
      operationId: 'getProjectTotals',
      tag: 'Projects',
      summary: 'Add a project up',
      description: 'What the milestones of a project are together, and what of it was paid, by currency.',
      scope: 'payments:read',
      ids: { id: 'project' },
      success: { status: 200, description: 'The totals.', schema: projectTotalsResource, example: projectTotalsExample },
      errors: [],
      async handle({ caller, ids }) {
        const totals = await reads.sumProject(caller.workspaceId, ids.id as Uuid);
        return totals === null ? ABSENT : { body: presentProjectTotals(ids.id as Uuid, totals) };
      },
    }),
  ];
}
