// Writes the methods of the Python client, one class for each resource, once for the sync and once for the async client.
// The methods only hand over what they were given; sending is the hand-written core's work.

import { fail, pascal, type Schema } from './document.ts';
import { bodyNames, enumNames } from './models.ts';
import { type Endpoint, singular } from './operations.ts';
import { descriptionOf, docstring, header, importLine, pythonName, quoted, type Schemas, typeOf, used } from './python.ts';

export type Flavour = 'sync' | 'async';

interface Argument {
  readonly name: string;
  readonly type: string;
  readonly value: string | undefined;
  readonly words: string | undefined;
}

/** A resource that there is one of, such as the workspace, is named like its model, which keeps the name. */
function resourceClass(resource: string, flavour: Flavour, schemas: Schemas): string {
  const name = pascal(resource);
  return `${flavour === 'async' ? 'Async' : ''}${name}${schemas.has(name) ? 'Calls' : ''}`;
}

export function resourcesFile(endpoints: readonly Endpoint[], schemas: Schemas, flavour: Flavour): string {
  const resources = [...new Set(endpoints.map(({ resource }) => resource))];
  const client = flavour === 'async' ? 'AsyncTranche' : 'Tranche';
  const classes = resources.map((resource) => {
    const methods = endpoints.filter((endpoint) => endpoint.resource === resource).map((endpoint) => methodOf(endpoint, schemas, flavour));
    return `class ${resourceClass(resource, flavour, schemas)}:
${docstring(`The methods of \`client.${resource}\`.`, '    ')}
    def __init__(self, client: ${client}) -> None:
        self._client = client

${methods.join('\n')}`;
  });
  const all = `class ${flavour === 'async' ? 'AsyncResources' : 'Resources'}:
${docstring('Every resource, as an attribute of the client.', '    ')}
    def __init__(self, client: ${client}) -> None:
${resources.map((resource) => `        self.${resource} = ${resourceClass(resource, flavour, schemas)}(client)\n`).join('')}`;
  const code = [...classes, all].join('\n\n');
  const page = flavour === 'async' ? 'AsyncList' : 'Page';
  const stream = streamClass(flavour);
  const models = used([...new Set(endpoints.flatMap(({ result }) => (result.kind === 'nothing' ? [] : [result.name])))], code);
  const bodies = bodyNames(new Set([...schemas.keys()].filter((name) => schemas.get(name)?.properties !== undefined)), schemas).filter(
    (name) => !models.includes(name),
  );
  return `${header(`The methods of the ${flavour} client.`)}
${importLine('collections.abc', used(['Mapping', 'Sequence'], code))}${importLine('datetime', used(['date', 'datetime'], code))}${importLine('typing', ['TYPE_CHECKING', ...used(['Any', 'Literal'], code)])}
${importLine('.._call', ['Call'])}${importLine('.._page', [...used([page], code), 'ListRequest'])}${importLine('.._stream', used([stream], code))}${importLine('.._stream_progress', used(['StreamRequest'], code))}${importLine('.._unexpected', used(['nothing'], code))}${importLine('.._values', used(['NOT_GIVEN', 'NotGiven', 'either', 'entity_tag', 'path_segment'], code))}${importLine('.bodies', used(bodies, code))}${importLine('.enums', used(enumNames(schemas), code))}${importLine('.models', used(models, code))}
if TYPE_CHECKING:
    from ..${flavour === 'async' ? '_async_client' : '_client'} import ${client}


${code}`;
}

function methodOf(endpoint: Endpoint, schemas: Schemas, flavour: Flavour): string {
  const path = pathArguments(endpoint);
  const given = endpoint.body === undefined ? queryArguments(endpoint, schemas) : bodyArguments(endpoint.body, schemas);
  const options = optionArguments(endpoint);
  const signature = [
    '        self,\n',
    ...path.map(({ name }) => `        ${name}: str,\n`),
    ...(path.length > 0 ? ['        /,\n'] : []),
    '        *,\n',
    ...[...given, ...options].map(({ name, type, value }) => `        ${name}: ${type}${value === undefined ? '' : ` = ${value}`},\n`),
  ];
  const paged = endpoint.result.kind === 'page';
  const streams = endpoint.result.kind === 'stream';
  const asynchronous = flavour === 'async' && !paged && !streams;
  return `    ${asynchronous ? 'async ' : ''}def ${endpoint.method}(
${signature.join('')}    ) -> ${returnType(endpoint, flavour)}:
${docstring(methodWords(endpoint, [...given, ...options]), '        ')}${
  streams ? streamCall(endpoint, flavour) : paged ? listCall(endpoint, flavour) : plainCall(endpoint, schemas, asynchronous)
}`;
}

const streamClass = (flavour: Flavour): string => (flavour === 'async' ? 'AsyncEventStream' : 'EventStream');

function returnType({ result }: Endpoint, flavour: Flavour): string {
  if (result.kind === 'nothing') return 'None';
  if (result.kind === 'stream') return streamClass(flavour);
  return result.kind === 'one' ? result.name : `${flavour === 'async' ? 'AsyncList' : 'Page'}[${result.name}]`;
}

/** `{id}` is called after the resource; the path of the document does not say what it is the id of. */
function pathArguments({ pathParameters, resource }: Endpoint): readonly { name: string; parameter: string }[] {
  return pathParameters.map((parameter) => ({ parameter, name: parameter === 'id' ? `${singular(resource)}_id` : pythonName(parameter) }));
}

/** None stays last, where readers and linters expect it. */
const withoutValue = (type: string): string =>
  type.endsWith(' | None') ? `${type.slice(0, -' | None'.length)} | NotGiven | None` : `${type} | NotGiven`;

function bodyArguments(body: string, schemas: Schemas): readonly Argument[] {
  const schema: Schema = schemas.get(body) ?? fail(body);
  const required = new Set(schema.required);
  const all = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const type = typeOf(field, 'sent', schemas);
    const optional = !required.has(name);
    return {
      name: pythonName(name),
      type: optional ? withoutValue(type) : type,
      value: optional ? 'NOT_GIVEN' : undefined,
      words: descriptionOf(field, schemas),
    };
  });
  return [...all.filter(({ value }) => value === undefined), ...all.filter(({ value }) => value !== undefined)];
}

/** `payments.list(project=…)` means `project_id=…`, where no other parameter has that name. */
function shortName(parameter: string, endpoint: Endpoint): string | undefined {
  const short = /^(\w+)_id$/.exec(parameter)?.[1];
  return short === undefined || endpoint.query.some(({ name }) => name === short) ? undefined : pythonName(short);
}

/** Parameters that the API takes as text with commas between, and a program as a list. */
const listed: Readonly<Record<string, string>> = { event_types: 'Sequence[EventType]' };

function queryArguments(endpoint: Endpoint, schemas: Schemas): readonly Argument[] {
  return endpoint.query.flatMap((parameter) => {
    const words = parameter.description ?? descriptionOf(parameter.schema, schemas);
    const type = withoutValue(listed[parameter.name] ?? typeOf(parameter.schema, 'sent', schemas));
    const argument = { name: pythonName(parameter.name), type, value: 'NOT_GIVEN', words };
    const short = shortName(parameter.name, endpoint);
    return short === undefined ? [argument] : [argument, { ...argument, name: short, words: `The same as \`${argument.name}\`.` }];
  });
}

