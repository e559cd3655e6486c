// What openapi.json says of its operations, in the terms of a client library: resource, method, parameters, body and result of each.
// Pure, and of no language: how a name is written in TypeScript, Python or Go is for their generators.

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly const?: string | number | boolean;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly example?: unknown;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content & { readonly required?: boolean };
  /** Left out where keys and sessions may call alike. */
  readonly security?: readonly unknown[];
  readonly responses: Readonly<Record<string, Content>>;
}

const methods = ['get', 'post', 'patch', 'put', 'delete'] as const;
type Method = (typeof methods)[number];

export interface Document {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<Method, Operation>>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: { readonly requestBody: Content } }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface QueryParameter {
  readonly name: string;
  readonly required: boolean;
  readonly description: string | undefined;
  readonly schema: Schema;
}

export interface SdkOperation {
  readonly operationId: string;
  /** Whether a key may call it; otherwise it is for a person at the page that the server serves. */
  readonly isForKeys: boolean;
  readonly method: string;
  /** `/v1/projects/{id}`. */
  readonly path: string;
  /** In snake_case: `webhook_endpoints`. */
  readonly resource: string;
  /** In snake_case: `list_deliveries`. */
  readonly name: string;
  readonly pathParameters: readonly { readonly name: string; readonly description: string | undefined; readonly example: unknown }[];
  readonly query: readonly QueryParameter[];
  readonly body: { readonly schema: string; readonly required: boolean; readonly example: unknown } | null;
  /** The name of the schema that comes back; of one item where it is a list or a stream; null for nothing. */
  readonly result: { readonly kind: 'list' | 'object' | 'stream'; readonly schema: string } | null;
  /** Both without a full stop at the end of the first. */
  readonly summary: string;
  readonly description: string | undefined;
}

/** The last part of a reference: `Project`. */
export const nameOfRef = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** `rotate_secret` → `rotateSecret`. */
export const camel = (snake: string): string => snake.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** `rotate_secret` → `RotateSecret`. */
export const pascal = (snake: string): string => {
  const name = camel(snake);
  return name.charAt(0).toUpperCase() + name.slice(1);
};

const singular = (plural: string): string => plural.replace(/ies$/, 'y').replace(/s$/, '');

/** Those of `/v1` that answer once; what answers with a stream of events is not a call, and is in `streamsOf`. */
export const operationsOf = (document: Document): SdkOperation[] => allOf(document).filter(({ result }) => result?.kind !== 'stream');

/** Those of `/v1` that answer with events as they happen. */
export const streamsOf = (document: Document): SdkOperation[] => allOf(document).filter(({ result }) => result?.kind === 'stream');

function allOf(document: Document): SdkOperation[] {
  const all: SdkOperation[] = [];
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of methods) {
      const operation = item[method];
      if (operation !== undefined && path.startsWith('/v1/') && !isFile(operation))
        all.push(operationOf(document, path, method, operation));
    }
  }
  return all;
}

const contentOf = ({ responses }: Operation): Content => Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1] ?? {};

const isStream = (operation: Operation): boolean => contentOf(operation).content?.['text/event-stream'] !== undefined;

/** A file is fetched by its address, with whatever fetches files: it is no record that a client could check. */
function isFile(operation: Operation): boolean {
  const types = Object.keys(contentOf(operation).content ?? {});
  return types.length > 0 && !types.includes('application/json') && !isStream(operation);
}

function operationOf(document: Document, path: string, method: Method, operation: Operation): SdkOperation {
  const parameters = operation.parameters ?? [];
  const body = operation.requestBody?.content?.['application/json'];
  return {
    operationId: operation.operationId,
    isForKeys: operation.security === undefined,
    method: method.toUpperCase(),
    path,
    resource: path.split('/')[2] as string,
    name: methodName(document, path, method, operation),
    pathParameters: parameters.filter((one) => one.in === 'path').map(({ name, description, example }) => ({ name, description, example })),
    query: parameters
      .filter((one) => one.in === 'query')
      .map(({ name, required = false, description, schema }) => ({
        name,
        required,
        description: description ?? schema.description,
        schema,
      })),
    body:
      body === undefined
        ? null
        : { schema: nameOfRef(body.schema.$ref as string), required: operation.requestBody?.required === true, example: body.example },
    result: isStream(operation) ? streamOf(document, path) : resultOf(document, operation),
    summary: operation.summary,
    description: operation.description,
  };
}

/** As `sdks/scenarios/README.md` lays down, under "Names". */
function methodName(document: Document, path: string, method: Method, operation: Operation): string {
  const below = path.split('/').slice(3);
  const last = below.at(-1);
  const verb = method === 'delete' ? ((/^[a-z]+/.exec(operation.operationId) as RegExpExecArray)[0] as string) : verbs[method];
  if (last === undefined) return method === 'get' && resultOf(document, operation)?.kind !== 'object' ? 'list' : verb;
  if (last.startsWith('{')) return below.length === 1 ? verb : `${verb}_${singular(below.at(-2) as string)}`;
  if (isStream(operation)) return last;
  const listing = document.paths[path]?.get;
  const isCollection = listing !== undefined && resultOf(document, listing)?.kind === 'list';
  // `sign_in/totp` is one step further than `sign_in`, and another than `totp`.
  const step = below.slice(below.findLastIndex((part) => part.startsWith('{')) + 1).join('_');
  if (!isCollection) return method === 'get' ? `retrieve_${step}` : step;
  return method === 'get' ? `list_${last}` : `${verb}_${singular(last)}`;
}

const verbs = { get: 'retrieve', post: 'create', patch: 'update', put: 'replace' } as const;

/** A stream sends what the list beside it holds. */
function streamOf(document: Document, path: string): SdkOperation['result'] {
  const listing = document.paths[path.slice(0, path.lastIndexOf('/'))]?.get;
  const result = listing === undefined ? null : resultOf(document, listing);
  if (result?.kind !== 'list') throw new Error(`there is no list beside the stream ${path} that says what it sends`);
  return { kind: 'stream', schema: result.schema };
}

function resultOf(document: Document, operation: Operation): SdkOperation['result'] {
  const schema = contentOf(operation).content?.['application/json']?.schema;
  if (schema?.$ref === undefined) return null;
  const name = nameOfRef(schema.$ref);
  const { properties } = document.components.schemas[name] as Schema;
  const items = properties?.object?.const === 'list' ? properties.data?.items : undefined;
  return items === undefined ? { kind: 'object', schema: name } : { kind: 'list', schema: nameOfRef(items.$ref as string) };
}

/** The short names of filters: `project` for `project_id`. */
export function shortNames({ query }: SdkOperation): { readonly short: string; readonly of: QueryParameter }[] {
  const taken = new Set(query.map(({ name }) => name));
  return query
    .filter(({ name }) => name.endsWith('_id') && !taken.has(name.slice(0, -'_id'.length)))
    .map((of) => ({ short: of.name.slice(0, -'_id'.length), of }));
}
