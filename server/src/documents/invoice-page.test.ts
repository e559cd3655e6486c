// An invoice as a PDF, read back from its bytes: all of it is on the page, on as many pages as it takes, and the same every time.
// What it looks like was looked at; these tests keep what it says.

import { describe, expect, test } from 'vitest';
import { readPdf } from '../../test/support/pdf-text.ts';
import { jpegOf, pngOf } from '../../test/support/pictures.ts';
import { readLogo } from '../domain/logo.ts';
import { drawInvoice, type InvoiceDocument } from './invoice-page.ts';

const id = '01993c5a-8f00-7000-8000-000000000001';
const line = (description: string, amountMinor: bigint) => ({ milestoneId: id, description, amountMinor });

interface Parts {
  readonly lines?: ReturnType<typeof line>[];
  readonly invoice?: Partial<InvoiceDocument['invoice']>;
  readonly letterhead?: Partial<InvoiceDocument['letterhead']>;
}

function documentOf({ lines = [line('Design', 150_000n)], invoice, letterhead }: Parts = {}): InvoiceDocument {
  const total = lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  return {
    invoice: {
      ...{ id, workspaceId: id, number: 42, projectId: id, milestoneId: id, paymentId: id, clientId: 'client_42' },
      ...{ status: 'issued', paymentStatus: 'paid', lines, subtotalMinor: total, taxMinor: 0n, totalMinor: total, currency: 'EUR' },
      ...{ paidAt: new Date('2026-03-21T23:30:00Z'), createdAt: new Date('2026-03-20T08:00:00Z') },
      ...invoice,
    },
    letterhead: {
      ...{ name: 'Acme', legalName: 'Acme Works GmbH', addressLines: ['Ludwigstraße 12', '80539 München'], taxId: 'DE123456789' },
      ...{ logo: null, invoicePrefix: 'AW-', taxLine: null, timezone: 'Europe/Berlin' },
      ...letterhead,
    },
  };
}

/** The words of all pages, without where their lines break. */
const wordsOf = async (parts: Parts): Promise<string> =>
  readPdf(await drawInvoice(documentOf(parts)))
    .pages.join('\n')
    .replace(/\s/g, '');
const packed = (text: string): string => text.replace(/\s/g, '');

