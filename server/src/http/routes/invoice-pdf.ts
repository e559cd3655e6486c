// The route of an invoice as a page to print.
// It finds the invoice with the letterhead it was issued under; the page is drawn in documents.

import type { Uuid } from '../../domain/ids.ts';
import { formatInvoiceNumber } from '../../domain/invoice.ts';
import { pdfFile } from '../../schemas/exports.ts';
import { ABSENT } from '../mount.ts';
import type { Reads } from '../reads.ts';
import { defineRoute, isRefusal, type Route } from '../route.ts';

export function invoicePdfRoutes(reads: Reads): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/invoices/:id/pdf',
      operationId: 'getInvoicePdf',
      tag: 'Invoices',
      summary: 'Read an invoice as PDF',
      description:
        'The invoice as a page to print or send, with the name, address, tax id and logo that the workspace had when it was issued. The same ' +
        'invoice in the same state is the same file, to the byte.',
      scope: 'invoices:read',
      ids: { id: 'invoice' },
      success: { status: 200, description: 'The page.', schema: pdfFile, example: '%PDF-1.3 …', contentType: 'application/pdf' },
      errors: ['too_many_exports'],
      async handle({ caller, ids }) {
        const found = await reads.getInvoiceDocument(caller.workspaceId, ids.id as Uuid);
        if (found === null) return ABSENT;
        const file = await reads.drawInvoice(found);
        if (isRefusal(file)) return file;
        const name = `${formatInvoiceNumber(found.invoice.number, found.letterhead.invoicePrefix).replaceAll('/', '-')}.pdf`;
        const headers = { 'content-disposition': `inline; filename="${name}"`, 'content-length': String(file.length) };
        return { headers, stream: (response) => void response.end(file) };
      },
    }),
  ];
}
