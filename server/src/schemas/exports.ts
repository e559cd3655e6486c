// What is handed out as a file: the columns of CSV exports and the type of a PDF.
// Says what stands in each column; csv.ts says how a line is written.

import { z } from 'zod';
import { encodeId } from '../domain/ids.ts';
import { formatInvoiceNumber, type IssuedInvoice } from '../domain/invoice.ts';
import { majorUnits } from '../domain/money.ts';
import type { Payment } from '../domain/payment.ts';
import { formatTimestamp } from '../domain/timestamp.ts';
import { type Columns, csvLine } from './csv.ts';
import { invoiceExample } from './invoices.ts';
import { paymentExample } from './payments.ts';

export const csvText = z.string().meta({ description: 'A header line, then a line for each record; lines end with CR and LF.' });

export const pdfFile = z.string().meta({ description: 'A PDF file.' });

const moment = (date: Date | null): string => (date === null ? '' : formatTimestamp(date));

export const paymentColumns: Columns<Payment> = {
  id: ({ id }) => encodeId('payment', id),
  created_at: ({ createdAt }) => moment(createdAt),
  status: ({ status }) => status,
  released_at: ({ releasedAt }) => moment(releasedAt),
  amount: ({ amountMinor, currency }) => majorUnits(amountMinor, currency),
  currency: ({ currency }) => currency,
  amount_minor: ({ amountMinor }) => amountMinor.toString(),
  client_id: ({ clientId }) => clientId,
  payee_id: ({ payeeId }) => payeeId ?? '',
  project_id: ({ projectId }) => encodeId('project', projectId),
  milestone_id: ({ milestoneId }) => encodeId('milestone', milestoneId),
  invoice_id: ({ invoiceId }) => encodeId('invoice', invoiceId),
};

export const invoiceColumns: Columns<IssuedInvoice> = {
  id: ({ id }) => encodeId('invoice', id),
  number: ({ number, prefix }) => formatInvoiceNumber(number, prefix),
  created_at: ({ createdAt }) => moment(createdAt),
  status: ({ status }) => status,
  payment_status: ({ paymentStatus }) => paymentStatus,
  paid_at: ({ paidAt }) => moment(paidAt),
  subtotal: ({ subtotalMinor, currency }) => majorUnits(subtotalMinor, currency),
  tax: ({ taxMinor, currency }) => majorUnits(taxMinor, currency),
  total: ({ totalMinor, currency }) => majorUnits(totalMinor, currency),
  currency: ({ currency }) => currency,
  subtotal_minor: ({ subtotalMinor }) => subtotalMinor.toString(),
  tax_minor: ({ taxMinor }) => taxMinor.toString(),
  total_minor: ({ totalMinor }) => totalMinor.toString(),
  client_id: ({ clientId }) => clientId,
  project_id: ({ projectId }) => encodeId('project', projectId),
  milestone_id: ({ milestoneId }) => encodeId('milestone', milestoneId),
  payment_id: ({ paymentId }) => encodeId('payment', paymentId),
};

/** A file of one record, for the document. */
function exampleOf(columns: Columns<never>, example: Readonly<Record<string, unknown>>, more: Readonly<Record<string, string>>): string {
  const names = Object.keys(columns);
  return csvLine(names) + csvLine(names.map((name) => more[name] ?? String(example[name] ?? '')));
}

export const paymentCsvExample = exampleOf(paymentColumns, paymentExample, { amount: '1500.00', amount_minor: '150000' });
export const invoiceCsvExample = exampleOf(invoiceColumns, invoiceExample, {
  subtotal: '1500.00',
  tax: '0.00',
  total: '1500.00',
  subtotal_minor: '150000',
  tax_minor: '0',
  total_minor: '150000',
});