function optionArguments({ headers, result }: Endpoint): readonly Argument[] {
  const option = (name: string, type: string, value: string, words: string): Argument => ({ name, type, value, words });
  if (result.kind === 'stream') {
    return [
      option('headers', 'Mapping[str, str] | None', 'None', 'Further headers for every connection.'),
      option(
        'timeout',
        'float | NotGiven | None',
        'NOT_GIVEN',
        'Seconds of silence after which it connects again. Default: 45, three heartbeats of the server.',
      ),
      option('max_retries', 'int | None', 'None', "How often in a row to connect in vain before giving up. Default: the client's."),
    ];
  }
  return [
    ...(headers.has('idempotency-key')
      ? [option('idempotency_key', 'str | None', 'None', 'A key of your own for this call, kept over retries. Default: a random one.')]
      : []),
    ...(headers.has('if-match')
      ? [option('if_match', 'int | str | None', 'None', 'The `version` you read; when it is stale, PreconditionFailedError.')]
      : []),
    ...(headers.has('if-none-match')
      ? [option('if_none_match', 'int | str | None', 'None', 'The `version` you hold; when it is current, an ApiError with status 304.')]
      : []),
    option('headers', 'Mapping[str, str] | None', 'None', 'Further headers for this call.'),
    option('timeout', 'float | NotGiven | None', 'NOT_GIVEN', "Seconds for each attempt; None for no limit. Default: the client's."),
    option('max_retries', 'int | None', 'None', "How often to try again. Default: the client's."),
  ];
}

