// Invoices on the wire: the resource, the query of the list, and the presenter.
// Read only: an approval issues an invoice, the release of its payment marks it paid.

import { z } from 'zod';
import { encodeId } from '../domain/ids.ts';
import { formatInvoiceNumber, type IssuedInvoice, invoicePaymentStatuses, invoiceStatuses } from '../domain/invoice.ts';
import { formatTimestamp } from '../domain/timestamp.ts';
import type { Letterhead } from '../domain/workspace.ts';
import { choiceQuery, listOf, listQuery } from './lists.ts';
import { amountField, currencyField, exampleId, idField, idFilter, name, timestamp, wanted } from './text.ts';
import { logoResource, presentLogo, workspaceExample } from './workspace.ts';

export const invoiceStatus = z
  .enum(invoiceStatuses, wanted(`one of ${invoiceStatuses.join(', ')}`))
  .meta({ id: 'InvoiceStatus', description: 'The document itself. Only an unpaid one can become `void`.' });
export const invoicePaymentStatus = z
  .enum(invoicePaymentStatuses, wanted(`one of ${invoicePaymentStatuses.join(', ')}`))
  .meta({ id: 'InvoicePaymentStatus', description: 'Whether it has been paid: by the release of its payment.' });

export const invoiceExample = {
  id: exampleId('invoice', 4),
  object: 'invoice' as const,
  number: 'INV-000042',
  project_id: exampleId('project'),
  milestone_id: exampleId('milestone', 2),
  payment_id: exampleId('payment', 3),
  client_id: 'client_42',
  status: 'issued' as const,
  payment_status: 'paid' as const,
  lines: [{ milestone_id: exampleId('milestone', 2), description: 'Design', amount: 150000 }],
  subtotal: 150000,
  tax: 0,
  total: 150000,
  currency: 'USD',
  paid_at: '2026-03-21T08:00:00.000Z',
  created_at: '2026-03-21T08:00:00.000Z',
};

export const invoiceLineResource = z
  .object({
    milestone_id: idField('milestone'),
    description: z.string(),
    amount: amountField('In minor units of the currency.'),
  })
  .meta({ id: 'InvoiceLine', description: 'One line of an invoice.', example: invoiceExample.lines[0] });

const { name: workspaceName, legal_name, address_lines, tax_id, tax_line, timezone, logo } = workspaceExample;
const letterheadExample = { name: workspaceName, legal_name, address_lines, tax_id, tax_line, timezone, logo };

export const letterheadResource = z
  .object({
    name: z.string().meta({ description: 'What the workspace was called.' }),
    legal_name: z.string().nullable().meta({ description: 'Who issued it, where that is not the name.' }),
    address_lines: z.array(z.string()).meta({ description: 'The postal address, line by line.' }),
    tax_id: z.string().nullable().meta({ description: 'A VAT number, for example.' }),
    tax_line: z.string().nullable().meta({ description: 'A sentence on taxes.' }),
    timezone: z.string().meta({ description: 'In which time zone its dates are: a name of the IANA database.' }),
    logo: logoResource.nullable(),
  })
  .meta({
    id: 'Letterhead',
    description: 'Who issued an invoice, as the workspace was when it did. Later changes of the settings leave it as it is.',
    example: letterheadExample,
  });

/** What one invoice shows when it is read by itself. */
export const invoiceWithLetterheadExample = { ...invoiceExample, letterhead: letterheadExample };

export const invoiceResource = z
  .object({
    id: idField('invoice'),
    object: z.literal('invoice'),
    number: z.string().meta({ description: 'Gapless in the workspace, never reused.', example: 'INV-000042' }),
    project_id: idField('project'),
    milestone_id: idField('milestone'),
    payment_id: idField('payment'),
    client_id: z.string().meta({ description: 'Your own id of who pays.' }),
    status: invoiceStatus,
    payment_status: invoicePaymentStatus,
    lines: z.array(invoiceLineResource),
    subtotal: amountField('The sum of the lines, in minor units of the currency.'),
    tax: amountField('In minor units of the currency.'),
    total: amountField('Subtotal and tax, in minor units of the currency.'),
    currency: currencyField(),
    paid_at: timestamp('When it was paid; null before.').nullable(),
    created_at: timestamp('When it was issued.'),
    letterhead: letterheadResource.optional(),
  })
  .meta({ id: 'Invoice', description: 'The document of one approved milestone.', example: invoiceExample });

export function presentInvoice(invoice: IssuedInvoice): z.output<typeof invoiceResource> {
  return {
    id: encodeId('invoice', invoice.id),
    object: 'invoice',
    number: formatInvoiceNumber(invoice.number, invoice.prefix),
    project_id: encodeId('project', invoice.projectId),
    milestone_id: encodeId('milestone', invoice.milestoneId),
    payment_id: encodeId('payment', invoice.paymentId),
    client_id: invoice.clientId,
    status: invoice.status,
    payment_status: invoice.paymentStatus,
    lines: invoice.lines.map((line) => ({
      milestone_id: encodeId('milestone', line.milestoneId),
      description: line.description,
      amount: Number(line.amountMinor),
    })),
    subtotal: Number(invoice.subtotalMinor),
    tax: Number(invoice.taxMinor),
    total: Number(invoice.totalMinor),
    currency: invoice.currency,
    paid_at: invoice.paidAt === null ? null : formatTimestamp(invoice.paidAt),
    created_at: formatTimestamp(invoice.createdAt),
  };
}

/** An invoice that is read by itself. Lists leave the letterhead out. */
export function presentInvoiceDocument(invoice: IssuedInvoice, letterhead: Letterhead): z.output<typeof invoiceResource> {
  return {
    ...presentInvoice(invoice),
    letterhead: {
      name: letterhead.name,
      legal_name: letterhead.legalName,
      address_lines: [...letterhead.addressLines],
      tax_id: letterhead.taxId,
      tax_line: letterhead.taxLine,
      timezone: letterhead.timezone,
      logo: presentLogo(letterhead.logo),
    },
  };
}

export const invoiceList = listOf('InvoiceList', invoiceResource, invoiceExample);

const filters = {
  status: invoiceStatus.optional(),
  payment_status: invoicePaymentStatus.optional(),
  project_id: idFilter('project').optional(),
  client_id: name.optional(),
  milestone_id: idFilter('milestone').optional(),
};

export const invoiceListQuery = listQuery('invoice', filters);

/** The same choice without pages: what totals and exports are of. */
export const invoiceChoiceQuery = choiceQuery(filters);
