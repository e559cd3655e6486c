// Input made to harm, one case a line: bodies that are large, deep or odd, names that mean something to JavaScript or SQL, texts that show as
// something else. What is refused changes nothing; what is accepted comes back to the letter. Random input is in hostile-fuzz.test.ts.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Json, TestApp } from './support/app.ts';
import { openContractApp, populate, rowsDigest } from './support/contract.ts';

let app: TestApp;
let ids: Record<string, string>;
beforeAll(async () => {
  app = await openContractApp();
  ids = await populate(app);
});
afterEach(async () => {
  expect((await app.call('GET', '/v1/projects')).status).toBe(200);
});
afterAll(async () => {
  expect(await app.faults()).toEqual([]);
  await app.stop();
});

/** What one request may cost at most, however it is made; a quadratic walk over 1 MiB takes minutes. */
const MAX_MS = 3_000;
const MIB = 1024 * 1024;
const fill = (open: string, piece: string, close: string, size = MIB - 64): string =>
  open + piece.repeat(Math.floor((size - open.length - close.length) / piece.length)) + close;
const keys = (count: number): string => Array.from({ length: count }, (_, i) => `"k${i}":1`).join();

describe('a body of nearly 1 MiB is refused quickly, by name of what is wrong, and changes nothing', () => {
  test.each<[string, string, number, string]>([
    ['opening brackets', '['.repeat(MIB), 400, 'malformed_json'],
    ['arrays within arrays', '['.repeat(MIB / 2) + ']'.repeat(MIB / 2), 422, 'validation_failed'],
    ['objects within objects', `${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}`, 422, 'validation_failed'],
    ['an array of ones', fill('{"milestones":[1', ',1', ']}'), 422, 'validation_failed'],
    ['an array of empty objects', fill('{"milestones":[{}', ',{}', ']}'), 422, 'validation_failed'],
    ['unknown fields', `{${keys(70_000)}}`, 422, 'validation_failed'],
    ['metadata keys', `{"name":"n","client_id":"c","metadata":{${keys(70_000)}}}`, 422, 'validation_failed'],
    ['the same key over and over', fill('{"a":1', ',"a":1', '}'), 400, 'malformed_json'],
    ['one text', fill('{"client_id":"c","name":"', 'x', '"}'), 422, 'validation_failed'],
    ['backslashes', fill('{"client_id":"c","name":"', '\\\\', '"}'), 422, 'validation_failed'],
    ['escaped quotes', fill('{"client_id":"c","name":"', '\\"', '"}'), 422, 'validation_failed'],
    ['escaped NULs', fill('{"client_id":"c","name":"', '\\u0000', '"}'), 422, 'validation_failed'],
    ['half surrogate pairs', fill('{"client_id":"c","name":"', '\\ud800', '"}'), 422, 'validation_failed'],
    ['a number', fill('{"name":1', '0', '}'), 422, 'validation_failed'],
    ['a fraction', fill('{"name":1.', '0', '1}'), 400, 'malformed_json'],
    ['a URL', fill('{"url":"https://', 'a.', '"}'), 422, 'validation_failed'],
    ['white space', fill('{', ' \n\t', '}'), 422, 'validation_failed'],
  ])('%s', async (_name, raw, status, code) => {
    const before = await rowsDigest(app);
    const started = performance.now();
    for (const path of ['/v1/projects', '/v1/webhook_endpoints']) {
      const answer = await app.call('POST', path, { raw, headers: { 'idempotency-key': 'hostile' } });
      expect([answer.status, answer.body.code]).toEqual([status, code]);
      // What is wrong is said in a bounded answer, however much is wrong.
      expect(answer.text.length).toBeLessThan(64 * 1024);
    }
    expect(performance.now() - started).toBeLessThan(2 * MAX_MS);
    expect(await rowsDigest(app)).toBe(before);
  });
});

describe('names that mean something to the language', () => {
  test.each([
    '{"name":"n","client_id":"c","__proto__":{"release":"manual"}}',
    '{"name":"n","client_id":"c","metadata":{"__proto__":"x"}}',
    '{"name":"n","client_id":"c","metadata":{"__proto__":null}}',
    '{"name":"n","client_id":"c","milestones":[{"title":"t","amount":1,"__proto__":{"amount":2}}]}',
    '{"name":"n","client_id":"c","constructor":{"prototype":{"x":1}}}',
    '{"__proto__":{"name":"n","client_id":"c"}}',
    '{"\\u005f_proto__":{"name":"n"},"name":"n","client_id":"c"}',
  ])('%s is a 400 and poisons nothing', async (raw) => {
    const before = await rowsDigest(app);
    const { status, body } = await app.call('POST', '/v1/projects', { raw });
    expect([status, body.code]).toEqual([400, 'malformed_json']);
    expect([({} as Json).release, ({} as Json).x, Object.keys(Object.prototype)]).toEqual([undefined, undefined, []]);
    expect(await rowsDigest(app)).toBe(before);
  });

  test.each([
    'constructor',
    'toString',
    'hasOwnProperty',
    'valueOf',
    'prototype',
    'length',
    'then',
    '$ref',
    'a.b',
    'a[b]',
    '%',
    '_',
    '/',
    "'",
    '"',
    '\\',
  ])('metadata may have the key %j: it is stored, found by it, merged and deleted like any other', async (key) => {
    const metadata = { [key]: 'value of its own' };
    const { id } = await app.ok('POST', '/v1/projects', { body: { name: 'n', client_id: 'c', metadata } });
    const { data } = await app.ok('GET', `/v1/projects?${encodeURIComponent(`metadata[${key}]`)}=value+of+its+own`);
    expect(data.map((project: Json) => [project.id, project.metadata])).toEqual([[id, metadata]]);
    expect((await app.ok('PATCH', `/v1/projects/${id}`, { body: { metadata: { [key]: null } } })).metadata).toEqual({});
  });

  test.each([
    'metadata[__proto__]=x',
    'metadata[constructor]=x',
    'metadata[toString]=',
    'client_id=__proto__',
  ])('?%s finds nothing, rather than everything', async (query) => {
    expect((await app.ok('GET', `/v1/projects?${query}`)).data).toEqual([]);
  });

  test.each([
    '__proto__=x',
    '__proto__[a]=x',
    'constructor[prototype][a]=x',
    '=x',
    '%00=x',
    '%ed%a0%80=x',
    'limit%00=1',
    'metadata=x',
    'metadata[=x',
    'metadata[]=x',
    'metadata[a][b]=x&x=1',
  ])('?%s is refused', async (query) => {
    for (const path of ['/v1/projects', '/v1/payments', '/v1/events', `/v1/projects/${ids.prj}`]) {
      const { status, body } = await app.call('GET', `${path}?${query}`);
      expect([path, status, body.code]).toEqual([
        path,
        query.startsWith('%ed') ? 400 : 422,
        query.startsWith('%ed') ? 'malformed_request' : 'validation_failed',
      ]);
    }
  });
});

