// Python's side of a schema: its type, how its JSON is read, names that Python allows, and texts in docstrings.
// Everything is laid out as `ruff format` would, so that generated files need no formatter.

import { fail, isEnum, refName, type Schema, snake } from './document.ts';

export type Schemas = ReadonlyMap<string, Schema>;

/** What a program gets from the API has exact types; what it hands over may be anything that can be sent as that. */
export type Direction = 'received' | 'sent';

const LINE_WIDTH = 120;

const keywords = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if import in is ' +
    'lambda nonlocal not or pass raise return try while with yield match self'
  ).split(' '),
);

/** The parameters that every method has for itself; a field of the same name gets an underscore. */
const optionNames = new Set(['idempotency_key', 'if_match', 'if_none_match', 'headers', 'timeout', 'max_retries']);

export function pythonName(name: string): string {
  const text = snake(name);
  return keywords.has(text) || optionNames.has(text) ? `${text}_` : text;
}

export const quoted = (value: string | number | boolean): string => {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value);
};

export const literal = (values: readonly (string | number | boolean)[]): string => `Literal[${values.map(quoted).join(', ')}]`;

/** One attribute of a class; a list of values that is too long for its line gets a line for each. */
export function attribute(name: string, type: string, value: string): string {
  const line = `${name}${type}${value}\n`;
  const values = /^Literal\[(.*)\]( \| None)?$/.exec(type);
  if (line.length <= LINE_WIDTH + 1 || values === null) return line;
  const rows = (indent: string): string => (values[1] as string).replace(/("[^"]*"), /g, `$1,\n${indent}`);
  if (values[2] === undefined) return `${name}Literal[\n        ${rows('        ')},\n    ]${value}\n`;
  return `${name}(\n        Literal[\n            ${rows('            ')},\n        ]\n        | None\n    )${value}\n`;
}

/** The type of a schema's values. */
export function typeOf(schema: Schema, direction: Direction, schemas: Schemas): string {
  if (schema.$ref !== undefined) return refName(schema.$ref);
  if (schema.const !== undefined) return literal([schema.const]);
  if (schema.enum !== undefined) return literal(schema.enum.filter((value) => value !== null));
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return union(options.map((option) => typeOf(option, direction, schemas)));
  if (Array.isArray(schema.type)) return union(schema.type.map((type: string) => typeOf({ ...schema, type }, direction, schemas)));
  switch (schema.type) {
    case 'null':
      return 'None';
    case 'string':
      return stringType(schema.format, direction);
    case 'integer':
      return 'int';
    case 'number':
      return 'float';
    case 'boolean':
      return 'bool';
    case 'array':
      return `${direction === 'received' ? 'list' : 'Sequence'}[${typeOf(schema.items ?? {}, direction, schemas)}]`;
    case 'object': {
      const values = typeof schema.additionalProperties === 'object' ? typeOf(schema.additionalProperties, direction, schemas) : 'Any';
      return `${direction === 'received' ? 'dict' : 'Mapping'}[str, ${values}]`;
    }
    case undefined:
      return 'Any';
    default:
      return fail(`no Python type for ${JSON.stringify(schema)}`);
  }
}

function stringType(format: string | undefined, direction: Direction): string {
  const moment = format === 'date-time' ? 'datetime' : format === 'date' ? 'date' : undefined;
  if (moment === undefined) return 'str';
  return direction === 'received' ? moment : `${moment} | str`;
}

function union(types: readonly string[]): string {
  const distinct = [...new Set(types.flatMap((type) => type.split(' | ')))];
  return [...distinct.filter((type) => type !== 'None'), ...distinct.filter((type) => type === 'None')].join(' | ');
}

/** The function that turns decoded JSON into the type above; undefined where it is that already. */
export function converterOf(schema: Schema, schemas: Schemas): string | undefined {
  if (schema.$ref !== undefined) {
    const name = refName(schema.$ref);
    const target = schemas.get(name) ?? fail(`${name} is not a schema`);
    return isEnum(target) ? undefined : `${name}._adopt`;
  }
  const options = (schema.anyOf ?? schema.oneOf ?? []).filter((option) => option.type !== 'null');
  // A value that may be one of several models cannot be told apart here; it stays as decoded.
  if (options.length > 0) return options.length === 1 ? converterOf(options[0] as Schema, schemas) : undefined;
  if (schema.items !== undefined) return wrap('list_of', converterOf(schema.items, schemas));
  if (typeof schema.additionalProperties === 'object') return wrap('map_of', converterOf(schema.additionalProperties, schemas));
  if (schema.format === 'date-time') return 'parse_time';
  return schema.format === 'date' ? 'date.fromisoformat' : undefined;
}

const wrap = (outer: string, inner: string | undefined): string | undefined => (inner === undefined ? undefined : `${outer}(${inner})`);

/** What a field means: its own words, or those of the schema it refers to. */
export function descriptionOf(schema: Schema, schemas: Schemas): string | undefined {
  if (schema.description !== undefined) return schema.description;
  if (schema.$ref !== undefined) return firstParagraph(schemas.get(refName(schema.$ref))?.description);
  return (schema.anyOf ?? []).map((option) => descriptionOf(option, schemas)).find((text) => text !== undefined);
}

const firstParagraph = (text: string | undefined): string | undefined => text?.split('\n\n')[0];

/** A docstring of one or many lines at an indentation. */
export function docstring(text: string, indent: string): string {
  const safe = text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").trim();
  const lines = safe.split('\n').flatMap((line) => wrapLine(line, LINE_WIDTH - indent.length));
  const only = lines[0] ?? '';
  // A quote before the closing ones would read as a fourth.
  if (lines.length === 1 && only.length + indent.length + 6 <= LINE_WIDTH && !only.endsWith('"')) return `${indent}"""${only}"""\n`;
  return `${indent}"""\n${lines.map((line) => (line === '' ? '' : `${indent}${line}`)).join('\n')}\n${indent}"""\n`;
}

/** Breaks a line at spaces; what follows is indented as far as the text of a list item or a parameter begins. */
function wrapLine(line: string, width: number): string[] {
  const hang = /^(\s*)(- |:)/.exec(line) === null ? '' : '    ';
  const wrapped: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    if (current !== '' && `${current} ${word}`.length > width) {
      wrapped.push(current);
      current = hang + word;
    } else {
      current = current === '' && wrapped.length === 0 && word === '' ? '' : current === '' ? word : `${current} ${word}`;
    }
  }
  return [...wrapped, current];
}

