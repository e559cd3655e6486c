// Reads CSV as RFC 4180 has it, and nothing else: a line that ends otherwise or a quote out of place is an error.
// For tests; written from the grammar, apart from what writes the files.

export function parseCsv(text: string): Record<string, string>[] {
  const [header, ...rows] = rowsOf(text);
  if (header === undefined) throw new Error('there is no header line');
  return rows.map((row) => {
    if (row.length !== header.length) throw new Error(`a line has ${row.length} cells and the header ${header.length}`);
    return Object.fromEntries(row.map((cell, i) => [header[i] as string, cell]));
  });
}

function rowsOf(text: string): string[][] {
  const rows: string[][] = [];
  let at = 0;
  while (at < text.length) {
    const row: string[] = [];
    for (;;) {
      const cell = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/.exec(text.slice(at, at + 100_000));
      if (cell === null) throw new Error(`no cell at ${at}: ${JSON.stringify(text.slice(at, at + 40))}`);
      row.push(cell[1]?.replaceAll('""', '"') ?? cell[2] ?? '');
      at += cell[0].length;
      if (cell[3] === '\r\n') break;
    }
    rows.push(row);
  }
  return rows;
}
