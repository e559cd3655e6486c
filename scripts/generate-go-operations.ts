// Turns the operations of the document into services and methods of Go, under the names that all clients share.
// It writes down what is sent where; how it is sent is the hand-written core's.

import { comment, exported, type GoField, quoted, singular, struct, unexported } from './generate-go-text.ts';
import { type GoTypes, lowered, paramsName, type Schema } from './generate-go-types.ts';
import { type Document, nameOfRef, operationsOf, type QueryParameter, type SdkOperation } from './sdk-operations.ts';

/** An operation as it is called in Go. */
export interface Method {
  readonly operation: SdkOperation;
  readonly resource: string;
  readonly name: string;
  /** The list's schema, where it answers a page of a list. */
  readonly page: string | null;
  /** Whether it takes an idempotency key. */
  readonly keyed: boolean;
}

export function methodsOf(document: Document): Method[] {
  return operationsOf(document).map((operation) => {
    const declared = document.paths[operation.path]?.[operation.method.toLowerCase() as 'get'];
    const success = Object.entries(declared?.responses ?? {}).find(([status]) => status.startsWith('2'))?.[1];
    const answer = success?.content?.['application/json']?.schema.$ref;
    return {
      operation,
      resource: operation.resource,
      name: exported(operation.name),
      page: operation.result?.kind === 'list' && answer !== undefined ? nameOfRef(answer) : null,
      keyed: (declared?.parameters ?? []).some(({ $ref }) => $ref?.endsWith('/IdempotencyKey') === true),
    };
  });
}

/** The client itself, one field for each resource. */
export function clientText(methods: readonly Method[]): string {
  const resources = [...new Set(methods.map(({ resource }) => resource))];
  const fields = resources.map((resource) => ({
    name: exported(resource),
    type: `*${serviceName(resource)}`,
    tag: '',
    doc: `${exported(resource)} calls what is under /v1/${resource}.`,
  }));
  const client = struct(
    'Client',
    'Client is the entrance to the API. Make one with [NewClient] and share it: it is safe for concurrent use and keeps its connections.',
    [...fields, { name: 'core', type: '*core', tag: '', doc: '' }],
  );
  const connected = resources.map((resource) => `\tc.${exported(resource)} = &${serviceName(resource)}{core}\n`).join('');
  return `${client}\nfunc (c *Client) connect(core *core) {\n\tc.core = core\n${connected}}\n`;
}

/** A resource of one thing, such as `workspace`, is told apart from the one of many. */
function serviceName(resource: string): string {
  if (singular(resource) === resource) return `${exported(resource)}Calls`;
  return `${exported(singular(resource))}Service`;
}

export function servicesText(methods: readonly Method[], types: GoTypes): string[] {
  const resources = [...new Set(methods.map(({ resource }) => resource))];
  return resources.flatMap((resource) => [
    `// ${serviceName(resource)} calls what is under /v1/${resource}; it is a field of [Client].\ntype ${serviceName(resource)} struct{ core *core }\n`,
    ...methods.filter((method) => method.resource === resource).flatMap((method) => methodText(method, types)),
  ]);
}

function methodText(method: Method, types: GoTypes): string[] {
  const { operation } = method;
  const { query, body } = operation;
  const queryType = query.length > 0 ? paramsName(`${singular(method.resource)}_${operation.name}`) : null;
  const paramsType = body === null ? queryType : types.named(body.schema, 'sent');

  const takes = [
    'ctx context.Context',
    ...operation.pathParameters.map(({ name }) => `${unexported(name)} string`),
    ...(paramsType === null ? [] : [`params *${paramsType}`]),
    'options ...RequestOption',
  ].join(', ');
  const call = callText(method);
  // A description that only repeats the summary says nothing more, and gofmt would take a line without a full stop for a heading.
  const words = operation.description === operation.summary ? '' : (operation.description ?? '');
  const about = (lead: string): string => comment(`${lead}\n\n${words}\n\n${operation.method} ${operation.path}`);
  const receiver = `func (s *${serviceName(method.resource)})`;
  const summary = lowered(operation.summary);

  if (method.page !== null) return pagedText(method, { takes, call, about, receiver, summary, query, queryType, types });
  const texts = queryType === null ? [] : [queryText(queryType, query, types)];
  const head = `${about(`${method.name}: ${summary}.`)}${receiver} ${method.name}(${takes})`;
  if (operation.result === null) return [...texts, `${head} error {\n\treturn send(ctx, s.core, ${call}, options)\n}\n`];
  const result = types.named(operation.result.schema, 'received');
  return [...texts, `${head} (*${result}, error) {\n\treturn fetch[${result}](ctx, s.core, ${call}, options)\n}\n`];
}

interface Paged {
  readonly takes: string;
  readonly call: string;
  readonly about: (lead: string) => string;
  readonly receiver: string;
  readonly summary: string;
  readonly query: readonly QueryParameter[];
  readonly queryType: string | null;
  readonly types: GoTypes;
}

