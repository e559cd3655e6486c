// The binary arrays: that what is sent as a column comes back from both databases as it was, value by value.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { onEachDatabase } from '../../test/support/webhook-fixtures.ts';
import { type ColumnType, encodeColumn, sentAs } from './column-encoding.ts';

const LARGEST = 2n ** 63n - 1n;
/** What a database takes: no NUL, no half of a pair. Short and long ones, since they are written in two ways. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }).filter((value) => !value.includes('\0')),
  fc.string({ unit: 'binary-ascii', maxLength: 90 }).filter((value) => !value.includes('\0')),
);

const samples: { readonly [Type in ColumnType]: fc.Arbitrary<unknown> } = {
  uuid: fc.uuid(),
  text,
  bigint: fc.oneof(fc.bigInt({ min: -LARGEST - 1n, max: LARGEST }), fc.maxSafeInteger().map(BigInt)),
  integer: fc.integer(),
  smallint: fc.integer({ min: -32_768, max: 32_767 }),
  boolean: fc.boolean(),
  'timestamptz(3)': fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }),
  date: fc.constantFrom('2026-02-28', '1970-01-01', '9999-12-31'),
  jsonb: fc.dictionary(text, fc.oneof(text, fc.integer(), fc.constant(null)), { maxKeys: 4 }),
  bytea: fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes)),
  'text[]': fc.array(text, { maxLength: 4 }),
};

onEachDatabase('columns', (database) => {
  test.each(Object.keys(samples) as ColumnType[])('of %s arrive as they were sent, nulls and repetitions among them', async (type) => {
    const cast = type === 'timestamptz(3)' ? sentAs(type) : type;
    const statement = `select u.value::${cast} as value from unnest($1::${sentAs(type)}[]) with ordinality as u(value, place) order by u.place`;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.option(samples[type]), fc.integer({ min: 1, max: 3 })), { maxLength: 12 }), async (runs) => {
        const values = runs.flatMap(([value, times]) => Array.from({ length: times }, () => value));
        const rows = await database().query<{ value: unknown }>(statement, [encodeColumn(type, values)]);
        expect(rows.map((row) => row.value)).toEqual(values);
      }),
      { numRuns: 40 },
    );
  });
});
