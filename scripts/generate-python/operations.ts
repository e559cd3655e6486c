// The operations of the document as the Python client needs them: what each takes, what it gives, where it is.
// Resource and method names come from the rule that all clients share; writes no Python.

import { operationsOf, type SdkOperation, type Document as SharedDocument } from '../sdk-operations.ts';
import { type Document, fail, type Operation, type Parameter, refName } from './document.ts';
import { header } from './python.ts';

export interface Endpoint {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string | undefined;
  readonly resource: string;
  readonly method: string;
  readonly httpMethod: string;
  readonly path: string;
  readonly pathParameters: readonly string[];
  readonly query: readonly Parameter[];
  /** The schema of the request's body. */
  readonly body: string | undefined;
  /** In lower case. */
  readonly headers: ReadonlySet<string>;
  /** What a success answers: one record, a page of records, records as they come, or nothing. */
  readonly result: { readonly kind: 'one' | 'page' | 'stream'; readonly name: string } | { readonly kind: 'nothing' };
  /** The query parameter that leads on to the next page. */
  readonly cursor: string | undefined;
}

/** Parameters from which paging goes on, the first that a list has. */
const cursors = ['starting_after', 'after_seq', 'cursor'];

export function endpointsOf(document: Document): readonly Endpoint[] {
  // The same document, as the shared rule types it.
  const calls = operationsOf(document as unknown as SharedDocument).map((operation) => endpointOf(document, operation));
  return [...calls, ...streamsOf(document)];
}

/** What each stream sends: the document can only say that it is text. */
const streamed: Readonly<Record<string, string>> = { streamEvents: 'Event' };

function streamsOf(document: Document): readonly Endpoint[] {
  return Object.entries(document.paths).flatMap(([path, { get }]) => {
    if (get?.responses['200']?.content?.['text/event-stream'] === undefined) return [];
    const { operationId, summary, description } = get;
    const [, , resource, method] = path.split('/');
    if (resource === undefined || method === undefined || path.includes('{')) return fail(`${path} is not the stream of a resource`);
    const parameters = parametersOf(document, get);
    return [
      {
        operationId,
        summary,
        description,
        resource,
        method,
        httpMethod: 'GET',
        path,
        pathParameters: [],
        query: parameters.filter((parameter) => parameter.in === 'query'),
        body: undefined,
        headers: new Set<string>(),
        result: { kind: 'stream', name: streamed[operationId] ?? fail(`${operationId}: what does it send?`) },
        cursor: undefined,
      },
    ];
  });
}

const parametersOf = (document: Document, operation: Operation): readonly Parameter[] =>
  (operation.parameters ?? []).map((parameter) =>
    parameter.$ref === undefined ? parameter : (document.components.parameters?.[refName(parameter.$ref)] ?? fail(parameter.$ref)),
  );

function endpointOf(document: Document, shared: SdkOperation): Endpoint {
  const { operationId, summary, description, resource, name, method, path, result } = shared;
  const operation: Operation = document.paths[path]?.[method.toLowerCase()] ?? fail(`${method} ${path} is not in the document`);
  const parameters = parametersOf(document, operation);
  const query = parameters.filter((parameter) => parameter.in === 'query');
  return {
    operationId,
    summary,
    description,
    resource,
    method: name,
    httpMethod: method,
    path,
    pathParameters: [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string),
    query,
    body: shared.body?.schema,
    headers: new Set(parameters.filter((parameter) => parameter.in === 'header').map((parameter) => parameter.name.toLowerCase())),
    result: result === null ? { kind: 'nothing' } : { kind: result.kind === 'list' ? 'page' : 'one', name: result.schema },
    cursor: result?.kind === 'list' ? cursors.find((cursor) => query.some((parameter) => parameter.name === cursor)) : undefined,
  };
}

export const singular = (plural: string): string => plural.replace(/ies$/, 'y').replace(/(?<!s)s$/, '');

/** Where each operation of the document is in the client, for tests that name operations by their id. */
export function operationsFile(endpoints: readonly Endpoint[]): string {
  const rows = endpoints.map(({ operationId, resource, method, pathParameters }) => {
    const names = pathParameters.map((name) => `"${name}"`).join(', ');
    const path = pathParameters.length === 1 ? `(${names},)` : `(${names})`;
    return `    "${operationId}": ("${resource}", "${method}", ${path}),\n`;
  });
  return `${header('Where each operation is in the client: resource, method, path parameters.')}
OPERATIONS: dict[str, tuple[str, str, tuple[str, ...]]] = {
${rows.join('')}}
`;
}
