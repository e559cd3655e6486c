// The rules of every field and parameter over HTTP: what is refused, at which pointer, with which code and in which words.
// Each case changes one thing in a request that is otherwise accepted, and nothing may be changed by it.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { currencyExponents } from '../src/domain/money.ts';
import type { Json, TestApp } from './support/app.ts';
import { addressOf, openContractApp, operationNamed, populate, snapshot } from './support/contract.ts';

let app: TestApp;
let ids: Record<string, string>;
beforeAll(async () => {
  app = await openContractApp();
  ids = await populate(app);
});
afterAll(() => app.stop());

const long = (length: number): string => 'x'.repeat(length);
const metadataOf = (count: number): Json => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));

type Case = [operation: string, change: Json, pointer: string, code: string, message: RegExp];

const AMOUNT = /integer in minor units.*from 1 to 999999999999/;
const amounts: [Json, string][] = [
  [0, 'too_small'],
  [-1, 'too_small'],
  [1_000_000_000_000, 'too_large'],
  [1e21, 'too_large'],
  [0.1, 'too_small'],
  [1.5, 'wrong_type'],
  ['100', 'wrong_type'],
  [null, 'wrong_type'],
  [true, 'wrong_type'],
  [[100], 'wrong_type'],
  [{ value: 100 }, 'wrong_type'],
];
const names: [Json, string][] = [
  ['', 'too_short'],
  [long(256), 'too_long'],
  ['a\u0000b', 'control_character'],
  ['a\nb', 'wrong_format'],
  ['\ud800', 'lone_surrogate'],
  [1, 'wrong_type'],
  [null, 'wrong_type'],
  [{}, 'wrong_type'],
];
const currencies: [Json, string][] = [
  ['US', 'wrong_format'],
  ['USDX', 'wrong_format'],
  ['XXX', 'wrong_format'],
  ['\u0131dr', 'wrong_format'],
  ['', 'wrong_format'],
  [840, 'wrong_type'],
];
const metadatas: [Json, string, string][] = [
  [[], '', 'wrong_type'],
  ['x', '', 'wrong_type'],
  [{ a: 1 }, '/a', 'wrong_type'],
  [{ a: { b: 'c' } }, '/a', 'wrong_type'],
  [{ a: long(501) }, '/a', 'too_long'],
  [{ [long(41)]: 'v' }, `/${long(41)}`, 'wrong_key'],
  [{ '': 'v' }, '/', 'wrong_key'],
  [metadataOf(51), '', 'too_many'],
];
const urls: [Json, string][] = [
  ['', 'too_short'],
  ['example.com', 'not_valid'],
  ['ftp://example.com', 'not_valid'],
  ['javascript:alert(1)', 'not_valid'],
  ['https://user:pass@example.com', 'not_valid'],
  [' https://example.com', 'not_valid'],
  ['https://', 'not_valid'],
  [`https://example.com/${long(2048)}`, 'too_long'],
  [1, 'wrong_type'],
];

