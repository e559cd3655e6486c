// Writes the Python types of the schemas: enums, models of what is received, typed dictionaries of what is sent, webhooks, errors.
// Knows no operations.

import { type Document, fail, isEnum, isObject, pascal, refName, type Schema } from './document.ts';
import {
  attribute,
  converterOf,
  descriptionOf,
  docstring,
  exported,
  header,
  importLine,
  pythonName,
  quoted,
  type Schemas,
  typeOf,
  used,
} from './python.ts';

export function enumsFile(schemas: Schemas): string {
  const enums = [...schemas].filter(([, schema]) => isEnum(schema));
  const parts = enums.map(([name, schema]) => {
    const values = (schema.enum ?? []).filter((value) => value !== null);
    const type =
      values.length === 1
        ? `Literal[${quoted(values[0] as string)}]`
        : `Literal[\n${values.map((value) => `    ${quoted(value)},\n`).join('')}]`;
    return `${name}: TypeAlias = ${type}\n${docstring(schema.description ?? name, '')}`;
  });
  return `${header('The enums of the API. A server may be newer than this client and send values that are not listed here.')}
from typing import Literal, TypeAlias

${exported(enums.map(([name]) => name))}
${parts.join('\n')}`;
}

export const enumNames = (schemas: Schemas): string[] => [...schemas].filter(([, schema]) => isEnum(schema)).map(([name]) => name);

/** Lists are pages in the client, and webhooks have a file of their own. */
export const modelNames = (received: ReadonlySet<string>, schemas: Schemas): string[] =>
  [...received].filter((name) => {
    const schema = schemas.get(name) ?? fail(name);
    return isObject(schema) && !isList(schema) && name !== 'Problem' && name !== 'FieldError';
  });

export const isList = (schema: Schema): boolean => schema.properties?.object?.const === 'list';

export function modelsFile(names: readonly string[], schemas: Schemas): string {
  const sorted = [...names].sort();
  const classes = sorted.map((name) => modelClass(name, schemas, 'Model', schemas.get(name) ?? fail(name)));
  const tables = sorted.flatMap((name) => converterTable(name, schemas));
  const code = [...classes, ...tables].join('\n\n');
  return `${header('The resources and payloads of the API as typed objects.')}
${importLine('dataclasses', used(['dataclass', 'field'], code))}${importLine('datetime', used(['date', 'datetime'], code))}${importLine('typing', used(['Any', 'ClassVar', 'Literal'], code))}
${importLine('.._model', ['Model', ...used(['list_of', 'map_of'], code)])}${importLine('.._values', used(['parse_time'], code))}${importLine('.enums', used(enumNames(schemas), code))}
${exported(sorted)}

${classes.join('\n\n')}
${tables.length === 0 ? '' : `\n# How fields that are more than plain JSON are read.\n${tables.join('')}`}`;
}

function modelClass(name: string, schemas: Schemas, base: string, schema: Schema, skip: ReadonlySet<string> = new Set()): string {
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties ?? {}).filter(([field]) => !skip.has(field));
  const renamed = Object.keys(schema.properties ?? {}).filter((field) => pythonName(field) !== field);
  const attributes = renamed.map((field) => `        ${quoted(field)}: ${quoted(pythonName(field))},\n`).join('');
  const lines = fields.map(([field, inner]) => {
    const type = typeOf(inner, 'received', schemas);
    const optional = !required.has(field);
    // A secret must not be printed by accident.
    const options = [...(optional ? ['default=None'] : []), ...(field === 'secret' ? ['repr=False'] : [])];
    const value = options.length === 0 ? '' : field === 'secret' ? ` = field(${options.join(', ')})` : ' = None';
    const words = descriptionOf(inner, schemas);
    const annotation = optional && !type.endsWith('None') ? `${type} | None` : type;
    return `${attribute(`    ${pythonName(field)}: `, annotation, value)}${words === undefined ? '' : docstring(words, '    ')}`;
  });
  const object = schema.properties?.object?.const;
  return `@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ${name}(${base}):
${docstring(schema.description ?? name, '    ')}
${renamed.length === 0 ? '' : `    _attributes: ClassVar[dict[str, str]] = {\n${attributes}    }\n\n`}${typeof object === 'string' ? `    _object: ClassVar[str | None] = ${quoted(object)}\n\n` : ''}${lines.join('')}`;
}

function converterTable(name: string, schemas: Schemas): string[] {
  const rows = Object.entries(schemas.get(name)?.properties ?? {}).flatMap(([field, inner]) => {
    const converter = converterOf(inner, schemas);
    return converter === undefined ? [] : [`    (${quoted(pythonName(field))}, ${converter}),\n`];
  });
  if (rows.length === 1) return [`${name}._converters = (${(rows[0] as string).trim()})\n`];
  return rows.length === 0 ? [] : [`${name}._converters = (\n${rows.join('')})\n`];
}

export const bodyNames = (sent: ReadonlySet<string>, schemas: Schemas): string[] =>
  [...sent].filter((name) => isObject(schemas.get(name) ?? fail(name)));