describe('the page of an invoice', () => {
  test('says who issued it, to whom, for what, how much and when, in fonts that it carries', async () => {
    const { pages, fonts, title } = readPdf(await drawInvoice(documentOf({ letterhead: { taxLine: 'Reverse charge.' } })));
    expect(pages).toHaveLength(1);
    for (const words of [
      ...['Invoice', 'AW-000042', 'Issued 20 March 2026', 'Paid 22 March 2026', 'Acme Works GmbH', 'Ludwigstraße 12', '80539 München'],
      ...['Tax ID DE123456789', 'client_42', 'prj_01', 'Design', '1,500.00', 'EUR 1,500.00', 'Reverse charge.', 'page 1 of 1'],
    ]) {
      expect(packed(pages[0] as string)).toContain(packed(words));
    }
    expect(fonts.map((font) => font.slice(7)).sort()).toEqual(['NotoSans-Regular', 'NotoSans-SemiBold']);
    expect(title).toBe('Invoice AW-000042');
  });

  test('is the same file for the same invoice, to the byte, and another when it was paid', async () => {
    const [first, second, unpaid] = await Promise.all([
      drawInvoice(documentOf()),
      drawInvoice(documentOf()),
      drawInvoice(documentOf({ invoice: { paidAt: null, paymentStatus: 'unpaid' } })),
    ]);
    expect(first.equals(second)).toBe(true);
    expect(first.equals(unpaid)).toBe(false);
  });

  test.each([
    ['JPY', 1_234_567n, 'JPY1,234,567'],
    ['KWD', 1_234_567n, 'KWD1,234.567'],
    ['USD', 5n, 'USD0.05'],
    ['CLF', 999_999_999_999n, 'CLF99,999,999.9999'],
  ])('writes an amount in %s by its exponent', async (currency, amountMinor, shown) => {
    expect(await wordsOf({ lines: [line('x', amountMinor)], invoice: { currency } })).toContain(shown);
  });

  test('writes Latin, Greek and Cyrillic, and lets what it has no letters for be no fault', async () => {
    const words = await wordsOf({ lines: [line('Größe Łódź Ελλάδα Привет', 1n), line('漢字 👩‍👩‍👧 مرحبا', 1n)] });
    expect(words).toContain(packed('Größe Łódź Ελλάδα Привет'));
  });

  test('shows tax where there is one, and that nothing is owed on a void invoice', async () => {
    const words = await wordsOf({
      invoice: { status: 'void', paidAt: null, subtotalMinor: 150_000n, taxMinor: 28_500n, totalMinor: 178_500n },
    });
    for (const shown of ['Subtotal', '1,500.00', 'Tax', '285.00', 'EUR1,785.00', 'Void']) expect(words).toContain(packed(shown));
  });

  test('many lines go on as many pages as they take, each line once, with the total at the end', async () => {
    const lines = Array.from({ length: 300 }, (_, i) =>
      line(`Line ${i} ${'of a description that wraps '.repeat(i % 5)}`, 999_999_999_999n),
    );
    const { pages } = readPdf(await drawInvoice(documentOf({ lines })));
    expect(pages.length).toBeGreaterThan(10);
    pages.forEach((page, i) => void expect(packed(page)).toContain(`page${i + 1}of${pages.length}`));
    const all = packed(pages.join(''));
    for (const i of [0, 1, 150, 299]) expect(all.split(`Line${i}${i % 5 === 0 ? '9' : 'o'}`)).toHaveLength(2);
    expect(pages.slice(0, -1).some((page) => page.includes('Total'))).toBe(false);
    expect(packed(pages.at(-1) as string)).toContain('EUR2,999,999,999,997.00');
  });

  test('the longest texts that are allowed, without a blank in them, are there whole', async () => {
    const [name, client, title, tax] = ['Ж'.repeat(255), 'Ω'.repeat(255), 'W'.repeat(255), 'i'.repeat(500)];
    const words = await wordsOf({
      ...{ lines: [line(title as string, 1n)], invoice: { clientId: client as string } },
      letterhead: {
        ...{
          legalName: null,
          name: name as string,
          addressLines: Array(8).fill('M'.repeat(100)),
          taxId: 'D'.repeat(50),
          taxLine: tax as string,
        },
        invoicePrefix: 'WWWWWWWWWWWWWWWWWWW-',
      },
    });
    for (const text of [name, client, title, tax, 'D'.repeat(50), 'M'.repeat(800)]) expect(words).toContain(text);
  });

  test('texts that mean something to PDF, HTML or the direction of writing are letters like any others', async () => {
    const words = await wordsOf({
      lines: [line('(\\) endobj %%EOF <</JS (app.alert(1))>> <script>', 1n), line('\u202eevil\u2066', 2n)],
      letterhead: { name: 'A) /JS (x', taxLine: 'one\r\ntwo\tthree' },
    });
    expect(words).toContain(packed('(\\) endobj %%EOF <</JS (app.alert(1))>> <script>'));
    expect(words).toContain('evil');
    expect(words).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(words).toContain('onetwothree');
  });

  test.each([
    ['a PNG with transparency', pngOf(240, 80, { colour: 6 })],
    ['a grey PNG', pngOf(1, 1024, { colour: 0 })],
    ['a JPEG', jpegOf(64, 32)],
  ])('carries %s for a logo', async (_what, data) => {
    const logo = readLogo(data);
    const file = await drawInvoice(documentOf({ letterhead: { logo } }));
    expect(file.toString('latin1')).toContain('/Subtype /Image');
    expect(file.equals(await drawInvoice(documentOf({ letterhead: { logo } })))).toBe(true);
  });
});