const ANY = /./;
const cases: Case[] = [
  ...(['createProject', 'updateProject'] as const).flatMap((operation): Case[] => [
    ...names.map(([value, code]): Case => [operation, { name: value }, '/name', code, /text of 1 to 255|control characters|surrogate/]),
    ...names.map(([value, code]): Case => [operation, { client_id: value }, '/client_id', code, ANY]),
    ...currencies.map(([value, code]): Case => [operation, { currency: value }, '/currency', code, /ISO 4217, such as USD/]),
    ...metadatas.map(([value, at, code]): Case => [operation, { metadata: value }, `/metadata${at}`, code, ANY]),
    [operation, { release: 'later' }, '/release', 'not_allowed', /one of on_approval, manual/],
    [operation, { payee_id: '' }, '/payee_id', 'too_short', ANY],
  ]),
  ['updateProject', { status: 'deleted' }, '/status', 'not_allowed', /one of active, archived/],
  ['createProject', { name: undefined }, '/name', 'missing', /^Required: a text/],
  ['createProject', { client_id: undefined }, '/client_id', 'missing', /^Required: a text/],
  ['createProject', { milestones: {} }, '/milestones', 'wrong_type', /list of milestones/],
  ['createProject', { milestones: [{ title: 't', amount: 1 }, { title: 't' }] }, '/milestones/1/amount', 'missing', AMOUNT],
  ['createProject', { milestones: [{ title: 't', amount: 1, x: 1 }] }, '/milestones/0/x', 'unknown_field', /remove it/],
  ['createProject', { milestones: [1] }, '/milestones/0', 'wrong_type', /object/],
  ['createProject', { milestones: Array(101).fill({ title: 't', amount: 1 }) }, '/milestones', 'too_many', /up to 100 milestones/],
  ...(['createMilestone', 'updateMilestone'] as const).flatMap((operation): Case[] => [
    ...amounts.map(([value, code]): Case => [operation, { amount: value }, '/amount', code, AMOUNT]),
    ...names.map(([value, code]): Case => [operation, { title: value }, '/title', code, ANY]),
    ...currencies.map(([value, code]): Case => [operation, { currency: value }, '/currency', code, /ISO 4217/]),
    ...metadatas.map(([value, at, code]): Case => [operation, { metadata: value }, `/metadata${at}`, code, ANY]),
    ...[
      '2026-02-30',
      '2026-04-31',
      '2026-13-01',
      '2026-00-01',
      '2026-01-00',
      '2026-2-3',
      '2026-01-01T00:00:00Z',
      '1969-12-31',
      '',
      20260101,
    ].map((value): Case => {
      return [operation, { due_date: value }, '/due_date', typeof value === 'number' ? 'wrong_type' : 'not_valid', /day of the calendar/];
    }),
    [operation, { description: long(5001) }, '/description', 'too_long', /up to 5000/],
    [operation, { description: '\u001b[31m' }, '/description', 'control_character', /control characters/],
  ]),
  ['createMilestone', { title: undefined }, '/title', 'missing', /^Required/],
  ['createMilestone', { amount: undefined }, '/amount', 'missing', /^Required: an integer in minor units/],
  ['createMilestone', { status: 'approved' }, '/status', 'unknown_field', /remove it/],
  ...['Submitted', 'done', '', 1, null, ['submitted']].map((status): Case => {
    return [
      'updateMilestone',
      { status },
      '/status',
      'not_allowed',
      /one of pending, in_progress, submitted, changes_requested, approved, cancelled/,
    ];
  }),
  ['updateMilestone', { status: undefined, submission: undefined, reason: 'r' }, '/reason', 'misplaced', /together with the move/],
  ['updateMilestone', { status: 'in_progress' }, '/submission', 'misplaced', /goes with "status": "submitted"/],
  ['updateMilestone', { reason: long(2001) }, '/reason', 'too_long', ANY],
  ['updateMilestone', { reason: '' }, '/reason', 'too_short', ANY],
  ['updateMilestone', { submission: { links: 'https://a.b' } }, '/submission/links', 'wrong_type', /list of URLs/],
  ['updateMilestone', { submission: { links: Array(21).fill('https://a.b') } }, '/submission/links', 'too_many', /up to 20/],
  ['updateMilestone', { submission: { note: long(5001) } }, '/submission/note', 'too_long', ANY],
  ['updateMilestone', { submission: { url: 'x' } }, '/submission/url', 'unknown_field', ANY],
  ...urls.map(
    ([url, code]): Case => ['updateMilestone', { submission: { links: ['https://a.b', url] } }, '/submission/links/1', code, ANY],
  ),
  ...(['createWebhookEndpoint', 'updateWebhookEndpoint'] as const).flatMap((operation): Case[] => [
    ...urls.map(([url, code]): Case => [operation, { url }, '/url', code, code === 'not_valid' ? /absolute http or https URL/ : ANY]),
    [operation, { event_types: [] }, '/event_types', 'not_valid', /at least one/],
    [operation, { event_types: ['payment.released', 'payment.released'] }, '/event_types', 'not_valid', /none of them twice/],
    [operation, { event_types: ['payment.refunded'] }, '/event_types/0', 'not_allowed', /payment\.released/],
    [operation, { event_types: '*' }, '/event_types', 'wrong_type', /list/],
    [operation, { description: long(501) }, '/description', 'too_long', ANY],
  ]),
  ['updateWebhookEndpoint', { status: 'paused' }, '/status', 'not_allowed', /enabled, disabled/],
  ['createApiKey', { name: undefined }, '/name', 'missing', ANY],
  ['createApiKey', { scopes: [] }, '/scopes', 'not_valid', /at least one/],
  ['createApiKey', { scopes: ['*'] }, '/scopes/0', 'not_allowed', /projects:read/],
  ['createApiKey', { scopes: ['events:read', 'events:read'] }, '/scopes', 'not_valid', /twice/],
  ['createApiKey', { expires_at: '2020-01-01T00:00:00Z' }, '/expires_at', 'in_the_past', /must lie after/],
  ...['tomorrow', '2030-01-01', '2030-01-01T00:00:00', '2030-13-01T00:00:00Z', 1e12].map((value): Case => {
    return ['createApiKey', { expires_at: value }, '/expires_at', typeof value === 'number' ? 'wrong_type' : 'wrong_format', /RFC 3339/];
  }),
  ...(['rotateApiKey', 'rotateWebhookSecret'] as const).flatMap((operation): Case[] => [
    [operation, { overlap_seconds: -1 }, '/overlap_seconds', 'too_small', /0 to 604800/],
    [operation, { overlap_seconds: 604_801 }, '/overlap_seconds', 'too_large', /0 to 604800/],
    [operation, { overlap_seconds: 1.5 }, '/overlap_seconds', 'wrong_type', /0 to 604800/],
    [operation, { overlap_seconds: '60' }, '/overlap_seconds', 'wrong_type', /0 to 604800/],
  ]),
];

