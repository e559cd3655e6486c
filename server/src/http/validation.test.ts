// Field errors: where, which code, and words that say what would be right.

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { bodyPointer, checkRawBody, MAX_BODY_DEPTH, MAX_FIELD_ERRORS, validate } from './validation.ts';

function errorsOf(schema: z.ZodType, input: unknown, part: 'body' | 'query' = 'body') {
  const outcome = validate(schema, input, part);
  return 'refusal' in outcome ? (outcome.refusal.errors ?? []) : [];
}

describe('a schema that brings no words of its own', () => {
  const cases: [string, z.ZodType, unknown, string, string][] = [
    ['a missing field', z.string(), undefined, 'missing', 'Required: a string.'],
    ['a wrong type', z.boolean(), 1, 'wrong_type', 'Must be true or false.'],
    ['null', z.string(), null, 'wrong_type', 'Must be a string.'],
    ['a fraction', z.int(), 1.5, 'wrong_type', 'Must be an integer.'],
    ['a number out of reach', z.int().max(10), 11, 'too_large', 'Must be at most 10.'],
    ['a number too small', z.int().min(1), 0, 'too_small', 'Must be at least 1.'],
    ['a positive number', z.number().positive(), 0, 'too_small', 'Must be more than 0.'],
    ['a text too short', z.string().min(2), 'a', 'too_short', 'Must have at least 2 characters.'],
    ['a text of an exact length', z.string().length(2), 'abc', 'too_long', 'Must have exactly 2 characters.'],
    ['too many items', z.array(z.any()).max(1), [1, 2], 'too_many', 'Must have at most 1 items.'],
    ['too few items', z.array(z.any()).min(1), [], 'too_few', 'Must have at least 1 items.'],
    ['none of a list', z.enum(['a', 'b']), 'c', 'not_allowed', 'Must be one of "a", "b".'],
    ['a missing one of a list', z.enum(['a', 'b']), undefined, 'missing', 'Required: one of "a", "b".'],
    ['not the only value', z.literal('a'), 'b', 'not_allowed', 'Must be "a".'],
    ['a pattern', z.string().regex(/^x$/), 'y', 'wrong_format', 'Must be of the form /^x$/.'],
    ['a URL', z.url(), 'y', 'wrong_format', 'Must be of the form url.'],
    ['a multiple', z.number().multipleOf(5), 7, 'not_valid', 'Must be a multiple of 5.'],
  ];
  test.each(cases)('%s gets a code and says what is right', (_name, schema, value, code, message) => {
    expect(errorsOf(z.object({ field: schema }), { field: value })).toEqual([{ pointer: '/field', code, message }]);
  });

  test('unknown fields are named one by one', () => {
    expect(errorsOf(z.strictObject({ in: z.strictObject({}) }), { in: { a: 1 }, b: 2 })).toEqual([
      { pointer: '/in/a', code: 'unknown_field', message: 'There is no field "a" here; remove it.' },
      { pointer: '/b', code: 'unknown_field', message: 'There is no field "b" here; remove it.' },
    ]);
    expect(errorsOf(z.strictObject({}), { a: '1' }, 'query')).toEqual([
      { pointer: 'query/a', code: 'unknown_parameter', message: 'There is no query parameter "a" here; remove it.' },
    ]);
  });

  test('a wrong key of a record says why', () => {
    const [error] = errorsOf(z.object({ metadata: z.record(z.string().max(1), z.string()) }), { metadata: { ab: 'x' } });
    expect(error).toEqual({ pointer: '/metadata/ab', code: 'wrong_key', message: 'The key is not valid: Must have at most 1 characters.' });
  });

  test('of several forms the closest one speaks', () => {
    const schema = z.object({ to: z.union([z.string(), z.object({ id: z.string(), kind: z.string() })]) });
    expect(errorsOf(schema, { to: { id: 1, kind: 'a' } })).toMatchObject([{ pointer: '/to/id', code: 'wrong_type' }]);
    expect(errorsOf(schema, { to: 5 })).toMatchObject([{ pointer: '/to', code: 'not_valid' }]);
  });
});

test('words and codes that a schema brings along go first', () => {
  const schema = z.object({
    a: z.string({ error: 'Must be your name.' }),
    b: z.array(z.string()).refine((all) => new Set(all).size === all.length, { error: 'Must not repeat.', params: { code: 'repeated' } }),
  });
  expect(errorsOf(schema, { a: 1, b: ['x', 'x'] })).toEqual([
    { pointer: '/a', code: 'wrong_type', message: 'Must be your name.' },
    { pointer: '/b', code: 'repeated', message: 'Must not repeat.' },
  ]);
});

test('the detail repeats the first error and counts the others', () => {
  const outcome = validate(z.object({ a: z.string(), b: z.string(), c: z.string() }), { a: 1 }, 'body');
  expect('refusal' in outcome && outcome.refusal.detail).toBe('/a: Must be a string. (and 2 more errors)');
});

test('the list of errors is bounded', () => {
  expect(errorsOf(z.strictObject({}), Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, 1])))).toHaveLength(
    MAX_FIELD_ERRORS,
  );
  const texts = Array.from({ length: 500 }, () => '\u0000');
  expect(checkRawBody(texts)?.errors).toHaveLength(MAX_FIELD_ERRORS);
});

test('a pointer escapes what RFC 6901 asks to escape', () => {
  expect(bodyPointer(['a/b', '~', 0, ''])).toBe('/a~1b/~0/0/');
});

describe('the raw walk', () => {
  const nest = (depth: number): unknown => (depth === 0 ? 1 : [nest(depth - 1)]);

  test('lets line breaks and tabs of texts through, and no other control character', () => {
    for (let code = 0; code < 0x100; code++) {
      const forbidden = (code < 0x20 && ![9, 10, 13].includes(code)) || (code >= 0x7f && code <= 0x9f);
      expect(checkRawBody({ a: String.fromCharCode(code) }) !== null, `U+${code.toString(16)}`).toBe(forbidden);
    }
  });

  test('allows whole surrogate pairs and refuses halves', () => {
    expect(checkRawBody(['😀'])).toBeNull();
    expect(checkRawBody(['\ude00\ud83d'])).toMatchObject({ errors: [{ pointer: '/0', code: 'lone_surrogate' }] });
  });

  test('allows nesting up to its bound', () => {
    expect(checkRawBody(nest(MAX_BODY_DEPTH))).toBeNull();
    expect(checkRawBody(nest(MAX_BODY_DEPTH + 1))).toMatchObject({ errors: [{ code: 'too_deep' }] });
  });

  test('refuses keys that poison prototypes, and leaves a harmless "constructor" alone', () => {
    expect(checkRawBody(JSON.parse('{"a":[{"__proto__":1}]}'))).toMatchObject({
      code: 'malformed_json',
      detail: 'The body holds a forbidden key at /a/0/__proto__.',
    });
    expect(checkRawBody({ constructor: { prototype: {} } })).toMatchObject({ code: 'malformed_json' });
    expect(checkRawBody({ constructor: 'Bau GmbH' })).toBeNull();
  });
});
