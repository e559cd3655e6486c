// Generated from the OpenAPI document: every operation succeeds as declared, with each of its example bodies.
// What goes wrong is in contract-refusals.test.ts and its neighbours.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idPrefixes } from '../src/domain/ids.ts';
import type { Json, TestApp } from './support/app.ts';
import {
  addMember,
  addressOf,
  answerFaults,
  exampleOf,
  type Operation,
  openApi,
  openContractApp,
  operations,
  populate,
} from './support/contract.ts';
import { schemaFaults } from './support/json-schema.ts';

let app: TestApp;
let ids: Record<string, string>;
beforeAll(async () => {
  app = await openContractApp();
  ids = await populate(app);
});
afterAll(() => app.stop());

/** Something of the operation's own, where success uses it up. */
async function freshId({ method, prefix, name }: Operation): Promise<string | undefined> {
  if (method === 'DELETE' || name === 'rotateApiKey') {
    if (prefix === 'mem') return addMember(app);
    if (prefix === 'ivt') return (await app.ok('POST', '/v1/invitations', { body: { email: 'x@example.com', role: 'viewer' } })).id;
    if (prefix === 'key') return (await app.ok('POST', '/v1/api_keys', { body: { name: 'short-lived' } })).id;
    return (await app.ok('POST', '/v1/webhook_endpoints', { body: { url: 'https://example.com/' } })).id;
  }
  return undefined;
}

/** Closing ends everything else; what it does is in members.test.ts. */
const CLOSING = 'closeWorkspace';

const sent = operations
  .filter(({ name }) => name !== CLOSING)
  .flatMap((operation) => {
    const bodies = operation.body === null ? [undefined] : [...operation.body.examples];
    return bodies.map((body, i) => ({
      title: `${operation.method} ${operation.path}${bodies.length > 1 ? ` (example ${i})` : ''}`,
      operation,
      body,
    }));
  });

describe('succeeds exactly as the document declares', () => {
  test.each(sent)('$title', async ({ operation, body }) => {
    const address = addressOf(operation, ids, await freshId(operation));
    const { status, headers, text } = await app.call(operation.method, address, { body });
    expect(status, text).toBe(operation.success);
    expect(headers['cache-control']).toBe('no-store');
    if (status === 201) {
      const read = await app.call('GET', headers.location as string);
      expect(read.status).toBe(200);
      const { secret: _secret, link: _link, mailed: _mailed, ...created } = JSON.parse(text);
      expect(read.body).toEqual({ ...created, ...(created.object === 'api_key' ? { last_used_at: null } : {}) });
      if (headers.etag !== undefined) expect(read.headers.etag).toBe(headers.etag);
    }
    if (headers.etag !== undefined) expect(headers.etag).toBe(`"${JSON.parse(text).version}"`);
  });

  test.each(
    operations.filter((operation) => operation.method === 'GET'),
  )('HEAD $path answers as GET, without the body', async (operation) => {
    const get = await app.call('GET', addressOf(operation, ids));
    const head = await app.call('HEAD', addressOf(operation, ids));
    expect([head.status, head.text]).toEqual([200, '']);
    for (const name of ['etag', 'content-type', 'content-length']) expect(head.headers[name], name).toBe(get.headers[name]);
  });

  test.each(
    operations.filter((operation) => operation.body !== null && !operation.body.isRequired),
  )('$method $path works without a body, without a Content-Type, and with {}', async (operation) => {
    const path = async () => addressOf(operation, ids, await freshId(operation));
    expect((await app.call(operation.method, await path())).status).toBe(operation.success);
    expect((await app.call(operation.method, await path(), { raw: '{}' })).status).toBe(operation.success);
    expect((await app.call(operation.method, await path(), { raw: '' })).status).toBe(operation.success);
  });
});

