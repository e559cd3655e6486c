// Idempotency-Key: a repetition gets the stored answer to the letter and has no second effect, for every operation that takes one.
// Which those are is read from the OpenAPI document.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bringMilestone, type CallResult, type Json, type TestApp } from './support/app.ts';
import {
  addressOf,
  exampleOf,
  type Operation,
  openContractApp,
  operationNamed,
  operations,
  populate,
  resolve,
  snapshot,
} from './support/contract.ts';

let app: TestApp;
let ids: Record<string, string>;
beforeAll(async () => {
  app = await openContractApp();
  ids = await populate(app);
});
afterAll(() => app.stop());

let used = 0;
const freshKey = (): string => `key-${++used}`;
const keyed = operations.filter(({ headers }) => headers.includes('Idempotency-Key'));
/** But for closing the workspace, after which nothing else would be answered: in members.test.ts. */
const repeatable = keyed.filter(({ name }) => name !== 'closeWorkspace');

function send(operation: Operation, key: string, body: Json = exampleOf(operation), secret: string = app.key): Promise<CallResult> {
  return app.call(operation.method, addressOf(operation, ids), { key: secret, body, headers: { 'idempotency-key': key } });
}

const takesFields = ({ body }: Operation): boolean => {
  const schema = resolve(body?.schema);
  return schema.anyOf !== undefined || Object.keys(schema.properties ?? {}).length > 0;
};

/** What a client sees, apart from what is of each exchange. */
function seen({ status, headers, text }: CallResult): Json {
  return { status, text, location: headers.location, etag: headers.etag, type: headers['content-type'] };
}

describe('every POST and PATCH takes an Idempotency-Key', () => {
  test('the document says so', () => {
    const writes = operations.filter(({ method }) => method === 'POST' || method === 'PATCH');
    expect(keyed.map(({ name }) => name)).toEqual(writes.map(({ name }) => name));
  });

  test.each(
    repeatable,
  )('$method $path: a repetition is the same answer to the letter, marked as replayed, and changes nothing', async (operation) => {
    const key = freshKey();
    const first = await send(operation, key);
    expect([first.status, first.headers['idempotent-replayed']]).toEqual([operation.success, undefined]);
    const before = await snapshot(app);
    for (const form of [key, `"${key}"`]) {
      const again = await send(operation, form);
      expect(seen(again)).toEqual(seen(first));
      expect(again.headers['idempotent-replayed']).toBe('true');
      expect(again.headers['request-id']).not.toBe(first.headers['request-id']);
    }
    expect(await snapshot(app)).toEqual(before);
  });

  test.each(repeatable)('$method $path: with another body or path the key is refused, and changes nothing', async (operation) => {
    const key = freshKey();
    await send(operation, key);
    const before = await snapshot(app);
    const other: Operation = operation.name === 'createProject' ? operationNamed('createApiKey') : operationNamed('createProject');
    const answers = [await send(other, key)];
    if (takesFields(operation)) {
      const change: Json = {
        name: 'Another',
        description: 'Another',
        title: 'Another',
        overlap_seconds: 7,
        dry_run: false,
        event_type: 'project.created',
        status: 'submitted',
        amount: 9,
        role: 'viewer',
      };
      const known = operation.body?.schema.$ref?.split('/').at(-1);
      const field = Object.keys(change).find((name) => JSON.stringify(exampleOf(operation)).includes(`"${name}"`)) ?? 'name';
      const body =
        known === 'MilestoneUpdate'
          ? { status: 'submitted' }
          : known === 'WebhookEndpointUpdate'
            ? {}
            : { ...exampleOf(operation), [field]: change[field] };
      answers.push(await send(operation, key, body));
    }
    for (const { status, body, headers } of answers) {
      expect([status, body.code, headers['idempotent-replayed']]).toEqual([422, 'idempotency_key_reused', undefined]);
    }
    expect(await snapshot(app)).toEqual(before);
  });

  test.each(repeatable)('$method $path: of many at once with one key, one acts and all get its answer', async (operation) => {
    const key = freshKey();
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(operation, key)));
    for (const answer of answers) expect(seen(answer)).toEqual(seen(answers[0] as CallResult));
    expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true')).toHaveLength(7);
  });
});

