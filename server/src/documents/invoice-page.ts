// An invoice as a page to print: drawn once from its records, the same bytes for the same records.
// Reads no clock and no database, and fetches nothing: font and logo are handed in or lie beside it.

import { readFile } from 'node:fs/promises';
import { create, type Font } from 'fontkit';
import PDFDocument from 'pdfkit';
import { encodeId } from '../domain/ids.ts';
import { formatInvoiceNumber, type Invoice } from '../domain/invoice.ts';
import { type Picture, readLogo } from '../domain/logo.ts';
import { currencyExponents } from '../domain/money.ts';
import type { Letterhead } from '../domain/workspace.ts';

/** All that the page shows, none of which changes once the invoice is issued but whether it was paid or is void. */
export interface InvoiceDocument {
  readonly invoice: Invoice;
  /** As it was when the invoice was issued. */
  readonly letterhead: Letterhead;
}

interface Fonts {
  readonly regular: Font;
  readonly strong: Font;
}

/** Noto Sans: Latin, Greek and Cyrillic, under the SIL Open Font License. A page embeds the few glyphs it uses. */
const loadFont = async (path: string): Promise<Font> =>
  create(await readFile(new URL(import.meta.resolve(`@expo-google-fonts/noto-sans/${path}`)))) as Font;

/** Read once: to learn the shapes of a font takes fifty times as long as to draw a page with it. */
let fonts: Promise<Fonts> | null = null;

function loadFonts(): Promise<Fonts> {
  fonts ??= Promise.all([loadFont('400Regular/NotoSans_400Regular.ttf'), loadFont('600SemiBold/NotoSans_600SemiBold.ttf')]).then(
    ([regular, strong]) => ({ regular, strong }),
  );
  return fonts;
}

type Page = PDFKit.PDFDocument;

const PAGE = { width: 595.28, height: 841.89, margin: 56, footer: 40 } as const;
const WIDTH = PAGE.width - 2 * PAGE.margin;
/** Nothing but the foot of the page is below this. */
const BOTTOM = PAGE.height - PAGE.margin - PAGE.footer;
const RIGHT = PAGE.margin + WIDTH;
const COLUMN = WIDTH / 2 - 12;
const AMOUNT_WIDTH = 130;
const DESCRIPTION_WIDTH = WIDTH - AMOUNT_WIDTH - 12;
const LOGO = { width: 170, height: 64 } as const;
const INK = '#1a1a1a';
const FAINT = '#666666';
const RULE = '#cccccc';

/** The page as a PDF file. */
export async function drawInvoice(document: InvoiceDocument): Promise<Buffer> {
  const { regular, strong } = await loadFonts();
  const { invoice, letterhead } = document;
  const number = formatInvoiceNumber(invoice.number, letterhead.invoicePrefix);
  const page = new PDFDocument({
    size: [PAGE.width, PAGE.height],
    margin: 0,
    bufferPages: true,
    autoFirstPage: false,
    // A standard font would be looked up otherwise, and never used.
    font: null as unknown as string,
    lang: 'en',
    displayTitle: true,
    info: {
      Title: `Invoice ${number}`,
      Author: shown(letterhead.legalName ?? letterhead.name),
      Producer: 'Tranche',
      Creator: 'Tranche',
      // The file's own id is made of this: the time of the drawing would make every copy another file.
      CreationDate: invoice.createdAt,
    },
  });
  const file = gather(page);
  // The library takes a font that was read already; its types do not say so.
  for (const [name, font] of Object.entries({ regular, strong })) page.registerFont(name, font as unknown as Buffer);
  page.addPage();
  drawHead(page, document, number);
  drawLines(page, invoice);
  drawTotals(page, document);
  drawFeet(page, letterhead, number);
  page.end();
  return file;
}

function gather(page: Page): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    page.on('data', (part: Buffer) => parts.push(part));
    page.on('end', () => resolve(Buffer.concat(parts)));
    page.on('error', reject);
  });
}

/** Marks that turn the direction of text would let a name write over what stands beside it. */
const shown = (text: string): string => text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '').replace(/[\t\r\n]+/g, ' ');

interface Style {
  readonly size?: number;
  readonly strong?: boolean;
  readonly color?: string;
  readonly align?: 'left' | 'right';
}

