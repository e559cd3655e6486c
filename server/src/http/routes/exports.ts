// The routes that hand a list out whole, as a CSV file.
// They choose columns and records; how the file is streamed is the business of csv-export.ts.

import { csvText, invoiceColumns, invoiceCsvExample, paymentColumns, paymentCsvExample } from '../../schemas/exports.ts';
import { invoiceChoiceQuery } from '../../schemas/invoices.ts';
import { paymentChoiceQuery } from '../../schemas/payments.ts';
import { invoiceChoiceOf, paymentChoiceOf } from '../choices.ts';
import type { Reads } from '../reads.ts';
import { defineRoute, type Route } from '../route.ts';

const WORDS =
  'A CSV file (RFC 4180, UTF-8), newest first, of any size: it is read page by page while it is sent. Amounts are in major units, such as ' +
  '1500.00, and once more as a whole number of minor units. Texts that a spreadsheet would take for a formula have an apostrophe in front. ' +
  'A file that could not be finished, because something failed or because the key, the session or the membership ended meanwhile, ends with a ' +
  'connection that is cut, never as if it were whole.';

export function exportRoutes(reads: Reads): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/payments/export',
      operationId: 'exportPayments',
      tag: 'Payments',
      summary: 'Export payments as CSV',
      description: `${WORDS} It takes the filters of the list.`,
      scope: 'payments:read',
      query: paymentChoiceQuery,
      success: { status: 200, description: 'The file.', schema: csvText, example: paymentCsvExample, contentType: 'text/csv' },
      errors: ['too_many_exports'],
      async handle({ caller, query }) {
        const { filters, times } = paymentChoiceOf(query);
        return reads.openExport(caller, {
          name: 'payments',
          columns: paymentColumns,
          readPage: (page) => reads.listPayments(caller.workspaceId, filters, { ...page, ...times }),
        });
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/invoices/export',
      operationId: 'exportInvoices',
      tag: 'Invoices',
      summary: 'Export invoices as CSV',
      description: `${WORDS} It takes the filters of the list.`,
      scope: 'invoices:read',
      query: invoiceChoiceQuery,
      success: { status: 200, description: 'The file.', schema: csvText, example: invoiceCsvExample, contentType: 'text/csv' },
      errors: ['too_many_exports'],
      async handle({ caller, query }) {
        const { filters, times } = invoiceChoiceOf(query);
        return reads.openExport(caller, {
          name: 'invoices',
          columns: invoiceColumns,
          readPage: (page) => reads.listInvoices(caller.workspaceId, filters, { ...page, ...times }),
        });
      },
    }),
  ];
}