/** Python 3.10 has no NotRequired: what must be there is in a class of its own, what may be left out in its heir. */
export function bodiesFile(names: readonly string[], schemas: Schemas): string {
  const classes = [...names].sort().map((name) => {
    const schema = schemas.get(name) ?? fail(name);
    const required = new Set(schema.required);
    const fields = Object.entries(schema.properties ?? {});
    const needed = fields.filter(([field]) => required.has(field));
    const optional = fields.filter(([field]) => !required.has(field));
    const lines = (some: typeof fields): string =>
      some
        .map(([field, inner]) => {
          const words = descriptionOf(inner, schemas);
          return `    ${field}: ${typeOf(inner, 'sent', schemas)}\n${words === undefined ? '' : docstring(words, '    ')}`;
        })
        .join('');
    const words = docstring(schema.description ?? name, '    ');
    if (needed.length === 0)
      return `class ${name}(TypedDict, total=False):\n${words}${optional.length === 0 ? '' : `\n${lines(optional)}`}`;
    if (optional.length === 0) return `class ${name}(TypedDict):\n${words}\n${lines(needed)}`;
    return `class _${name}Required(TypedDict):\n${lines(needed)}\n\nclass ${name}(_${name}Required, total=False):\n${words}\n${lines(optional)}`;
  });
  const code = classes.join('\n\n');
  return `${header('What request bodies look like, for programs that build them as dictionaries.')}
${importLine('collections.abc', used(['Mapping', 'Sequence'], code))}${importLine('datetime', used(['date', 'datetime'], code))}${importLine('typing', used(['Any', 'Literal', 'TypedDict'], code))}
${importLine('.enums', used(enumNames(schemas), code))}
${exported(names)}

${code}`;
}

/** The schema of each webhook's body, by the kind of event. */
export function webhookSchemas(document: Document): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(document.webhooks).map(([kind, { post }]) => {
      const ref = post.requestBody?.content?.['application/json']?.schema?.$ref;
      return [kind, refName(ref ?? fail(`the webhook ${kind} has no named body`))];
    }),
  );
}

export function webhooksFile(document: Document, schemas: Schemas): string {
  const kinds = webhookSchemas(document);
  const classes = [...kinds.values()].map((name) => {
    const schema = schemas.get(name) ?? fail(name);
    return modelClass(name, schemas, 'WebhookEnvelope', schema);
  });
  const tables = [...kinds.values()].flatMap((name) => converterTable(name, schemas));
  const names = [...kinds.values()];
  const code = [...classes, ...tables].join('\n');
  const models = modelNames(new Set([...schemas.keys()].filter((name) => !names.includes(name))), schemas);
  return `${header('The events that webhooks tell, one class for each kind.')}
${importLine('dataclasses', used(['dataclass', 'field'], code))}${importLine('datetime', used(['date', 'datetime'], code))}${importLine('typing', [...used(['Any', 'ClassVar', 'Literal'], code), 'TypeAlias', 'Union'])}
${importLine('.._model', used(['list_of', 'map_of'], code))}${importLine('.._webhook_envelope', ['UnknownWebhook', 'WebhookEnvelope'])}${importLine('.models', used(models, code))}
${exported([...names, 'WebhookEvent'])}

${classes.join('\n\n')}

# How the payloads are read.
${tables.join('')}
WebhookEvent: TypeAlias = Union[
${names.map((name) => `    ${name},\n`).join('')}    UnknownWebhook,
]
"""What a webhook tells. Tell the kinds apart with \`match\` or \`isinstance\`; a kind that is newer than this client is an UnknownWebhook."""

WEBHOOK_CLASSES: dict[str, type[WebhookEnvelope]] = {
${[...kinds].map(([kind, name]) => `    ${quoted(kind)}: ${name},\n`).join('')}}
`;
}

/** One class for each code, called as the code is. */
export function errorsFile(document: Document, schemas: Schemas): string {
  const codes = (schemas.get('ErrorCode') ?? fail('the document has no ErrorCode')).enum ?? [];
  const titles = errorTitles(document);
  const classes = codes.map((code) => {
    const told = titles.get(String(code));
    const words = told === undefined ? `\`${code}\`.` : `${told.title}. \`${code}\`, status ${told.status}.`;
    return `class ${errorClass(String(code))}(ApiError):\n${docstring(words, '    ')}`;
  });
  return `${header("One class for each of the API's error codes.")}
from .._errors import ApiError

${exported(codes.map((code) => errorClass(String(code))))}
${`\n${classes.join('\n\n')}`}

ERROR_CLASSES: dict[str, type[ApiError]] = {
${codes.map((code) => `    ${quoted(String(code))}: ${errorClass(String(code))},\n`).join('')}}
`;
}

/** \`internal_error\` is an InternalError, not an InternalErrorError. */
export const errorClass = (code: string): string => `${pascal(code.replace(/_error$/, ''))}Error`;

function errorTitles(document: Document): ReadonlyMap<string, { title: string; status: number }> {
  const titles = new Map<string, { title: string; status: number }>();
  for (const response of Object.values(document.components.responses ?? {})) {
    for (const content of Object.values(response.content ?? {})) {
      for (const [code, { value }] of Object.entries(content.examples ?? {})) titles.set(code, value as { title: string; status: number });
    }
  }
  return titles;
}
