// The fast serializer against JSON.stringify: the same text for what a schema names, and nothing for what it does not.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { People } from './people.ts';
import type { Reads } from './reads.ts';
import { allRoutes } from './routes/all.ts';
import { serializerOf } from './serialize.ts';
import type { Writes } from './writes.ts';

const named = z.enum(['a', 'b']).meta({ id: 'SerializedEnum' });
const inner = z.object({ note: z.string().nullable(), links: z.array(z.string()) }).meta({ id: 'SerializedInner' });
const everything = z.object({
  id: z.string(),
  object: z.literal('thing'),
  kept: z.string().meta({ pattern: '^prj_[0-7][0-9a-hjkmnp-tv-z]{25}$' }),
  shaped: z.string().meta({ pattern: '^.{1,20}$' }),
  quoted: z.enum(['say "a"', 'b\\c']),
  count: z.int(),
  share: z.number(),
  flag: z.boolean(),
  status: named,
  maybe: named.nullable(),
  text: z.string().nullable(),
  at: z.string().nullable().meta({ format: 'date-time' }),
  day: z.iso.date().nullable(),
  inner: inner.nullable(),
  list: z.array(inner),
  metadata: z.record(z.string(), z.string()),
  anything: z.record(z.string(), z.unknown()),
  either: z.union([z.string(), z.object({ a: z.int() })]),
  later: z.string().optional(),
});

const innerValue = fc.record({ note: fc.option(fc.string({ unit: 'binary' })), links: fc.array(fc.string(), { maxLength: 3 }) });
const value = fc.record({
  id: fc.string(),
  object: fc.constant('thing' as const),
  kept: fc.constantFrom('prj_01h455vb4pex5vsknk084sn02q', 'prj_00000000000000000000000000'),
  shaped: fc.string({ minLength: 1, maxLength: 20 }),
  quoted: fc.constantFrom('say "a"' as const, 'b\\c' as const),
  count: fc.maxSafeInteger(),
  share: fc.double({ noNaN: true, noDefaultInfinity: true }).filter((one) => !Object.is(one, -0)),
  flag: fc.boolean(),
  status: fc.constantFrom('a' as const, 'b' as const),
  maybe: fc.option(fc.constantFrom('a' as const, 'b' as const)),
  text: fc.option(fc.string({ unit: 'binary' })),
  at: fc.option(fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31') }).map((date) => date.toISOString())),
  day: fc.option(fc.constant('2026-03-31')),
  inner: fc.option(innerValue),
  list: fc.array(innerValue, { maxLength: 3 }),
  metadata: fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }),
  anything: fc.dictionary(
    fc.string(),
    fc.jsonValue().filter((one) => one !== null),
    { noNullPrototype: true },
  ),
  either: fc.oneof(fc.string(), fc.record({ a: fc.integer() })),
});

describe('the serializer', () => {
  test('writes what JSON.stringify writes, for any value of the schema', () => {
    const serialize = serializerOf(everything);
    fc.assert(
      fc.property(value, (one) => {
        expect(JSON.parse(serialize(one))).toEqual(JSON.parse(JSON.stringify(one)));
      }),
    );
  });

  test('leaves out what the schema does not name, at any depth', () => {
    const serialize = serializerOf(z.object({ a: inner }));
    expect(serialize({ a: { note: null, links: [], secret: 1 }, secret: 2 })).toBe('{"a":{"note":null,"links":[]}}');
  });

  test('refuses a value without a field that must be there: half an answer would be worse', () => {
    expect(() => serializerOf(everything)({ id: 'x' })).toThrow(/required/);
  });

  test('is made once for a schema', () => {
    expect(serializerOf(inner)).toBe(serializerOf(inner));
  });
});

test('the serializer of every route writes its example to the letter', () => {
  for (const { operationId, success } of allRoutes({} as Reads, {} as Writes, {} as People)) {
    if (success.schema === undefined) continue;
    const text = serializerOf(success.schema)(success.example as object);
    expect(JSON.parse(text), operationId).toEqual(success.example);
  }
});
