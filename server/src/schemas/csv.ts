// Lines of CSV as RFC 4180 has them, safe to open in a spreadsheet.
// Pure; knows no record.

/** What stands in each column, in the order of the columns. */
export type Columns<Entity> = Readonly<Record<string, (entity: Entity) => string>>;

/**
 * A spreadsheet takes a cell that begins like this for a formula and may run it: quotes do not keep it from that, an apostrophe does. The
 * wide forms count, since some spreadsheets fold them, and blanks in front are looked past, since some drop them.
 */
const FORMULA = /^[\s\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
const QUOTED = /[",;\r\n\t]|^\s|\s$/;

function csvCell(value: string): string {
  const text = FORMULA.test(value) ? `'${value}` : value;
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One line with its end. */
export const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`;

/** The header line of these columns. */
export const csvHeader = (columns: Columns<never>): string => csvLine(Object.keys(columns));

/** Makes the function that writes a record's line. */
export function csvWriter<Entity>(columns: Columns<Entity>): (entity: Entity) => string {
  const cells = Object.values(columns);
  return (entity) => csvLine(cells.map((cell) => cell(entity)));
}
