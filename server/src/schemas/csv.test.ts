// Lines of CSV: read back as they were written, whatever a text holds, and never run by a spreadsheet.
// Pure.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseCsv } from '../../test/support/csv.ts';
import { csvHeader, csvLine, csvWriter } from './csv.ts';

const cellsOf = (text: string): string[] => Object.values(parseCsv(csvLine(['a', 'b', 'c']) + text)[0] as object);

describe('a line of CSV', () => {
  test('is read back as it was written, but for the apostrophe that disarms a formula', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 3, maxLength: 3 }), (cells) => {
        const read = cellsOf(csvLine(cells));
        for (const [i, cell] of read.entries()) expect([cells[i], `'${cells[i]}`]).toContain(cell);
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    '=1+1',
    '+1',
    '-1',
    '@A1',
    '\t=1',
    '\r=1',
    '\n=1',
    ' =1',
    '\u00a0-2',
    '\ufeff=1',
    '＝1',
    '＋1',
    '－1',
    '＠A',
    '=HYPERLINK("http://x")',
  ])('holds %j as a text that no spreadsheet runs', (text) => {
    expect(cellsOf(csvLine([text, '', '']))[0]).toBe(`'${text}`);
  });

  test.each(['a=1', '1-2', "it's", 'a@b.c', '100%', '1234.56', 'inv_01'])('leaves %j as it is', (text) => {
    expect(cellsOf(csvLine([text, '', '']))[0]).toBe(text);
  });

  test('quotes what would end a cell or a line, a semicolon included, and ends with CR and LF', () => {
    expect(csvLine(['a,b', 'c"d', 'e\r\nf'])).toBe('"a,b","c""d","e\r\nf"\r\n');
    expect(csvLine(['a;b', ' c', 'd'])).toBe('"a;b"," c",d\r\n');
  });

  test('has the cells of its columns, in their order', () => {
    const columns = { x: (n: number) => String(n), y: (n: number) => `-${n}` };
    expect(csvHeader(columns) + csvWriter(columns)(5)).toBe("x,y\r\n5,'-5\r\n");
  });
});
