// The routes that read invoices.
// They turn a query into a read and a record into an answer, and decide nothing.

import type { Uuid } from '../../domain/ids.ts';
import {
  invoiceExample,
  invoiceList,
  invoiceListQuery,
  invoiceResource,
  invoiceWithLetterheadExample,
  presentInvoice,
  presentInvoiceDocument,
} from '../../schemas/invoices.ts';
import { ABSENT } from '../mount.ts';
import { listAnswer, listExample, pageOf, type Reads } from '../reads.ts';
import { defineRoute, type Route } from '../route.ts';

export function invoiceReadRoutes(reads: Reads): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/invoices',
      operationId: 'listInvoices',
      tag: 'Invoices',
      summary: 'List invoices',
      description: 'The invoices of the workspace, newest first.',
      scope: 'invoices:read',
      query: invoiceListQuery,
      success: { status: 200, description: 'A page of invoices.', schema: invoiceList, example: listExample(invoiceExample) },
      errors: [],
      async handle({ caller, query }) {
        const page = pageOf(query);
        const { status, payment_status: paymentStatus, project_id: projectId, client_id: clientId, milestone_id: milestoneId } = query;
        const filters = { status, paymentStatus, projectId, clientId, milestoneId };
        return listAnswer('invoice', await reads.listInvoices(caller.workspaceId, filters, page), page, presentInvoice);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/invoices/:id',
      operationId: 'getInvoice',
      tag: 'Invoices',
      summary: 'Read an invoice',
      description: 'With the letterhead that the workspace had when it was issued, which lists leave out.',
      scope: 'invoices:read',
      ids: { id: 'invoice' },
      success: { status: 200, description: 'The invoice.', schema: invoiceResource, example: invoiceWithLetterheadExample },
      errors: [],
      async handle({ caller, ids }) {
        const found = await reads.getInvoiceDocument(caller.workspaceId, ids.id as Uuid);
        return found === null ? ABSENT : { body: presentInvoiceDocument(found.invoice, found.letterhead) };
      },
    }),
  ];
}