/** Writes a text into a column, wrapped, and returns where the next one may begin. */
function write(page: Page, text: string, at: { x: number; y: number; width: number }, style: Style = {}): number {
  const { size = 9.5, strong = false, color = INK, align = 'left' } = style;
  page
    .font(strong ? 'strong' : 'regular')
    .fontSize(size)
    .fillColor(color);
  // Without a height pdfkit would begin pages of its own.
  const height = page.heightOfString(text, { width: at.width, align });
  page.text(text, at.x, at.y, { width: at.width, align, height: height + size });
  return at.y + height;
}

function heightOf(page: Page, text: string, width: number, size = 9.5): number {
  return page.font('regular').fontSize(size).heightOfString(text, { width });
}

function rule(page: Page, y: number, color = RULE): void {
  page.moveTo(PAGE.margin, y).lineTo(RIGHT, y).lineWidth(0.5).strokeColor(color).stroke();
}

/** Read anew: earlier versions kept images whose pixels pdfkit unfolds later, where a fault would end the process instead of this call. */
function readable({ data }: Picture): Picture {
  const picture = readLogo(data);
  if (picture === null) throw new Error('the logo is not an image that can be drawn');
  return picture;
}

function drawHead(page: Page, { invoice, letterhead }: InvoiceDocument, number: string): void {
  const left = { x: PAGE.margin, width: COLUMN };
  const right = { x: RIGHT - COLUMN, width: COLUMN };
  let leftY: number = PAGE.margin;
  if (letterhead.logo !== null) {
    const { data, width, height } = readable(letterhead.logo);
    page.image(data, PAGE.margin, leftY, { fit: [LOGO.width, LOGO.height] });
    leftY += Math.min(LOGO.height, height * Math.min(LOGO.width / width, LOGO.height / height)) + 10;
  }
  let rightY = write(page, 'Invoice', { ...right, y: PAGE.margin }, { size: 22, strong: true, align: 'right' }) + 2;
  rightY = write(page, number, { ...right, y: rightY }, { size: 11, align: 'right' }) + 8;
  const date = dateFormat(letterhead.timezone);
  const facts = [`Issued ${date(invoice.createdAt)}`];
  if (invoice.status === 'void') facts.push('Void: nothing is owed on it');
  else facts.push(invoice.paidAt === null ? 'Not paid yet' : `Paid ${date(invoice.paidAt)}`);
  for (const fact of facts) rightY = write(page, fact, { ...right, y: rightY }, { color: FAINT, align: 'right' }) + 1;

  leftY = write(page, shown(letterhead.legalName ?? letterhead.name), { ...left, y: leftY }, { size: 11, strong: true }) + 2;
  for (const line of letterhead.addressLines) leftY = write(page, shown(line), { ...left, y: leftY }) + 1;
  if (letterhead.taxId !== null) leftY = write(page, `Tax ID ${shown(letterhead.taxId)}`, { ...left, y: leftY + 3 });

  const y = Math.max(leftY, rightY) + 26;
  const to = write(page, 'Billed to', { ...left, y }, { color: FAINT, size: 8.5 }) + 1;
  const toEnd = write(page, shown(invoice.clientId), { ...left, y: to }, { strong: true });
  const of = write(page, 'Project', { ...right, y }, { color: FAINT, size: 8.5 }) + 1;
  const ofEnd = write(page, encodeId('project', invoice.projectId), { ...right, y: of }, { size: 8.5 });
  page.y = Math.max(toEnd, ofEnd) + 26;
}

function turnPage(page: Page): void {
  page.addPage();
  page.y = PAGE.margin;
}

function drawTableHead(page: Page, currency: string): void {
  const { y } = page;
  write(page, 'Description', { x: PAGE.margin, y, width: DESCRIPTION_WIDTH }, { color: FAINT, size: 8.5 });
  const end = write(
    page,
    `Amount in ${currency}`,
    { x: RIGHT - AMOUNT_WIDTH, y, width: AMOUNT_WIDTH },
    { color: FAINT, size: 8.5, align: 'right' },
  );
  rule(page, end + 4, INK);
  page.y = end + 11;
}