describe('what a creation answers, field by field', () => {
  const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const id = (kind: keyof typeof idPrefixes) => expect.stringMatching(new RegExp(`^${idPrefixes[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`));

  test('a project has what was sent, and the defaults of what was not', async () => {
    const body = {
      name: 'New website',
      client_id: 'client/42 ✓',
      payee_id: 'p',
      currency: 'eur',
      release: 'manual',
      metadata: { order: 'A' },
    };
    const shared = {
      id: id('project'),
      object: 'project',
      status: 'active',
      allowed_transitions: ['archived'],
      version: 1,
      created_at: moment,
      updated_at: moment,
    };
    expect((await app.call('POST', '/v1/projects', { body })).body).toEqual({ ...shared, ...body, currency: 'EUR' });
    const plain = { name: 'n', client_id: 'c' };
    const answer = await app.call('POST', '/v1/projects', { body: plain });
    expect(answer.body).toEqual({ ...shared, ...plain, payee_id: null, currency: 'USD', release: 'on_approval', metadata: {} });
    expect(answer.headers.location).toBe(`/v1/projects/${answer.body.id}`);
  });

  test('a milestone takes over the currency and the payee of its project', async () => {
    const project = await app.ok('POST', '/v1/projects', { body: { name: 'n', client_id: 'c', currency: 'KWD', payee_id: 'payee' } });
    const { body, headers } = await app.call('POST', `/v1/projects/${project.id}/milestones`, { body: { title: 't', amount: 5 } });
    expect(body).toEqual({
      id: id('milestone'),
      object: 'milestone',
      project_id: project.id,
      title: 't',
      description: null,
      amount: 5,
      currency: 'KWD',
      payee_id: 'payee',
      due_date: null,
      status: 'pending',
      allowed_transitions: ['in_progress', 'submitted', 'cancelled'],
      reason: null,
      submission: null,
      metadata: {},
      submitted_at: null,
      approved_at: null,
      version: 1,
      created_at: moment,
      updated_at: moment,
    });
    expect([headers.location, headers.etag]).toEqual([`/v1/milestones/${body.id}`, '"1"']);
  });

  test('inline milestones are created in the order they were sent, and are listed newest first', async () => {
    const milestones = Array.from({ length: 5 }, (_, i) => ({ title: `m${i}`, amount: i + 1 }));
    const project = await app.ok('POST', '/v1/projects', { body: { name: 'n', client_id: 'c', milestones } });
    const { data } = await app.ok('GET', `/v1/projects/${project.id}/milestones`);
    expect(data.map((milestone: Json) => milestone.title)).toEqual(['m4', 'm3', 'm2', 'm1', 'm0']);
  });

  test('an API key and a webhook endpoint show their secret once, in the answer to their creation', async () => {
    const key = (await app.call('POST', '/v1/api_keys', { body: { name: 'k' } })).body;
    expect(key).toMatchObject({
      id: id('api_key'),
      secret: expect.stringMatching(/^tr_live_[0-9A-Za-z]{38}$/),
      status: 'active',
      last_used_at: null,
    });
    expect(key.secret.startsWith(key.hint)).toBe(true);
    const endpoint = (await app.call('POST', '/v1/webhook_endpoints', { body: { url: 'https://example.com/' } })).body;
    expect(endpoint).toMatchObject({
      id: id('webhook_endpoint'),
      status: 'enabled',
      event_types: ['project.created', 'milestone.submitted', 'milestone.approved', 'payment.released'],
    });
    expect(endpoint.secret).toMatch(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/);
    for (const path of [
      `/v1/api_keys/${key.id}`,
      '/v1/api_keys',
      `/v1/webhook_endpoints/${endpoint.id}`,
      '/v1/webhook_endpoints',
      '/v1/events',
    ]) {
      const { text } = await app.call('GET', path);
      for (const secret of [key.secret, endpoint.secret]) expect(text).not.toContain(secret);
    }
  });
});

describe('the check itself', () => {
  test('the document names every operation once, and each example is valid against its own schema', () => {
    expect(new Set(operations.map((operation) => operation.name)).size).toBe(operations.length);
    expect(operations.length).toBeGreaterThanOrEqual(29);
    const resolve = (node: Json): Json => (typeof node?.$ref === 'string' ? openApi.components.schemas[node.$ref.split('/').at(-1)] : node);
    for (const operation of operations.filter(({ body }) => body !== null)) {
      expect(exampleOf(operation), operation.name).toBeDefined();
      const { anyOf, ...schema } = resolve(operation.body?.schema);
      expect(schemaFaults(anyOf ? { anyOf } : schema, exampleOf(operation), resolve), operation.name).toEqual([]);
    }
  });

  test('an answer with an undeclared field, status, code or header is noticed', async () => {
    const answer = await app.call('GET', `/v1/projects/${ids.prj}`);
    const path = `/v1/projects/${ids.prj}`;
    expect(answerFaults('GET', path, answer)).toEqual([]);
    expect(answerFaults('GET', path, { ...answer, body: { ...answer.body, extra: 1 } })).toHaveLength(1);
    expect(answerFaults('GET', path, { ...answer, body: { ...answer.body, version: '1' } })).toHaveLength(1);
    expect(answerFaults('GET', path, { ...answer, status: 202 })).toHaveLength(1);
    expect(answerFaults('GET', path, { ...answer, headers: { ...answer.headers, etag: undefined } })).toHaveLength(1);
    const missing = await app.call('GET', '/v1/projects/prj_x');
    expect(answerFaults('GET', path, { ...missing, body: { ...missing.body, code: 'overloaded' } })).toHaveLength(1);
  });
});
