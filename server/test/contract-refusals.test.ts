// Generated from the OpenAPI document: what every operation refuses, with its status, code and field, and that nothing changed.
// Rules of single fields are in contract-validation.test.ts.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashKeySecret } from '../src/domain/api-key.ts';
import { allScopes, type Scope } from '../src/domain/scopes.ts';
import { type Json, openTestApp, type TestApp } from './support/app.ts';
import { addressOf, exampleOf, openContractApp, operationNamed, operations, populate, snapshot } from './support/contract.ts';

let app: TestApp;
let ids: Record<string, string>;
let before: Record<string, string>;
beforeAll(async () => {
  app = await openContractApp();
  ids = await populate(app);
  Object.assign(keys, await makeKeys());
  before = await snapshot(app);
});
afterAll(() => app.stop());

/** Keys that were good once, or never. */
const keys: Record<string, string | null> = {};
async function makeKeys(): Promise<Record<string, string | null>> {
  const { id, secret: revoked } = await app.ok('POST', '/v1/api_keys', { body: { name: 'revoked' } });
  await app.ok('GET', '/v1/projects', { key: revoked });
  await app.ok('DELETE', `/v1/api_keys/${id}`);
  const expired = await app.addKey(app.workspaceId);
  await app.database.query('update api_keys set expires_at = $2 where hash = $1', [hashKeySecret(expired), new Date()]);
  return { missing: null, mistyped: `${app.key.slice(0, -1)}!`, revoked, expired };
}

async function expectNothingChanged(): Promise<void> {
  expect(await snapshot(app)).toEqual(before);
}

describe('a key that does not hold', () => {
  test.each([
    ['missing', 'missing_api_key', 'Bearer realm="tranche"'],
    ['mistyped', 'invalid_api_key', 'Bearer realm="tranche", error="invalid_token", error_description="The API key is not known"'],
    ['revoked', 'api_key_revoked', 'Bearer realm="tranche", error="invalid_token", error_description="The API key was revoked"'],
    ['expired', 'api_key_expired', 'Bearer realm="tranche", error="invalid_token", error_description="The API key has expired"'],
  ])('a %s key is a 401 on every operation and changes nothing', async (name, code, challenge) => {
    for (const operation of operations) {
      const { status, body, headers } = await app.call(operation.method, addressOf(operation, ids), {
        key: keys[name] ?? null,
        body: exampleOf(operation),
      });
      expect([operation.name, status, body.code, headers['www-authenticate']]).toEqual([operation.name, 401, code, challenge]);
    }
    await expectNothingChanged();
  });

  test.each([
    'Basic dXNlcjpwYXNz',
    'Bearer',
    'Bearer ',
    'bearer:x',
    'Token x',
    '',
    'Bearer a b',
    `Bearer ${'x'.repeat(600)}`,
    'Bearer \u00e9',
  ])('the Authorization header %j is a 401, not a guess', async (authorization) => {
    const { status, body } = await app.call('GET', '/v1/projects', { key: null, headers: { authorization } });
    expect([status, body.code]).toEqual([401, 'missing_api_key']);
  });

  test('the answer to a stranger is the same whether or not the resource exists', async () => {
    for (const operation of operations.filter(({ prefix }) => prefix !== null)) {
      const answers = await Promise.all(
        [ids[operation.prefix as string], 'nonsense'].map((id) => app.call(operation.method, addressOf(operation, ids, id), { key: null })),
      );
      expect(new Set(answers.map(({ text }) => text.replace(/req_\w+/, ''))).size).toBe(1);
    }
  });
});

