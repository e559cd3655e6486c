// Writes the generated part of the Go client: every type, operation, error and webhook, from openapi.json alone.
// Needs no Go. The output is what gofmt would make of it; sdks/go/run-tests checks that.

import { readFileSync, writeFileSync } from 'node:fs';
import { answersText, clientText, type Method, methodsOf, pagesText, servicesText } from './generate-go-operations.ts';
import { exported, goFile, quoted, struct } from './generate-go-text.ts';
import { GoTypes, lowered, type Schema } from './generate-go-types.ts';
import type { Document } from './sdk-operations.ts';

/** The files, by the path from the repository's root. */
export function goClient(document: Document): Record<string, string> {
  const types = new GoTypes(document.components.schemas as Record<string, Schema>);
  const methods = methodsOf(document);
  // Services and webhooks go first: what they name is what gets written.
  const services = servicesText(methods, types);
  const pages = pagesText(methods, types);
  const answers = answersText(methods, types);
  const webhooks = webhooksText(document, types);
  const errors = errorsText(document, types);
  const file = (name: string, about: string, body: readonly string[]): [string, string] => [`sdks/go/${name}.gen.go`, goFile(about, body)];
  return Object.fromEntries([
    file('client', 'The client with its resources.', [
      clientText(methods),
      `// Version is the version of the API's document that this client was made from.\nconst Version = ${quoted(document.info.version)}\n`,
    ]),
    file('operations', 'Every operation of the API, by resource.', [...services, ...pages, ...answers]),
    file('models', 'What the service answers.', types.textOf('model')),
    file('params', 'What is sent to the service.', types.textOf('params')),
    file('enums', 'The values that a field can have.', types.textOf('enum')),
    file('errors', 'A type and a value for each code of an error.', errors),
    file('webhooks', 'A type for each kind of webhook.', webhooks),
    [
      'sdks/go/operations.gen_test.go',
      goFile('Where each operation of the API is in the client, for the shared scenario.', [operationsTable(methods)]),
    ],
  ]);
}

/** The scenario names operations by their ids. */
function operationsTable(methods: readonly Method[]): string {
  const rows = methods.map(
    ({ operation, resource, name, page }) =>
      `\t${quoted(operation.operationId)}: {${quoted(exported(resource))}, ${quoted(name)}, ${page !== null}},\n`,
  );
  const widest = Math.max(...rows.map((row) => row.indexOf('{')));
  const lines = rows.map((row) => row.replace(': {', `:${' '.repeat(widest - row.indexOf('{') + 1)}{`));
  return `var operationMethods = map[string]struct {\n\tresource, method string\n\tpaged            bool\n}{\n${lines.join('')}}\n`;
}

/** `not_found` → `NotFoundError` and `ErrNotFound`; `internal_error` → `InternalError` and `ErrInternal`. */
function errorsText(document: Document, types: GoTypes): string[] {
  types.named('FieldError', 'received');
  types.named('ErrorCode', 'received');
  const codes = (document.components.schemas.ErrorCode?.enum ?? []).map(String).map((code) => {
    const noun = exported(code.replace(/_error$/, ''));
    return { code, constant: `ErrorCode${exported(code)}`, type: `${noun}Error`, value: `Err${noun}` };
  });
  const values = codes.map(
    ({ constant, value, code }) => `\t// ${value} finds an error with the code ${code}.\n\t${value} error = ${constant}\n`,
  );
  const cases = codes.map(({ constant, type }) => `\tcase ${constant}:\n\t\treturn (*${type})(e)\n`);
  return [
    `// The codes, as targets of errors.Is.\nvar (\n${values.join('\n')})\n`,
    `// typed is the error as the type of its code; nil for a code that this client does not know.\nfunc (e *Error) typed() error {\n\tswitch e.Code {\n${cases.join('')}\t}\n\treturn nil\n}\n`,
    ...codes.map(
      ({ code, type }) => `// ${type} is an [Error] with the code ${code}, for errors.As.
type ${type} Error

// Error tells what happened, which fields are at fault and the request id.
func (e *${type}) Error() string {
	return (*Error)(e).Error()
}

// Unwrap returns the [Error].
func (e *${type}) Unwrap() error {
	return (*Error)(e)
}
`,
    ),
  ];
}

function webhooksText(document: Document, types: GoTypes): string[] {
  const kinds = Object.entries(document.webhooks ?? {}).map(([event, { post }]) => {
    const name = (post.requestBody.content?.['application/json']?.schema?.$ref ?? '').replace(/^.*\//, '');
    const schema = types.schema(name);
    const fields = types.fields(exported(name), schema, 'received');
    return { event, type: exported(name), about: schema.description ?? '', fields };
  });
  types.named('EventType', 'received');
  const cases = kinds.map(({ event, type }) => `\tcase EventType${exported(event)}:\n\t\treturn &${type}{}\n`);
  return [
    `// newWebhook makes the type of a kind of event; nil for a kind that this client does not know.\nfunc newWebhook(kind EventType) WebhookEvent {\n\tswitch kind {\n${cases.join('')}\t}\n\treturn nil\n}\n`,
    ...kinds.map(({ event, type, about, fields }) => {
      const typed = fields.map((field) =>
        field.name === 'Event' ? { ...field, type: 'EventType', doc: field.doc || `Always ${event}.` } : field,
      );
      return `${struct(type, `${type}: ${lowered(about)}`, typed, ['WebhookMeta `json:"-"`'])}
// Type returns [EventType${exported(event)}].
func (w *${type}) Type() EventType {
	return EventType${exported(event)}
}
`;
    }),
  ];
}

if (import.meta.main) {
  const root = new URL('../', import.meta.url);
  const document = JSON.parse(readFileSync(new URL('openapi.json', root), 'utf8')) as Document;
  for (const [path, text] of Object.entries(goClient(document))) {
    writeFileSync(new URL(path, root), text);
    process.stdout.write(`wrote ${path}\n`);
  }
}