describe('texts that are legal come back to the letter, everywhere they are shown', () => {
  test.each([
    "Robert'); drop table projects;--",
    '<script>alert(1)</script>',
    '{{7*7}} \u0024{7*7} #{7*7} %{7*7}',
    '../../../etc/passwd',
    '\u202egnp.exe',
    'zero\u200bwidth\u200djoined\ufeff',
    'e\u0301 is not \u00e9',
    '👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿',
    '\u2028\u2029',
    '\uffff\ufffe\ufdd0',
    'ﷺ Ω≈ç√∫ 田中さん עברית العربية',
    '  spaces around  ',
    'null',
    '-1e400',
    '%s %n %00 %zz',
    '\\ \\u0000 \\x00 " \' `',
    '=cmd|calc!A1',
    '$1 $2 :name ?',
  ])('%j', async (text) => {
    const milestone = {
      title: text,
      amount: 1,
      description: `${text}\n\t${text}`,
      payee_id: text,
      metadata: { [text.slice(0, 20)]: text },
    };
    const { id } = await app.ok('POST', '/v1/projects', {
      body: { name: text, client_id: text, milestones: [milestone] },
      headers: { 'idempotency-key': `k${Buffer.from(text).toString('hex').slice(0, 99)}` },
    });
    const read = await app.ok('GET', `/v1/projects/${id}`);
    expect([read.name, read.client_id]).toEqual([text, text]);
    const made = (await app.ok('GET', `/v1/projects/${id}/milestones`)).data[0];
    expect(made).toMatchObject(milestone);
    const found = await app.ok('GET', `/v1/projects?client_id=${encodeURIComponent(text)}`);
    expect(found.data.map((project: Json) => project.id)).toEqual([id]);
    for (const status of ['submitted', 'approved']) {
      const body = { status, ...(status === 'submitted' ? { submission: { note: text } } : {}) };
      await app.ok('PATCH', `/v1/milestones/${made.id}`, { body });
    }
    const [invoice] = (await app.ok('GET', `/v1/invoices?client_id=${encodeURIComponent(text)}`)).data;
    expect([invoice.client_id, invoice.lines[0].description]).toEqual([text, text]);
    const [{ seq }] = await app.database.query<Json>('select event_seq as seq from workspace_heads where workspace_id = $1', [
      app.workspaceId,
    ]);
    const events = (await app.ok('GET', `/v1/events?after_seq=${Number(seq) - 6}`)).data;
    expect(events.map((event: Json) => event.data.name ?? event.data.title).filter(Boolean)).toEqual(Array(4).fill(text));
  });
});

describe('what a client sends is not believed where it does not belong', () => {
  test('a Request-Id, a forwarded address, a host and a cookie of the client change nothing in the answer', async () => {
    const plain = await app.call('GET', `/v1/projects/${ids.prj}`);
    const headers = {
      'request-id': 'mine\r\nX: y',
      'x-request-id': 'mine',
      'x-forwarded-for': '::1',
      host: 'evil.example',
      cookie: 'session=1',
      'x-workspace-id': 'wsp_1',
    };
    const odd = await app.call('GET', `/v1/projects/${ids.prj}`, { headers });
    expect(odd.text).toBe(plain.text);
    expect(JSON.stringify(odd.headers)).not.toMatch(/mine|evil/);
    const made = await app.call('POST', '/v1/projects', { headers, body: { name: 'n', client_id: 'c' } });
    expect(made.headers.location).toBe(`/v1/projects/${made.body.id}`);
  });

  test('no problem repeats a secret, a stack or a word of SQL', async () => {
    const secret = `tr_live_${'S3cr3t'.repeat(6)}`;
    const texts = [
      (await app.call('GET', '/v1/projects', { key: secret })).text,
      (await app.call('POST', '/v1/projects', { body: { name: 1 }, headers: { 'idempotency-key': 'x y' } })).text,
      (await app.call('POST', '/v1/projects', { raw: '{"name": }' })).text,
      (await app.call('GET', "/v1/projects/prj_'%20or%201=1")).text,
    ];
    for (const text of texts) expect(text).not.toMatch(/S3cr3t|node_modules|\.ts:|select |insert |at \w+ \(/i);
  });
});