describe('a key that lacks the scope', () => {
  const scoped = operations.filter((operation) => operation.scope !== null);

  test('every operation has a scope, but for the one whose body decides and the one by which people leave', () => {
    expect(operations.filter((operation) => operation.scope === null).map(({ name }) => name)).toEqual(['updateMilestone', 'removeMember']);
  });

  test.each(scoped)('$method $path is a 403 with every scope but $scope, naming it, and changes nothing', async (operation) => {
    const scope = operation.scope as Scope;
    const key = await app.addKey(
      app.workspaceId,
      allScopes.filter((other) => other !== scope),
    );
    const unchanged = await snapshot(app);
    const { status, body, headers } = await app.call(operation.method, addressOf(operation, ids), { key, body: exampleOf(operation) });
    expect([status, body.code]).toEqual([403, 'insufficient_scope']);
    expect(body.detail).toContain(scope);
    expect(headers['www-authenticate']).toBe(`Bearer realm="tranche", error="insufficient_scope", scope="${scope}"`);
    before = await snapshot(app);
    expect(before).toEqual(unchanged);
  });

  test.each<[Json, Scope]>([
    [{ status: 'in_progress' }, 'milestones:submit'],
    [{ status: 'submitted' }, 'milestones:submit'],
    [{ status: 'changes_requested', reason: 'r' }, 'milestones:approve'],
    [{ status: 'approved' }, 'milestones:approve'],
    [{ status: 'cancelled' }, 'milestones:write'],
    [{ status: 'pending' }, 'milestones:write'],
    [{ title: 'x' }, 'milestones:write'],
    [{}, 'milestones:write'],
    [{ status: 'submitted', title: 'x' }, 'milestones:write'],
    [{ status: 'submitted', metadata: { a: 'b' } }, 'milestones:submit'],
    [{ status: 'approved', amount: 1 }, 'milestones:approve'],
  ])('PATCH of a milestone with %j is a 403 without %s, whatever else the key holds', async (body, scope) => {
    const key = await app.addKey(
      app.workspaceId,
      allScopes.filter((other) => other !== scope),
    );
    const answer = await app.call('PATCH', `/v1/milestones/${ids.mil}`, { key, body });
    expect([answer.status, answer.body.code]).toEqual([403, 'insufficient_scope']);
    expect(answer.body.detail).toContain(scope);
    expect(answer.headers['www-authenticate']).toContain(`scope="${scope}"`);
    before = await snapshot(app);
  });
});

describe('an id that is none', () => {
  const withId = operations.filter((operation) => operation.prefix !== null);

  test.each(
    withId,
  )('$method $path is the same 404 for an id that is absent, of another kind or malformed, and changes nothing', async (operation) => {
    const prefix = operation.prefix as string;
    const real = ids[prefix] as string;
    const other = Object.entries(ids).find(([kind]) => kind !== prefix)?.[1] as string;
    const wrong = [
      `${prefix}_00000000000000000000000000`,
      other,
      `${prefix}_${other.slice(4)}`,
      real.toUpperCase(),
      real.slice(0, -1),
      `${real}0`,
      real.slice(4),
      `${prefix}_8${real.slice(5)}`,
      `${real.slice(0, -1)}l`,
      '0',
      'x'.repeat(5000),
      '%00',
      '%20',
      `${real}%0a`,
      `%20${real}`,
      "'%20or%201=1--",
      '..%2f..%2fetc',
    ];
    const texts = new Set<string>();
    for (const id of wrong) {
      const { status, text } = await app.call(operation.method, addressOf(operation, ids, id), { body: exampleOf(operation) });
      expect([id, status]).toEqual([id, 404]);
      texts.add(text.replace(/req_\w+/, ''));
    }
    expect(texts.size).toBe(1);
    await expectNothingChanged();
  });
});

