// Every request body against good and hostile input: what gets in, what is refused, and that the refusal says what would be right.
// Needs no database and no HTTP.

import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { apiKeyCreate, apiKeyCreateExample, apiKeyRotate } from './api-keys.ts';
import { milestoneCreate, milestoneCreateExample, milestoneUpdate, milestoneUpdateExample } from './milestones.ts';
import { paymentRelease } from './payments.ts';
import { projectCreate, projectCreateExample, projectUpdate, projectUpdateExample } from './projects.ts';
import { calendarDay, metadata, text } from './text.ts';
import {
  webhookEndpointCreate,
  webhookEndpointCreateExample,
  webhookEndpointUpdate,
  webhookEndpointUpdateExample,
  webhookSecretRotate,
} from './webhook-endpoints.ts';

const issuesOf = (schema: z.ZodType, input: unknown) =>
  schema.safeParse(input).error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`) ?? [];

const milestone = { title: 'Design', amount: 1 };
const project = { name: 'Site', client_id: 'c' };
const endpoint = { url: 'https://example.com/hook' };
const AMOUNT = 'an integer in minor units, for example 150000 for 1500.00 USD';

describe('request bodies', () => {
  test.each([
    ['ProjectCreate', projectCreate, projectCreateExample],
    ['ProjectUpdate', projectUpdate, projectUpdateExample],
    ['MilestoneCreate', milestoneCreate, milestoneCreateExample],
    ['MilestoneUpdate', milestoneUpdate, milestoneUpdateExample],
    ['ApiKeyCreate', apiKeyCreate, apiKeyCreateExample],
    ['WebhookEndpointCreate', webhookEndpointCreate, webhookEndpointCreateExample],
    ['WebhookEndpointUpdate', webhookEndpointUpdate, webhookEndpointUpdateExample],
  ] as [string, z.ZodType, unknown][])('%s accepts its own example and refuses a field it does not know', (_name, schema, example) => {
    expect(issuesOf(schema, example)).toEqual([]);
    expect(schema.safeParse({ ...(example as object), surprise: 1 }).error?.issues).toMatchObject([
      { code: 'unrecognized_keys', keys: ['surprise'] },
    ]);
  });

  test.each([
    ['a name of one character', projectCreate, { ...project, name: 'x' }],
    ['a name of 255 characters outside the basic plane', projectCreate, { ...project, name: '𝒳'.repeat(255) }],
    ['a client id that is only a space, since it is opaque', projectCreate, { ...project, client_id: ' ' }],
    ['no milestones', projectCreate, { ...project, milestones: [] }],
    ['100 milestones', projectCreate, { ...project, milestones: Array(100).fill(milestone) }],
    ['an update with nothing in it', projectUpdate, {}],
    ['a payee taken away', projectUpdate, { payee_id: null }],
    ['an update of a milestone with nothing in it', milestoneUpdate, {}],
    ['the plain move of the given interface', milestoneUpdate, { status: 'submitted' }],
    ['line breaks and tabs in a description', milestoneCreate, { ...milestone, description: 'a\r\n\tb' }],
    ['a leap day that exists', milestoneCreate, { ...milestone, due_date: '2028-02-29' }],
    ['the largest amount', milestoneCreate, { ...milestone, amount: 999_999_999_999 }],
    ['metadata under names that objects have by nature', milestoneCreate, { ...milestone, metadata: { constructor: 'x', toString: 'y' } }],
    ['metadata with 50 keys of 40 characters', milestoneCreate, { ...milestone, metadata: keys(50, 40) }],
    ['a key with expiry', apiKeyCreate, { name: 'k', expires_at: '2030-01-01T00:00:00+02:00' }],
    ['a rotation without a body', apiKeyRotate, undefined],
    ['a release without a body', paymentRelease, undefined],
    ['a release with an empty body', paymentRelease, {}],
    ['an address with a port and a query', webhookEndpointCreate, { url: 'http://127.0.0.1:8080/hook?x=1' }],
    ['event types back to the default', webhookEndpointUpdate, { event_types: null, description: null }],
  ] as [string, z.ZodType, unknown][])('%s is accepted', (_name, schema, body) => {
    expect(issuesOf(schema, body)).toEqual([]);
  });

  const refused: [string, z.ZodType, unknown, string, string][] = [
    ['a missing name', projectCreate, { client_id: 'c' }, 'name', 'Required: a text of 1 to 255 characters.'],
    ['an empty name', projectCreate, { ...project, name: '' }, 'name', 'Must be a text of 1 to 255 characters.'],
    ['a name that is too long', projectCreate, { ...project, name: 'x'.repeat(256) }, 'name', 'Must be a text of 1 to 255 characters.'],
    ['a name of 256 characters outside the basic plane', projectCreate, { ...project, name: '𝒳'.repeat(256) }, 'name', 'Must be a text of'],
    ['a number for a name', projectCreate, { ...project, name: 7 }, 'name', 'Must be a text of 1 to 255 characters.'],
    ['NUL in a name', projectCreate, { ...project, name: 'a\0b' }, 'name', 'Must not hold control characters'],
    ['a line break in a name', projectCreate, { ...project, name: 'a\nb' }, 'name', 'Must not hold control characters or line breaks.'],
    ['half a surrogate pair', projectCreate, { ...project, client_id: 'a\ud800' }, 'client_id', 'Must be well-formed Unicode'],
    ['an unknown currency', projectCreate, { ...project, currency: 'XYZ' }, 'currency', 'ISO 4217'],
    ['a currency that only becomes one by upper-casing', projectCreate, { ...project, currency: 'uſd' }, 'currency', 'ISO 4217'],
    ['an unknown release', projectCreate, { ...project, release: 'later' }, 'release', 'one of on_approval, manual'],
    ['101 milestones', projectCreate, { ...project, milestones: Array(101).fill({}) }, 'milestones', 'up to 100 milestones'],
    [
      'a bad milestone inside',
      projectCreate,
      { ...project, milestones: [milestone, { title: 'x', amount: 0 }] },
      'milestones.1.amount',
      AMOUNT,
    ],
    [
      'milestones that are no list',
      projectCreate,
      { ...project, milestones: { length: 1 } },
      'milestones',
      'Must be a list of milestones.',
    ],
    ['a status that is none', projectUpdate, { status: 'gone' }, 'status', 'one of active, archived'],
    ['a missing amount', milestoneCreate, { title: 'x' }, 'amount', `Required: ${AMOUNT}`],
    ['an amount as text', milestoneCreate, { ...milestone, amount: '1500' }, 'amount', AMOUNT],
    ['a fraction', milestoneCreate, { ...milestone, amount: 1500.5 }, 'amount', AMOUNT],
    ['nothing', milestoneCreate, { ...milestone, amount: 0 }, 'amount', AMOUNT],
    ['less than nothing', milestoneCreate, { ...milestone, amount: -1 }, 'amount', AMOUNT],
    ['more than the most', milestoneCreate, { ...milestone, amount: 1_000_000_000_000 }, 'amount', AMOUNT],
    ['an integer beyond 2^53', milestoneCreate, { ...milestone, amount: 1e21 }, 'amount', AMOUNT],
    ['infinity', milestoneCreate, { ...milestone, amount: Number.POSITIVE_INFINITY }, 'amount', AMOUNT],
    ['a null amount', milestoneCreate, { ...milestone, amount: null }, 'amount', AMOUNT],
    ['a day that does not exist', milestoneCreate, { ...milestone, due_date: '2027-02-29' }, 'due_date', 'a day of the calendar'],
    ['a day before 1970', milestoneCreate, { ...milestone, due_date: '1969-12-31' }, 'due_date', 'a day of the calendar'],
    ['a day with a time', milestoneCreate, { ...milestone, due_date: '2027-02-01T00:00:00Z' }, 'due_date', 'a day of the calendar'],
    ['a month that does not exist', milestoneCreate, { ...milestone, due_date: '2027-13-01' }, 'due_date', 'a day of the calendar'],
    ['51 metadata keys', milestoneCreate, { ...milestone, metadata: keys(51, 5) }, 'metadata', 'up to 50 keys'],
    [
      'a metadata key that is too long',
      milestoneCreate,
      { ...milestone, metadata: keys(1, 41) },
      `metadata.${'k'.repeat(40)}0`,
      '1 to 40 characters',
    ],
    ['an empty metadata key', milestoneCreate, { ...milestone, metadata: { '': 'x' } }, 'metadata.', '1 to 40 characters'],
    ['a number in metadata', milestoneCreate, { ...milestone, metadata: { a: 1 } }, 'metadata.a', 'up to 500 characters'],
    ['null in new metadata', milestoneCreate, { ...milestone, metadata: { a: null } }, 'metadata.a', 'up to 500 characters'],
    ['metadata that is a list', milestoneCreate, { ...milestone, metadata: ['a'] }, 'metadata', 'Must be an object of strings.'],
    ['an empty reason', milestoneUpdate, { status: 'changes_requested', reason: '' }, 'reason', '1 to 2000 characters'],
    ['21 links', milestoneUpdate, { submission: { links: Array(21).fill('https://a.example') } }, 'submission.links', 'up to 20 links'],
    [
      'a link of another scheme',
      milestoneUpdate,
      { submission: { links: ['javascript:alert(1)'] } },
      'submission.links.0',
      'http or https URL',
    ],
    ['an unknown field of a submission', milestoneUpdate, { submission: { file: 'x' } }, 'submission', 'Unrecognized key'],
    ['no scopes at all', apiKeyCreate, { name: 'k', scopes: [] }, 'scopes', 'at least one scope'],
    ['a scope twice', apiKeyCreate, { name: 'k', scopes: ['projects:read', 'projects:read'] }, 'scopes', 'none of them twice'],
    ['an unknown scope', apiKeyCreate, { name: 'k', scopes: ['everything'] }, 'scopes.0', 'one of projects:read'],
    ['a time without an offset', apiKeyCreate, { name: 'k', expires_at: '2030-01-01T00:00:00' }, 'expires_at', 'RFC 3339'],
    ['a time past the year 9999', apiKeyCreate, { name: 'k', expires_at: '9999-12-31T23:59:59-12:00' }, 'expires_at', 'RFC 3339'],
    ['a time that does not exist', apiKeyCreate, { name: 'k', expires_at: '2030-02-30T00:00:00Z' }, 'expires_at', 'RFC 3339'],
    ['an overlap of more than a week', apiKeyRotate, { overlap_seconds: 604_801 }, 'overlap_seconds', 'from 0 to 604800'],
    ['a negative overlap', webhookSecretRotate, { overlap_seconds: -1 }, 'overlap_seconds', 'from 0 to 604800'],
    ['a field in a release', paymentRelease, { amount: 1 }, '', 'Unrecognized key'],
    ['a list as a release', paymentRelease, [], '', 'Invalid input'],
    ['an address without a scheme', webhookEndpointCreate, { url: 'example.com' }, 'url', 'http or https URL'],
    ['an address of a file', webhookEndpointCreate, { url: 'file:///etc/passwd' }, 'url', 'http or https URL'],
    ['an address with a user name', webhookEndpointCreate, { url: 'https://user@example.com' }, 'url', 'http or https URL'],
    ['an address with a password', webhookEndpointCreate, { url: 'https://:secret@example.com' }, 'url', 'http or https URL'],
    ['an address with backslashes', webhookEndpointCreate, { url: 'https:\\\\example.com' }, 'url', 'http or https URL'],
    ['an address without a host', webhookEndpointCreate, { url: 'https://' }, 'url', 'http or https URL'],
    ['an address with a space around it', webhookEndpointCreate, { url: ' https://example.com' }, 'url', 'http or https URL'],
    ['an address that is too long', webhookEndpointCreate, { url: `https://example.com/${'x'.repeat(2048)}` }, 'url', '2048 characters'],
    ['no event types at all', webhookEndpointCreate, { ...endpoint, event_types: [] }, 'event_types', 'at least one event type'],
    [
      'an unknown event type',
      webhookEndpointCreate,
      { ...endpoint, event_types: ['payment.lost'] },
      'event_types.0',
      'one of project.created',
    ],
  ];
  test.each(refused)('%s is refused, once, with what would be right', (_name, schema, body, path, message) => {
    const issues = issuesOf(schema, body);
    expect(issues).toHaveLength(1);
    expect(issues[0]?.startsWith(`${path}: `)).toBe(true);
    expect(issues[0]).toContain(message);
  });

  test.each([undefined, null, 7, 'text', [], true])('a body that is %j and no object is refused', (body) => {
    expect(projectCreate.safeParse(body).success).toBe(false);
    expect(milestoneUpdate.safeParse(body).success).toBe(false);
  });

  test('money is a bigint and a currency is upper case from the schema on (I-10)', () => {
    expect(milestoneCreate.parse({ title: 'x', amount: 150_000, currency: 'eur' })).toEqual({
      title: 'x',
      amount: 150_000n,
      currency: 'EUR',
    });
  });

  test('a body with a hundred thousand wrong members is one error, not a hundred thousand', () => {
    expect(projectCreate.safeParse({ ...project, milestones: Array(100_000).fill({}) }).error?.issues).toHaveLength(1);
    expect(projectCreate.safeParse({ ...project, metadata: keys(100_000, 60) }).error?.issues).toHaveLength(1);
    expect(apiKeyCreate.safeParse({ name: 'k', scopes: Array(100_000).fill('x') }).error?.issues).toHaveLength(1);
  });

  test('metadata keys named like parts of every object stay plain keys', () => {
    const parsed = metadata.parse(JSON.parse('{"constructor":"a","hasOwnProperty":"b","valueOf":"c"}'));
    expect(Object.entries(parsed)).toEqual([
      ['constructor', 'a'],
      ['hasOwnProperty', 'b'],
      ['valueOf', 'c'],
    ]);
  });

  test('defaults: a rotation without a body keeps the old secret for a day', () => {
    expect(apiKeyRotate.parse(undefined)).toEqual({ overlap_seconds: 86_400 });
    expect(webhookSecretRotate.parse({ overlap_seconds: 0 })).toEqual({ overlap_seconds: 0 });
  });
});

test('a text is measured in characters, and quickly when it is far too long', () => {
  expect(text(3).safeParse('𝒳𝒳𝒳').success).toBe(true);
  expect(text(3).safeParse('x'.repeat(1_000_000)).success).toBe(false);
});

/** `count` keys of `length` characters. */
function keys(count: number, length: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [String(i).padStart(length, 'k'), 'v']));
}

test('a day is taken if and only if the calendar has it', () => {
  const two = (number: number) => String(number).padStart(2, '0');
  for (const year of [1969, 1970, 1999, 2000, 2024, 2026, 2027, 2028, 2100, 2400, 9999]) {
    for (let month = 0; month <= 13; month++) {
      for (let day = 0; day <= 32; day++) {
        const text = `${year}-${two(month)}-${two(day)}`;
        const date = new Date(`${text}T00:00:00Z`);
        const isThere = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) && year >= 1970;
        expect(calendarDay.safeParse(text).success, text).toBe(isThere);
      }
    }
  }
});