function methodWords(endpoint: Endpoint, given: readonly Argument[]): string {
  const told = given.filter(({ words }) => words !== undefined);
  const lines = told.map(({ name, words }) => `:param ${name}: ${(words ?? '').replaceAll('\n', ' ')}`);
  const description = endpoint.description ?? '';
  return `${endpoint.summary}.${description === '' ? '' : `\n\n${description}`}${lines.length === 0 ? '' : `\n\n${lines.join('\n')}`}`;
}

const pathExpression = (endpoint: Endpoint): string => {
  let path = endpoint.path;
  for (const { name, parameter } of pathArguments(endpoint)) path = path.replace(`{${parameter}}`, `{path_segment('${name}', ${name})}`);
  return path === endpoint.path ? quoted(path) : `f"${path}"`;
};

const queryEntries = (endpoint: Endpoint, indent: string): string =>
  endpoint.query
    .map(({ name }) => {
      const short = shortName(name, endpoint);
      const argument = pythonName(name);
      return `${indent}${quoted(name)}: ${short === undefined ? argument : `either(${argument}, ${short}, ${quoted(argument)})`},\n`;
    })
    .join('');

function plainCall(endpoint: Endpoint, schemas: Schemas, asynchronous: boolean): string {
  const indent = ' '.repeat(16);
  const decode = endpoint.result.kind === 'one' ? `${endpoint.result.name}._answer` : 'nothing';
  const lines = [`${quoted(endpoint.httpMethod)},\n`, `${pathExpression(endpoint)},\n`, `decode=${decode},\n`];
  if (endpoint.query.length > 0) lines.push(`query={\n${queryEntries(endpoint, `${indent}    `)}${indent}},\n`);
  if (endpoint.body !== undefined) {
    const fields = Object.keys(schemas.get(endpoint.body)?.properties ?? {});
    const entries = fields.map((name) => `${indent}    ${quoted(name)}: ${pythonName(name)},\n`).join('');
    lines.push(entries === '' ? 'body={},\n' : `body={\n${entries}${indent}},\n`);
  }
  if (endpoint.headers.has('idempotency-key')) lines.push('idempotency_key=idempotency_key,\n');
  if (endpoint.headers.has('if-match')) lines.push('if_match=entity_tag(if_match),\n');
  if (endpoint.headers.has('if-none-match')) lines.push('if_none_match=entity_tag(if_none_match),\n');
  for (const name of ['headers', 'timeout', 'max_retries']) lines.push(`${name}=${name},\n`);
  const call = `self._client._call(\n            Call(\n${lines.map((line) => indent + line).join('')}            )\n        )\n`;
  const returns = endpoint.result.kind === 'nothing' ? '' : 'return ';
  return `        ${returns}${asynchronous ? 'await ' : ''}${call}`;
}

function streamCall(endpoint: Endpoint, flavour: Flavour): string {
  const indent = ' '.repeat(16);
  const lines = [
    `${pathExpression(endpoint)},\n`,
    `{\n${queryEntries(endpoint, `${indent}    `)}${indent}},\n`,
    'headers,\n',
    'timeout,\n',
    'max_retries,\n',
  ];
  const request = `StreamRequest(\n${lines.map((line) => indent + line).join('')}            )`;
  return `        return ${streamClass(flavour)}(\n            self._client,\n            ${request},\n        )\n`;
}

function listCall(endpoint: Endpoint, flavour: Flavour): string {
  const indent = ' '.repeat(16);
  if (endpoint.result.kind !== 'page') return fail(endpoint.operationId);
  const lines = [
    `${pathExpression(endpoint)},\n`,
    `${endpoint.result.name}._adopt,\n`,
    `${quoted(endpoint.cursor ?? fail(`${endpoint.operationId} has no parameter that leads on to the next page`))},\n`,
    `{\n${queryEntries(endpoint, `${indent}    `)}${indent}},\n`,
    '{"headers": headers, "timeout": timeout, "max_retries": max_retries},\n',
  ];
  const request = `ListRequest(\n${lines.map((line) => indent + line).join('')}            )`;
  return flavour === 'async'
    ? `        return AsyncList(\n            ${request},\n            self._client._read_page,\n        )\n`
    : `        return self._client._read_page(\n            ${request}\n        )\n`;
}