describe('what is stored', () => {
  test('the order and the spacing of the JSON do not make another request, a different value does', async () => {
    const key = freshKey();
    const path = '/v1/projects';
    const headers = { 'idempotency-key': key };
    const first = await app.call('POST', path, { raw: '{"name":"n","client_id":"c","metadata":{"a":"1","b":"2"}}', headers });
    const again = await app.call('POST', path, { raw: '{ "metadata": {"b":"2","a":"1"}, "client_id": "\\u0063", "name": "n" }', headers });
    expect(again.text).toBe(first.text);
    const other = await app.call('POST', path, { raw: '{"name":"n","client_id":"c","metadata":{"a":"2","b":"1"}}', headers });
    expect(other.body.code).toBe('idempotency_key_reused');
  });

  test('a refused request is not stored: the same key works once the reason is gone', async () => {
    const { milestone } = await bringMilestone(app, 'pending');
    const key = freshKey();
    const approve = () =>
      app.call('PATCH', `/v1/milestones/${milestone.id}`, { body: { status: 'approved' }, headers: { 'idempotency-key': key } });
    const invalid = await app.call('POST', '/v1/projects', { body: { name: 1 }, headers: { 'idempotency-key': key } });
    expect([invalid.status, (await approve()).status]).toEqual([422, 409]);
    await app.ok('PATCH', `/v1/milestones/${milestone.id}`, { body: { status: 'submitted' } });
    const accepted = await approve();
    expect([accepted.status, accepted.headers['idempotent-replayed']]).toEqual([200, undefined]);
    expect((await approve()).headers['idempotent-replayed']).toBe('true');
  });

  test('a replay tells of the moment it was stored, not of what happened since', async () => {
    const { milestone } = await bringMilestone(app, 'pending');
    const headers = { 'idempotency-key': freshKey() };
    const path = `/v1/milestones/${milestone.id}`;
    const submitted = await app.call('PATCH', path, { body: { status: 'submitted' }, headers });
    await app.ok('PATCH', path, { body: { status: 'approved' } });
    expect((await app.call('PATCH', path, { body: { status: 'submitted' }, headers })).text).toBe(submitted.text);
    expect((await app.ok('GET', path)).status).toBe('approved');
  });

  test.each([
    'createApiKey',
    'rotateApiKey',
    'createWebhookEndpoint',
    'rotateWebhookSecret',
  ])('%s replays the same secret, which no row of the database holds in clear text', async (name) => {
    const key = freshKey();
    const first = await send(operationNamed(name), key);
    expect((await send(operationNamed(name), key)).body.secret).toBe(first.body.secret);
    const [row] = await app.database.query<{ sealed: boolean; text: string }>(
      'select sealed, (i.*)::text as text from idempotency_keys i where key = $1',
      [key],
    );
    expect(row?.sealed).toBe(true);
    const tables = await app.database.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public'",
    );
    expect(tables.length).toBeGreaterThan(10);
    for (const table of tables) {
      const [found] = await app.database.query<{ count: bigint }>(
        `select count(*) as count from ${table.name} t where (t.*)::text like $1`,
        [`%${first.body.secret.slice(8, 30)}%`],
      );
      expect([table.name, Number(found?.count)]).toEqual([table.name, 0]);
    }
  });
});

describe('whose key it is', () => {
  test('another workspace may use the same key for a request of its own', async () => {
    const other = await app.addWorkspace();
    const key = freshKey();
    const create = operationNamed('createProject');
    const mine = await send(create, key);
    const theirs = await send(create, key, exampleOf(create), other.key);
    expect([theirs.status, theirs.headers['idempotent-replayed']]).toEqual([201, undefined]);
    expect(theirs.body.id).not.toBe(mine.body.id);
    expect((await app.call('GET', `/v1/projects/${mine.body.id}`, { key: other.key })).status).toBe(404);
  });

  test('another key of the workspace gets the replay, unless it lacks the scope or has stopped to hold', async () => {
    const key = freshKey();
    const create = operationNamed('createProject');
    const first = await send(create, key);
    const reader = await app.addKey(app.workspaceId, ['projects:read']);
    const refused = await send(create, key, exampleOf(create), reader);
    expect([refused.status, refused.text.includes(first.body.id)]).toEqual([403, false]);
    const { id, secret: writer } = await app.ok('POST', '/v1/api_keys', { body: { name: 'writer', scopes: ['projects:write'] } });
    expect((await send(create, key, exampleOf(create), writer)).text).toBe(first.text);
    await app.ok('DELETE', `/v1/api_keys/${id}`);
    expect((await send(create, key, exampleOf(create), writer)).status).toBe(401);
  });

  test.each<[string, Json]>([
    ['createApiKey', { name: 'all that the caller may do' }],
    ['createApiKey', { name: 'wide', scopes: ['payments:release'] }],
    ['rotateApiKey', {}],
    ['createWebhookEndpoint', { url: 'https://example.com/' }],
    ['rotateWebhookSecret', {}],
  ])('%s with %j: no other key comes by the secret through a replay, whatever its scopes', async (name, body) => {
    const key = freshKey();
    const first = await send(operationNamed(name), key, body);
    for (const scopes of [['api_keys:write', 'webhooks:write'] as const, undefined]) {
      const other = await app.addKey(app.workspaceId, scopes);
      const answer = await send(operationNamed(name), key, body, other);
      expect([answer.status, answer.body.code]).toEqual([422, 'idempotency_key_reused']);
      expect(answer.text).not.toContain(first.body.secret);
    }
    expect((await send(operationNamed(name), key, body)).text).toBe(first.text);
  });

  test('a milestone approved by one key is not replayed to a key that may not approve', async () => {
    const { milestone } = await bringMilestone(app, 'submitted');
    const request = { body: { status: 'approved' }, headers: { 'idempotency-key': freshKey() } };
    await app.ok('PATCH', `/v1/milestones/${milestone.id}`, request);
    const submitter = await app.addKey(app.workspaceId, ['milestones:submit', 'milestones:read', 'milestones:write']);
    expect((await app.call('PATCH', `/v1/milestones/${milestone.id}`, { ...request, key: submitter })).status).toBe(403);
  });
});

describe('the header', () => {
  test.each([
    '',
    '""',
    '"a',
    'a b',
    'ä',
    'a'.repeat(256),
    'a\tb',
    '"a" "b"',
    'a, b',
  ])('%j is refused at header/Idempotency-Key', async (key) => {
    const { status, body } = await send(operationNamed('createProject'), key);
    expect([status, body.errors]).toEqual([
      422,
      [{ pointer: 'header/Idempotency-Key', code: 'wrong_format', message: expect.any(String) }],
    ]);
  });

  test.each([
    'a',
    'a'.repeat(255),
    'A/b:c~{}',
    "'; drop table projects; --".replaceAll(' ', '_'),
    '__proto__',
    'constructor',
    '%00',
  ])('%j is a key', async (key) => {
    const first = await send(operationNamed('createProject'), key);
    expect([first.status, (await send(operationNamed('createProject'), key)).text]).toEqual([201, first.text]);
  });
});
