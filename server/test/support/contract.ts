// The OpenAPI document as tests use it: every operation as data, and a call that fails when an answer is not what the document declares.
// Reads the committed document only; knows no route of the service.

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { decodeId, encodeId, type Uuid } from '../../src/domain/ids.ts';
import type { Scope } from '../../src/domain/scopes.ts';
import type { Access } from '../../src/http/route.ts';
import { newId } from '../../src/open-store.ts';
import { bringMilestone, type CallOptions, type CallResult, type Json, openTestApp, type TestApp, type TestAppOptions } from './app.ts';
import { schemaFaults } from './json-schema.ts';

export const openApi: Json = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'));

export type OperationMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE';
export type Ids = Readonly<Record<string, string>>;

export interface Operation {
  readonly name: string;
  readonly method: OperationMethod;
  /** As in the document: `/v1/projects/{id}`. */
  readonly path: string;
  /** Who may call: a key or a session of a member, a person with a session, or anybody. */
  readonly access: Access;
  /** Null where any key will do or the body decides. */
  readonly scope: Scope | null;
  /** The prefix of the id in the path; null where there is none. */
  readonly prefix: string | null;
  readonly query: readonly string[];
  readonly headers: readonly string[];
  readonly body: { readonly schema: Json; readonly examples: readonly Json[]; readonly isRequired: boolean } | null;
  readonly success: number;
  readonly responses: Json;
  /** The answer has no end. */
  readonly streams: boolean;
}

/** What a `$ref` stands for; anything else is itself. */
export function resolve(node: Json): Json {
  if (typeof node?.$ref !== 'string') return node;
  let target = openApi;
  for (const part of node.$ref.slice(2).split('/')) target = target[part];
  return resolve(target);
}

/** As the document says it: left out for what holds everywhere, empty for anybody. */
function accessOf(security: Json): Access {
  if (security === undefined) return 'workspace';
  return security.length === 0 ? 'anyone' : 'person';
}

const METHODS = ['get', 'post', 'patch', 'delete'];

/** Every operation, whoever may call it. */
export const allOperations: readonly Operation[] = Object.entries<Json>(openApi.paths).flatMap(([path, item]) =>
  Object.entries<Json>(item)
    .filter(([method]) => METHODS.includes(method))
    .map(([method, operation]) => {
      const parameters: Json[] = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(resolve);
      const names = (place: string): string[] => parameters.filter((parameter) => parameter.in === place).map(({ name }) => name);
      const id = parameters.find((parameter) => parameter.in === 'path');
      const content = operation.requestBody?.content['application/json'];
      const examples = content === undefined ? [] : [content.example, ...Object.values<Json>(content.examples ?? {}).map((e) => e.value)];
      return {
        name: operation.operationId,
        method: method.toUpperCase() as OperationMethod,
        path,
        access: accessOf(operation.security),
        scope: operation['x-required-scope'] ?? null,
        prefix: id === undefined ? null : id.schema.pattern.slice(1, 4),
        query: names('query'),
        headers: names('header'),
        body:
          content === undefined
            ? null
            : {
                schema: content.schema,
                examples: examples.filter((example) => example !== undefined),
                isRequired: operation.requestBody.required === true,
              },
        success: Number(Object.keys(operation.responses).find((status) => status.startsWith('2'))),
        responses: operation.responses,
        streams: operation.responses['200']?.content?.['text/event-stream'] !== undefined,
      };
    }),
);

/** Those that a key may call. */
export const operations = allOperations.filter(({ access }) => access === 'workspace');

export const operationNamed = (name: string): Operation => operations.find((operation) => operation.name === name) as Operation;

/** The address of an operation; `id` in place of the one of the same kind. */
export function addressOf(operation: Operation, ids: Ids, id?: string): string {
  return operation.path.replace(/\{[^}]+\}/, id ?? ids[operation.prefix as string] ?? '');
}

/** A body that the operation accepts: its example, or none. */
export const exampleOf = (operation: Operation): Json => operation.body?.examples[0];