describe('what is not known', () => {
  const strange = [
    'whatever=1',
    'Limit=1',
    'limit[]=1',
    '__proto__=x',
    'constructor=x',
    'toString=',
    'page=2',
    'metadata=x',
    '%70rototype=1',
  ];

  test.each(
    operations,
  )('$method $path refuses every query parameter it does not declare, naming it, and changes nothing', async (operation) => {
    for (const parameter of strange) {
      const name = decodeURIComponent(parameter.split('=', 1)[0] as string);
      const { status, body } = await app.call(operation.method, `${addressOf(operation, ids)}?${parameter}`, {
        body: exampleOf(operation),
      });
      expect([parameter, status, body?.code]).toEqual([parameter, 422, 'validation_failed']);
      expect(body.errors[0].pointer, parameter).toBe(`query/${name}`);
    }
    await expectNothingChanged();
  });

  test.each(operations.filter(({ query }) => query.length > 0))('$method $path refuses a parameter given twice', async (operation) => {
    for (const name of operation.query) {
      const sent = name === 'metadata' ? 'metadata[a]' : name;
      const { status, body } = await app.call(operation.method, `${addressOf(operation, ids)}?${sent}=1&${sent}=1`);
      expect([name, status, body.errors[0]?.code]).toEqual([name, 422, 'repeated_parameter']);
    }
  });

  test.each(
    operations.filter(({ method }) => method === 'POST' || method === 'PATCH'),
  )('$method $path refuses every field it does not declare, naming it, and changes nothing', async (operation) => {
    for (const field of ['whatever', 'id', 'object', 'constructor', 'toString', 'a/b~c', 'Name', '']) {
      const body = { ...exampleOf(operation), [field]: 'x' };
      const answer = await app.call(operation.method, addressOf(operation, ids), { body });
      expect([field, answer.status, answer.body.code]).toEqual([field, 422, 'validation_failed']);
      const pointer = `/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      expect(answer.body.errors).toEqual([{ pointer, code: 'unknown_field', message: expect.stringContaining(field) }]);
    }
    await expectNothingChanged();
  });
});

describe('a body that cannot be read', () => {
  const writes = operations.filter(({ method }) => method === 'POST' || method === 'PATCH');
  const deep = `{"a":${'['.repeat(50)}${']'.repeat(50)}}`;

  test.each(writes)('$method $path says what is wrong with it, and changes nothing', async (operation) => {
    const good = JSON.stringify(exampleOf(operation));
    const cases: [raw: string | Buffer, headers: Record<string, string>, status: number, code: string][] = [
      [good.slice(0, -1), {}, 400, 'malformed_json'],
      [`${good}x`, {}, 400, 'malformed_json'],
      [`${good}${good}`, {}, 400, 'malformed_json'],
      [' ', {}, 400, 'malformed_json'],
      [Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]), {}, 400, 'malformed_json'],
      [Buffer.from(good, 'utf16le'), {}, 400, 'malformed_json'],
      ['{"__proto__":{"x":1}}', {}, 400, 'malformed_json'],
      ['{"a":1,"a":1}', {}, 400, 'malformed_json'],
      ['{"a":1,"\\u0061":1}', {}, 400, 'malformed_json'],
      ['[]', {}, 422, 'validation_failed'],
      ['"a"', {}, 422, 'validation_failed'],
      ['1', {}, 422, 'validation_failed'],
      [deep, {}, 422, 'validation_failed'],
      [good, { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
      [good, { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'unsupported_media_type'],
      [good, { 'content-type': 'application/json; charset=iso-8859-1' }, 415, 'unsupported_media_type'],
      [good, { 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
      ['x'.repeat(1_048_577), {}, 413, 'body_too_large'],
    ];
    for (const [raw, headers, status, code] of cases) {
      const answer = await app.call(operation.method, addressOf(operation, ids), { raw, headers });
      expect([raw.toString().slice(0, 40), answer.status, answer.body.code]).toEqual([raw.toString().slice(0, 40), status, code]);
    }
    if (operation.body?.isRequired) {
      for (const raw of ['', 'null']) {
        const { status } = await app.call(operation.method, addressOf(operation, ids), { raw });
        expect([raw, status]).toEqual([raw, raw === '' ? 400 : 422]);
      }
    }
    await expectNothingChanged();
  });

  test('the refusals above are not what another app would give: a good body on a good id is accepted here', async () => {
    const fresh = await openTestApp();
    const { status } = await fresh.call('POST', '/v1/projects', { body: exampleOf(operationNamed('createProject')) });
    expect(status).toBe(201);
    await fresh.stop();
  });
});