function drawLines(page: Page, { lines, currency }: Invoice): void {
  const [first] = lines;
  if (first !== undefined && page.y + 30 + heightOf(page, shown(first.description), DESCRIPTION_WIDTH) > BOTTOM) turnPage(page);
  drawTableHead(page, currency);
  for (const { description, amountMinor } of lines) {
    const text = shown(description);
    if (page.y + heightOf(page, text, DESCRIPTION_WIDTH) > BOTTOM) {
      turnPage(page);
      drawTableHead(page, currency);
    }
    const { y } = page;
    const end = write(page, text, { x: PAGE.margin, y, width: DESCRIPTION_WIDTH });
    write(page, amountOf(amountMinor, currency), { x: RIGHT - AMOUNT_WIDTH, y, width: AMOUNT_WIDTH }, { align: 'right' });
    rule(page, end + 5);
    page.y = end + 11;
  }
}

function drawTotals(page: Page, { invoice, letterhead }: InvoiceDocument): void {
  const { currency, subtotalMinor, taxMinor, totalMinor } = invoice;
  const taxLine =
    letterhead.taxLine === null
      ? null
      : letterhead.taxLine
          .split(/\r\n|\r|\n/)
          .map(shown)
          .join('\n');
  const needed = 90 + (taxLine === null ? 0 : heightOf(page, taxLine, WIDTH, 9));
  if (page.y + needed > BOTTOM) turnPage(page);
  const label = { x: PAGE.margin, width: DESCRIPTION_WIDTH };
  const value = { x: RIGHT - AMOUNT_WIDTH, width: AMOUNT_WIDTH };
  let y = page.y + 4;
  const parts: [string, bigint][] =
    taxMinor === 0n
      ? []
      : [
          ['Subtotal', subtotalMinor],
          ['Tax', taxMinor],
        ];
  for (const [name, minor] of parts) {
    write(page, name, { ...label, y }, { align: 'right', color: FAINT });
    y = write(page, amountOf(minor, currency), { ...value, y }, { align: 'right' }) + 4;
  }
  write(page, 'Total', { ...label, y }, { align: 'right', strong: true, size: 12 });
  y = write(page, `${currency} ${amountOf(totalMinor, currency)}`, { ...value, y }, { align: 'right', strong: true, size: 12 });
  if (taxLine !== null) write(page, taxLine, { x: PAGE.margin, y: y + 28, width: WIDTH }, { size: 9, color: FAINT });
}

/** On every page, when it is known how many there are. */
function drawFeet(page: Page, letterhead: Letterhead, number: string): void {
  const { start, count } = page.bufferedPageRange();
  const name = shown(letterhead.name);
  for (let i = start; i < start + count; i++) {
    page.switchToPage(i);
    const y = PAGE.height - PAGE.margin - 10;
    write(page, clipped(page, name, COLUMN), { x: PAGE.margin, y, width: COLUMN }, { size: 8, color: FAINT });
    write(
      page,
      `${number} · page ${i + 1} of ${count}`,
      { x: RIGHT - COLUMN, y, width: COLUMN },
      { size: 8, color: FAINT, align: 'right' },
    );
  }
}

/** As much of a text as one line of the foot holds. */
function clipped(page: Page, text: string, width: number): string {
  page.font('regular').fontSize(8);
  if (page.widthOfString(text) <= width) return text;
  let kept = [...text];
  while (kept.length > 0 && page.widthOfString(`${kept.join('')}…`) > width) kept = kept.slice(0, Math.floor(kept.length * 0.9));
  return `${kept.join('')}…`;
}

/** `1,234.50`: the digits of the amount, grouped; exact, by moving digits only. */
function amountOf(amountMinor: bigint, currency: string): string {
  const exponent = currencyExponents.get(currency) ?? 2;
  const digits = amountMinor.toString().padStart(exponent + 1, '0');
  const whole = digits.slice(0, digits.length - exponent).replace(/\B(?=(\d{3})+$)/g, ',');
  return exponent === 0 ? whole : `${whole}.${digits.slice(-exponent)}`;
}

function dateFormat(timeZone: string): (date: Date) => string {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'long', year: 'numeric' });
  return (date) => format.format(date);
}