/** A list has two methods: one that goes through all pages and one that fetches a single page. */
function pagedText(method: Method, paged: Paged): string[] {
  const { types, query, queryType, takes, call, about, receiver, summary } = paged;
  const page = types.named(method.page as string, 'received');
  const item = exported(method.operation.result?.schema ?? '');
  const cursor = query.find(({ name }) => name === 'after_seq' || name === 'starting_after')?.name;
  if (cursor === undefined) throw new Error(`${method.operation.operationId} answers a list but takes no cursor`);
  const texts = queryType === null ? [] : [queryText(queryType, query, types)];
  texts.push(
    `${about(`${method.name}: ${summary}, all of them, page after page as the loop goes on.`)}${receiver} ${method.name}(${takes}) iter.Seq2[*${item}, error] {\n\treturn paginate[${item}, ${page}](ctx, s.core, ${call}, ${quoted(cursor)}, options)\n}\n`,
    `${about(`${method.name}Page: ${summary}, a single page.`)}${receiver} ${method.name}Page(${takes}) (*${page}, error) {\n\treturn fetch[${page}](ctx, s.core, ${call}, options)\n}\n`,
  );
  return texts;
}

/** How the paginator sees a page. */
export function pagesText(methods: readonly Method[], types: GoTypes): string[] {
  const pages = new Map(methods.flatMap(({ page, operation }) => (page === null ? [] : [[page, operation.result?.schema ?? ''] as const])));
  return [...pages].sort().map(([pageSchema, itemName]) => {
    const page = types.named(pageSchema, 'received');
    const item = types.named(itemName, 'received');
    const itemSchema = types.schema(itemName);
    const id = itemSchema.properties?.id === undefined ? '""' : 'item.ID';
    return `func (p *${page}) page() page[${item}] {
	return page[${item}]{p.Data, p.HasMore, p.NextCursor}
}

func (p *${page}) idOf(item *${item}) string {
	return ${id}
}
`;
  });
}

/** How an answer is recognized: by its kind, and by having an id or data. */
export function answersText(methods: readonly Method[], types: GoTypes): string[] {
  const names = methods.flatMap(({ page, operation }) => page ?? operation.result?.schema ?? []);
  return [...new Set(names)].sort().map((name) => {
    const { properties = {} } = types.schema(name);
    const kind = properties.object?.const;
    if (typeof kind !== 'string') throw new Error(`${name} is answered but its "object" is no constant`);
    const check =
      properties.data?.items === undefined || kind !== 'list'
        ? `checkResource(${['a.Object', quoted(kind), ...(properties.id === undefined ? [] : ['a.ID'])].join(', ')})`
        : 'checkList(a.Object, a.Data)';
    return `func (a *${types.named(name, 'received')}) check() error {\n\treturn ${check}\n}\n`;
  });
}

function callText({ operation, keyed }: Method): string {
  const ids = operation.pathParameters.map(({ name }) => unexported(name)).join(', ');
  const parts = [
    `method: ${quoted(operation.method)}`,
    `path: ${pathText(operation.path)}`,
    ...(ids === '' ? [] : [`refusedID: checkID(${ids})`]),
    ...(operation.query.length > 0 && operation.body === null ? ['query: params.query()'] : []),
    ...(operation.body === null ? [] : [`body: bodyOf(params, ${operation.body.required})`]),
    ...(keyed ? ['keyed: true'] : []),
  ];
  return `&call{${parts.join(', ')}}`;
}

/** `/v1/projects/{id}/milestones` → `"/v1/projects/" + url.PathEscape(id) + "/milestones"`. */
function pathText(path: string): string {
  return path
    .split(/(\{[^}]+\})/)
    .filter((part) => part !== '')
    .map((part) => (part.startsWith('{') ? `url.PathEscape(${unexported(part.slice(1, -1))})` : quoted(part)))
    .join(' + ');
}

function queryText(name: string, query: readonly QueryParameter[], types: GoTypes): string {
  const known = query.map((parameter) => ({
    name: parameter.name,
    shape: types.shape(parameter.schema as Schema, `${name}_${parameter.name}`, 'sent'),
    doc: parameter.description ?? '',
  }));
  const fields: GoField[] = known.map(({ name: property, shape, doc }) => ({
    name: exported(property),
    type: shape.hasNil ? shape.type : `*${shape.type}`,
    tag: '',
    doc,
  }));
  const lines = known.map(({ name: property, shape }) => {
    const setter = setterOf(shape.type);
    const given = `${quoted(property)}, params.${exported(property)}`;
    return setter === 'named' ? `\tnamed(values, ${given})\n` : `\tvalues.${setter}(${given})\n`;
  });
  return `${struct(name, `${name}: which of them, and how many at a time. Nil is all of them.`, fields)}
func (params *${name}) query() url.Values {
	if params == nil {
		return nil
	}
	values := query{}
${lines.join('')}	return url.Values(values)
}
`;
}

/** What the core calls the function that writes a value of this type. */
function setterOf(type: string): string {
  switch (type) {
    case 'int64':
      return 'integer';
    case 'time.Time':
      return 'time';
    case 'map[string]string':
      return 'deepObject';
    case 'string':
      return 'text';
    default:
      if (!/^[A-Z]/.test(type)) throw new Error(`no query parameter can be a ${type}`);
      return 'named';
  }
}