describe('bodies', () => {
  test.each(cases)('%s with %j is refused at %s as %s', async (name, change, pointer, code, message) => {
    const operation = operationNamed(name);
    const before = await snapshot(app);
    const body = { ...operation.body?.examples[0], ...change };
    const answer = await app.call(operation.method, addressOf(operation, ids), { body });
    expect([answer.status, answer.body.code, answer.body.errors]).toEqual([
      422,
      'validation_failed',
      [{ pointer, code, message: expect.stringMatching(message) }],
    ]);
    expect(await snapshot(app)).toEqual(before);
  });

  test('several mistakes are all named at once, and the detail leads with the first', async () => {
    const { body } = await app.call('POST', '/v1/projects', {
      body: { client_id: 1, currency: 'xx', extra: 1, milestones: [{ amount: -1 }] },
    });
    expect(body.errors.map(({ pointer }: Json) => pointer)).toEqual([
      '/name',
      '/client_id',
      '/currency',
      '/milestones/0/title',
      '/milestones/0/amount',
      '/extra',
    ]);
    expect(body.detail).toMatch(/^\/name: Required: a text of 1 to 255 characters\. \(and 5 more errors\)$/);
  });

  test('what lies on a bound is accepted: lengths count characters, not code units', async () => {
    const name = '📐'.repeat(255);
    const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${i}`.padEnd(40, 'k'), long(500)]));
    const milestones = [
      { title: name, amount: 1, description: long(5000), due_date: '1970-01-01' },
      { title: 't', amount: 999_999_999_999, due_date: '9999-12-31' },
    ];
    const project = await app.ok('POST', '/v1/projects', { body: { name, client_id: name, payee_id: name, metadata, milestones } });
    expect([project.name, project.client_id, project.metadata]).toEqual([name, name, metadata]);
    const { data } = await app.ok('GET', `/v1/projects/${project.id}/milestones`);
    expect(data.map(({ amount }: Json) => amount)).toEqual([999_999_999_999, 1]);
  });

  test('metadata merges, null deletes a key, and the result may not hold more than 50 keys', async () => {
    const { id } = await app.ok('POST', '/v1/projects', { body: { name: 'n', client_id: 'c', metadata: metadataOf(50) } });
    const path = `/v1/projects/${id}`;
    const full = await app.call('PATCH', path, { body: { metadata: { more: 'v' } } });
    expect([full.status, full.body.errors[0].pointer]).toEqual([422, '/metadata']);
    const swapped = await app.ok('PATCH', path, { body: { metadata: { k0: null, k1: 'w', more: 'v', absent: null } } });
    expect([Object.keys(swapped.metadata).length, swapped.metadata.k0, swapped.metadata.k1]).toEqual([50, undefined, 'w']);
  });

  test('every currency of ISO 4217 is accepted in any case and answered in upper case', async () => {
    for (const code of currencyExponents.keys()) {
      const { currency } = await app.ok('PATCH', `/v1/projects/${ids.prj}`, { body: { currency: code.toLowerCase() } });
      expect(currency).toBe(code);
    }
  });
});

describe('queries', () => {
  const lists = ['/v1/projects', '/v1/payments', '/v1/invoices', '/v1/api_keys', '/v1/webhook_endpoints'];
  test.each(lists)('%s refuses a page or a time that is none, at its parameter', async (path) => {
    for (const limit of ['0', '101', '-1', '1.5', '1e1', '', '+5', '0x10', '١', '1000']) {
      const { status, body } = await app.call('GET', `${path}?limit=${encodeURIComponent(limit)}`);
      expect([limit, status, body.errors?.[0].pointer]).toEqual([limit, 422, 'query/limit']);
    }
    for (const name of ['starting_after', 'ending_before', 'created_after', 'created_before']) {
      for (const value of ['', 'x', ids.mil, 'null']) {
        const { status, body } = await app.call('GET', `${path}?${name}=${value}`);
        expect([name, status, body.errors?.[0].pointer]).toEqual([name, 422, `query/${name}`]);
      }
    }
    const { data } = await app.ok('GET', path);
    const both = await app.call('GET', `${path}?starting_after=${data[0].id}&ending_before=${data[0].id}`);
    expect([both.status, both.body.errors[0].pointer]).toEqual([422, 'query/ending_before']);
  });

  test.each([
    ['/v1/events?after_seq=-1', 'after_seq'],
    ['/v1/events?after_seq=9007199254740993', 'after_seq'],
    ['/v1/events?after_seq=1e3', 'after_seq'],
    ['/v1/projects?status=deleted', 'status'],
    ['/v1/projects?metadata[]=x', 'metadata[]'],
    ['/v1/projects?client_id=', 'client_id'],
    ['/v1/payments?status=paid', 'status'],
    ['/v1/payments?milestone_id=x', 'milestone_id'],
    ['/v1/invoices?payment_status=due', 'payment_status'],
  ])('%s is refused at %s', async (path, name) => {
    const { status, body } = await app.call('GET', path);
    expect([status, body.errors[0].pointer]).toEqual([422, `query/${name}`]);
  });
});