/** Paths that are one word for word come before those that an id could stand for. */
const patterns = [...allOperations]
  .sort((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')))
  .map((operation) => ({ operation, pattern: new RegExp(`^${operation.path.replace(/\{[^}]+\}/g, '[^/]+')}$`) }));

export function operationAt(method: string, url: string): Operation | undefined {
  // As `inject` and browsers do: `..` never gets as far as the server.
  const path = new URL(url, 'http://test').pathname;
  try {
    decodeURIComponent(path);
  } catch {
    return undefined; // No path at all: refused before any operation could be found.
  }
  const wanted = method === 'HEAD' ? 'GET' : method;
  return patterns.find(({ operation, pattern }) => operation.method === wanted && pattern.test(path))?.operation;
}

/** Everything in an answer that the document does not declare for its operation; empty when it keeps its word. */
export function answerFaults(method: string, url: string, { status, headers, body, text }: CallResult): string[] {
  const faults: string[] = [];
  if (!/^req_\w+$/.test(headers['request-id'] ?? '')) faults.push('no Request-Id');
  if (status >= 400) faults.push(...problemFaults(status, headers, body, method === 'HEAD'));
  const operation = operationAt(method, url);
  if (operation === undefined) return faults;
  const response = resolve(operation.responses[status]);
  if (response === undefined) return [...faults, `status ${status} (${body?.code}) is not declared for ${operation.name}`];
  if (status < 400) for (const name of requiredHeaders(response)) if (headers[name] === undefined) faults.push(`no ${name}`);
  // A key that ends while its request is under way is told so by a 401, and was counted.
  const counted = headers.ratelimit !== undefined && headers['ratelimit-policy'] !== undefined;
  const isCountable = operation.access !== 'anyone' && body?.code !== 'foreign_origin';
  if (isCountable && status !== 401 && status < 500 && !counted) faults.push('no RateLimit headers');
  if ((body?.code === 'missing_api_key' || body?.code === 'invalid_api_key') && counted) faults.push('RateLimit headers for a stranger');
  const [type, content] = Object.entries<Json>(response.content ?? {})[0] ?? [];
  if (content === undefined || method === 'HEAD') return text === '' ? faults : [...faults, 'a body where none is declared'];
  if (!(headers['content-type'] ?? '').startsWith(type as string)) faults.push(`content-type ${headers['content-type']} is not ${type}`);
  if (status >= 400 && content.examples[body?.code] === undefined)
    faults.push(`${status} ${body?.code} is not declared for ${operation.name}`);
  return [...faults, ...schemaFaults(content.schema, type?.includes('json') ? body : text, resolve)];
}

/** `Idempotent-Replayed` is there on replays only, `Tranche-Consistency` where a replica answered. */
const requiredHeaders = (response: Json): string[] =>
  Object.keys(response.headers ?? {})
    .map((name) => name.toLowerCase())
    .filter((name) => !['idempotent-replayed', 'tranche-consistency'].includes(name));

function problemFaults(status: number, headers: CallResult['headers'], body: Json, isHead: boolean): string[] {
  const faults: string[] = [];
  if (headers['content-type'] !== 'application/problem+json') faults.push(`an error of type ${headers['content-type']}`);
  if (!isHead && body?.status !== status) faults.push(`the problem says ${body?.status}`);
  if (!isHead && body?.request_id !== headers['request-id']) faults.push('the problem has another request_id than the header');
  if (status === 401 && !headers['www-authenticate']?.startsWith('Bearer ')) faults.push('no WWW-Authenticate');
  if ((status === 429 || status === 503) && !/^[1-9]\d*$/.test(headers['retry-after'] ?? '')) faults.push('no Retry-After');
  if (!isHead && body?.code === 'validation_failed' && !(body.errors?.length > 0)) faults.push('a validation error that names no field');
  return faults;
}

/** The service for tests, where every call fails when its answer is not declared. */
export async function openContractApp(options: TestAppOptions = {}): Promise<TestApp> {
  const app = await openTestApp(options);
  async function call(method: Parameters<TestApp['call']>[0], path: string, callOptions?: CallOptions): Promise<CallResult> {
    const result = await app.call(method, path, callOptions);
    const faults = answerFaults(method, path, result);
    if (faults.length > 0)
      throw new Error(`${method} ${path.slice(0, 200)} → ${result.status} ${result.text.slice(0, 500)}\n${faults.join('\n')}`);
    return result;
  }
  return {
    ...app,
    call,
    async ok(method, path, callOptions) {
      const result = await call(method, path, callOptions);
      if (result.status >= 300) throw new Error(`${method} ${path}: ${result.status} ${result.text}`);
      return result.body;
    },
  };
}

/** One resource of every kind, by the prefix of its id. The payment waits for its release; the delivery stands still, with one attempt. */
export async function populate(app: TestApp): Promise<Record<string, string>> {
  const endpoint = await app.ok('POST', '/v1/webhook_endpoints', { body: { url: 'http://127.0.0.1:9/' } });
  // The delivery's own: an operation that disables the other leaves it as it is.
  const receiving = await app.ok('POST', '/v1/webhook_endpoints', { body: { url: 'http://127.0.0.1:9/' } });
  const paid = await bringMilestone(app, 'approved', { release: 'manual' });
  const payment = (await app.ok('GET', `/v1/payments?milestone_id=${paid.milestone.id}`)).data[0];
  const { project, milestone } = await bringMilestone(app, 'pending');
  const key = await app.ok('POST', '/v1/api_keys', { body: { name: 'one of every kind' } });
  const event = (await app.ok('GET', '/v1/events')).data[0];
  const repair = await app.ok('POST', '/v1/webhook_repairs', { body: { action: 'cancel', endpoint_id: endpoint.id } });
  const [delivery] = await app.database.query<{ id: Uuid }>(
    `insert into deliveries (workspace_id, id, endpoint_id, event_seq, status, attempts, next_attempt_at, created_at, completed_at)
     values ($1, $2, $3, 1, 'failed', 1, null, now(), now()) returning id`,
    [app.workspaceId, newId(), decodeId('webhook_endpoint', receiving.id)],
  );
  await app.database.query(
    `insert into delivery_attempts (workspace_id, delivery_id, number, started_at, duration_ms, status_code, error, response_body)
     values ($1, $2, 1, now(), 5, 500, null, 'no')`,
    [app.workspaceId, delivery?.id],
  );
  const invitation = await app.ok('POST', '/v1/invitations', { body: { email: 'invited@example.com', role: 'viewer' } });
  // So that the other can be made an owner and stop being one.
  await addMember(app, 'owner');
  return {
    mem: await addMember(app),
    ivt: invitation.id,
    prj: project.id,
    mil: milestone.id,
    pay: payment.id,
    inv: payment.invoice_id,
    key: key.id,
    whe: endpoint.id,
    evt: event.id,
    dlv: encodeId('delivery', delivery?.id as Uuid),
    whr: repair.id,
  };
}

/** Somebody in the workspace, who never signs in. */
export async function addMember(app: Pick<TestApp, 'database' | 'workspaceId'>, role = 'viewer'): Promise<string> {
  const [person, member] = [newId(), newId()];
  await app.database.query(
    "insert into identity_users (id, email, name, created_at, updated_at) values ($1, $2, 'Somebody', now(), now())",
    [person, `${person}@example.com`],
  );
  await app.database.query(
    'insert into members (workspace_id, id, person_id, role, created_at, updated_at) values ($1, $2, $3, $4, now(), now())',
    [app.workspaceId, member, person, role],
  );
  return encodeId('member', member);
}

/** A digest of every row that a request could have changed, quick enough to be taken after each of thousands. */
export async function rowsDigest(app: TestApp): Promise<string> {
  const tables = ['workspaces', 'workspace_heads', 'projects', 'milestones', 'payments', 'invoices', 'ledger_entries', 'events'];
  tables.push(
    'api_keys',
    'idempotency_keys',
    'webhook_endpoints',
    'deliveries',
    'delivery_attempts',
    'webhook_repairs',
    'members',
    'invitations',
    'audit_entries',
  );
  const parts = tables.map((table) => `(select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) from ${table} t)`);
  const [row] = await app.database.query<{ digest: string }>(`select concat_ws(' ', ${parts.join(', ')}) as digest`);
  return row?.digest as string;
}

/** A digest of everything a workspace's key can list and of what it cannot, by where it stands, to see that nothing changed. */
export async function snapshot(app: TestApp, key: string = app.key): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  // The list of requests grows with each of them.
  for (const { path } of operations.filter(({ name }) => /^list(?!RequestLog)/.test(name))) {
    if (path.includes('{')) continue;
    const pages: string[] = [];
    for (let cursor = ''; ; ) {
      const { text, body } = await app.call('GET', `${path}?limit=100${cursor}`, { key });
      pages.push(text.replaceAll(/"last_used_at":("[^"]*"|null)/g, ''));
      if (body.next_cursor === null) break;
      cursor = `&${path === '/v1/events' ? 'after_seq' : 'starting_after'}=${body.next_cursor}`;
    }
    digests[path] = hash('sha256', pages.join());
  }
  const within = await app.database.query(
    `select (select json_agg(m order by m.id) from milestones m) as milestones, (select json_agg(d order by d.id) from deliveries d) as deliveries,
       (select json_agg(h order by h.workspace_id) from workspace_heads h) as heads, (select count(*) from idempotency_keys) as answers`,
  );
  digests.rows = hash(
    'sha256',
    JSON.stringify(within, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  );
  return digests;
}