export const header = (job: string): string => `# Generated by \`npm run generate\` from openapi.json; edits here are lost.
# ${job}

from __future__ import annotations
`;

/** An import that names everything on lines of its own, or on one where it fits. */
export function importLine(module: string, names: Iterable<string>): string {
  const sorted = [...new Set(names)].sort(byImportOrder);
  if (sorted.length === 0) return '';
  const line = `from ${module} import ${sorted.join(', ')}\n`;
  if (line.length - 1 <= LINE_WIDTH) return line;
  return `from ${module} import (\n${sorted.map((name) => `    ${name},\n`).join('')})\n`;
}

/** What a `from … import *` takes. */
export const exported = (names: Iterable<string>): string =>
  `__all__ = [\n${[...names]
    .sort()
    .map((name) => `    "${name}",\n`)
    .join('')}]\n`;

/** As isort does: constants, then classes, then the rest, each in order. */
function byImportOrder(a: string, b: string): number {
  const rank = (name: string): number => (/^[A-Z0-9_]+$/.test(name) && name.length > 1 ? 0 : /^[A-Z]/.test(name) ? 1 : 2);
  return rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0);
}

/** Which of the names occur in the code as words. */
export const used = (names: Iterable<string>, code: string): string[] => {
  // Docstrings are prose; a name in them needs no import.
  const words = new Set(code.replaceAll(/"""[\s\S]*?"""/g, '').match(/\w+/g));
  return [...names].filter((name) => words.has(name));
};
