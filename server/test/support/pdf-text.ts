// Reads the words of a PDF back from its bytes: unfolds its streams, follows each font to its table of characters, and decodes what is drawn.
// Understands what our own pages are made of, and nothing else of PDF.

import { inflateSync } from 'node:zlib';

interface PdfText {
  readonly pages: string[];
  readonly fonts: string[];
  readonly title: string | null;
}

const OBJECT = /(\d+) 0 obj\n([\s\S]*?)\nendobj/g;

function streamOf(body: string): string {
  const begin = body.indexOf('stream\n');
  if (begin < 0) return '';
  const bytes = Buffer.from(body.slice(begin + 7, body.lastIndexOf('\nendstream')), 'latin1');
  return (body.includes('/FlateDecode') ? inflateSync(bytes) : bytes).toString('latin1');
}

/** Glyph to text, from the ranges of a ToUnicode table. */
function charactersOf(table: string): Map<number, string> {
  const characters = new Map<number, string>();
  for (const [, from, , list] of table.matchAll(/<(\w+)> <(\w+)> \[([^\]]*)\]/g)) {
    [...(list as string).matchAll(/<(\w*)>/g)].forEach(([, hex], i) => {
      characters.set(
        Number.parseInt(from as string, 16) + i,
        Buffer.from(hex as string, 'hex')
          .swap16()
          .toString('utf16le'),
      );
    });
  }
  return characters;
}

export function readPdf(file: Buffer): PdfText {
  const objects = new Map<string, string>();
  for (const [, id, body] of file.toString('latin1').matchAll(OBJECT)) objects.set(id as string, body as string);
  const all = [...objects.values()];
  const refOf = (body: string, name: string): string => objects.get(new RegExp(`/${name} (\\d+) 0 R`).exec(body)?.[1] ?? '') ?? '';
  const fontOf = (reference: string) => charactersOf(streamOf(refOf(objects.get(reference) ?? '', 'ToUnicode')));
  const pages = all
    .filter((body) => /\/Type \/Page\n/.test(body))
    .map((body) => {
      const resources = refOf(body, 'Resources');
      const fonts = new Map(
        [...resources.matchAll(/\/(F\d+) (\d+) 0 R/g)].map(([, name, reference]) => [name as string, fontOf(reference as string)]),
      );
      let current = new Map<number, string>();
      const lines: string[] = [];
      for (const [, font, drawn] of streamOf(refOf(body, 'Contents')).matchAll(/\/(F\d+) [\d.]+ Tf|\[([^\]]*)\] TJ/g)) {
        if (font !== undefined) current = fonts.get(font) ?? new Map();
        else {
          const hex = [...(drawn as string).matchAll(/<(\w+)>/g)].map(([, part]) => part).join('');
          lines.push((hex.match(/.{4}/g) ?? []).map((glyph) => current.get(Number.parseInt(glyph, 16)) ?? '\ufffd').join(''));
        }
      }
      return lines.join('\n');
    });
  const fonts = all.flatMap((body) => /\/Type \/FontDescriptor\n\/FontName \/(\S+)[\s\S]*\/FontFile2/.exec(body)?.[1] ?? []);
  const title = objects.get(/\/Title (\d+) 0 R/.exec(file.toString('latin1'))?.[1] ?? '');
  return { pages, fonts, title: title === undefined ? null : title.slice(1, -1) };
}
