// The queries of the lists against good and hostile input. Needs no database and no HTTP.
// What the filters find is tested with the store.

import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { decodeId } from '../domain/ids.ts';
import { deliveryAttemptListQuery, deliveryListQuery } from './deliveries.ts';
import { eventListQuery } from './events.ts';
import { invoiceListQuery } from './invoices.ts';
import { milestoneListQuery } from './milestones.ts';
import { paymentListQuery } from './payments.ts';
import { projectListQuery } from './projects.ts';
import { exampleId } from './text.ts';

const issuesOf = (schema: z.ZodType, input: unknown) =>
  schema.safeParse(input).error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`) ?? [];

describe('queries of lists', () => {
  const uuid = (kind: Parameters<typeof decodeId>[0]) => decodeId(kind, exampleId(kind)) as string;

  test('no parameters mean the first 20', () => {
    expect(projectListQuery.parse({}).limit).toBe(20);
    expect(eventListQuery.parse({})).toEqual({ limit: 20, after_seq: 0, order: 'asc' });
  });

  test('strings become numbers, native ids and times', () => {
    expect(
      paymentListQuery.parse({ limit: '5', starting_after: exampleId('payment'), project_id: exampleId('project'), status: 'pending' }),
    ).toEqual({
      limit: 5,
      starting_after: uuid('payment'),
      project_id: uuid('project'),
      status: 'pending',
    });
    expect(invoiceListQuery.parse({ created_after: '2026-03-02T10:30:00+01:00' }).created_after).toEqual(new Date('2026-03-02T09:30:00Z'));
    expect(eventListQuery.parse({ after_seq: '9007199254740991' }).after_seq).toBe(Number.MAX_SAFE_INTEGER);
  });

  const refused: [string, z.ZodType, Record<string, unknown>, string, string][] = [
    ['limit 0', projectListQuery, { limit: '0' }, 'limit', 'an integer from 1 to 100'],
    ['limit 101', milestoneListQuery, { limit: '101' }, 'limit', 'an integer from 1 to 100'],
    ['limit 1e1', paymentListQuery, { limit: '1e1' }, 'limit', 'an integer from 1 to 100'],
    ['an empty limit', paymentListQuery, { limit: '' }, 'limit', 'an integer from 1 to 100'],
    ['limit twice', paymentListQuery, { limit: ['1', '2'] }, 'limit', 'given once'],
    ['a cursor of another kind', paymentListQuery, { starting_after: exampleId('project') }, 'starting_after', 'the id of a payment'],
    ['a cursor of no form', invoiceListQuery, { ending_before: 'x' }, 'ending_before', 'the id of an invoice'],
    [
      'both cursors',
      projectListQuery,
      { starting_after: exampleId('project'), ending_before: exampleId('project') },
      'ending_before',
      'not both',
    ],
    [
      'both cursors',
      deliveryListQuery,
      { starting_after: exampleId('delivery'), ending_before: exampleId('delivery') },
      'ending_before',
      'not both',
    ],
    ['an unknown status', milestoneListQuery, { status: 'done' }, 'status', 'one of pending'],
    ['a status twice', invoiceListQuery, { status: ['issued', 'void'] }, 'status', 'one of issued'],
    ['a day for a time', projectListQuery, { created_after: '2026-03-02' }, 'created_after', 'RFC 3339'],
    ['a project id of another kind', paymentListQuery, { project_id: exampleId('payment') }, 'project_id', 'the id of a project'],
    ['NUL in a client id', projectListQuery, { client_id: '\0' }, 'client_id', 'control characters'],
    ['a negative sequence', eventListQuery, { after_seq: '-1' }, 'after_seq', 'a sequence number'],
    ['an order of its own', eventListQuery, { order: 'newest' }, 'order', 'asc or desc'],
    ['a kind twice', eventListQuery, { event_types: 'payment.released,payment.released' }, 'event_types', 'none of them twice'],
    ['a sequence beyond 2^53', eventListQuery, { after_seq: '9007199254740993' }, 'after_seq', 'a sequence number'],
    ['attempt 0', deliveryAttemptListQuery, { starting_after: '0' }, 'starting_after', 'the number of an attempt'],
    ['metadata by itself', projectListQuery, { metadata: 'x' }, 'metadata', 'metadata[key]=value'],
    ['metadata twice', projectListQuery, { 'metadata[a]': ['x', 'y'] }, 'metadata[a]', 'given once'],
    ['metadata with an empty key', projectListQuery, { 'metadata[]': 'x' }, 'metadata[]', '1 to 40 characters'],
    ['metadata with NUL', projectListQuery, { 'metadata[a]': '\0' }, 'metadata[a]', 'up to 500 characters'],
    [
      '51 metadata filters',
      projectListQuery,
      Object.fromEntries(Object.keys(keys(51, 5)).map((key) => [`metadata[${key}]`, 'x'])),
      'metadata',
      'up to 50 keys',
    ],
  ];
  test.each(refused)('%s is refused, once, with what would be right', (_name, schema, query, path, message) => {
    const issues = issuesOf(schema, query);
    expect(issues).toHaveLength(1);
    expect(issues[0]?.startsWith(`${path}: `)).toBe(true);
    expect(issues[0]).toContain(message);
  });

  test.each([
    projectListQuery,
    milestoneListQuery,
    paymentListQuery,
    invoiceListQuery,
    eventListQuery,
    deliveryListQuery,
    deliveryAttemptListQuery,
  ])('an unknown parameter is refused by name', (schema: z.ZodType) => {
    expect(schema.safeParse({ page: '2' }).error?.issues).toMatchObject([{ code: 'unrecognized_keys', keys: ['page'] }]);
  });

  test('metadata filters are gathered by key, whatever the key is called', () => {
    const query = Object.fromEntries([
      ['metadata[order]', 'A-1'],
      ['metadata[__proto__]', 'x'],
      ['metadata[a]b]', 'y'],
      ['limit', '3'],
    ]);
    const parsed = projectListQuery.parse(query);
    expect(Object.entries(parsed.metadata ?? {})).toEqual([
      ['order', 'A-1'],
      ['__proto__', 'x'],
      ['a]b', 'y'],
    ]);
    expect(parsed).not.toHaveProperty('metadata[order]');
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});

/** `count` keys of `length` characters. */
function keys(count: number, length: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [String(i).padStart(length, 'k'), 'v']));
}
