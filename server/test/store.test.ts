// What the port to the database promises, kept by both adapters: one suite, run on the embedded database and on a PostgreSQL server.
// What only one of them can suffer is in store-postgres.test.ts and store-embedded.test.ts, what the schema promises in store-schema.test.ts.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, DatabaseError, type Queryable } from '../src/store/database.ts';
import { defineTable, insertRows, type JsonColumns } from '../src/store/tables.ts';
import { type OpenDatabase, pooledDatabase, testDatabases } from './support/databases.ts';
import { addWorkspace, sqlstateOf } from './support/store-rows.ts';

const now = new Date('2026-01-31T12:34:56.789Z');

interface EveryType {
  readonly uuid: string | null;
  readonly text: string | null;
  readonly big: bigint | null;
  readonly count: number | null;
  readonly whole: number | null;
  readonly small: number | null;
  readonly yes: boolean | null;
  readonly time: Date | null;
  readonly day: string | null;
  readonly json: unknown;
  readonly bytes: Buffer | null;
  readonly texts: string[] | null;
}

const countWorkspaces = async (database: Queryable, name: string): Promise<bigint | undefined> =>
  (await database.query<{ n: bigint }>('select count(*) as n from workspaces where name = $1', [name]))[0]?.n;

for (const kind of [...testDatabases, pooledDatabase]) {
  describe.skipIf(!kind.available)(`the store on the ${kind.name} database`, () => {
    let opened: OpenDatabase;
    let database: Database;
    beforeAll(async () => {
      opened = await kind.open();
      database = opened.database;
    });
    afterAll(() => opened.close());

    describe('values', () => {
      test('every type comes back as the port says', async () => {
        const id = '0190163d-8694-739b-aea5-966c26f8ad91';
        const rows = await database.query<Record<string, unknown>>(
          "select 9007199254740993::int8 as big, 7::int4 as small, 7::int2 as tiny, $1::timestamptz(3) as time, '2026-02-28'::date as day, " +
            `'{"a": [1, null]}'::jsonb as json, $2::bytea as bytes, $3::uuid as id, true as yes, null::text as nothing, ` +
            "'12.50'::numeric as exact, 1.5::float8 as float, count(*) as n",
          [now, Buffer.from([0, 255, 10]), id.toUpperCase()],
        );
        expect(rows).toEqual([
          {
            ...{ big: 9_007_199_254_740_993n, small: 7, tiny: 7, time: now, day: '2026-02-28', json: { a: [1, null] } },
            ...{ bytes: Buffer.from([0, 255, 10]), id, yes: true, nothing: null, exact: '12.50', float: 1.5, n: 1n },
          },
        ]);
        expect(Buffer.isBuffer(rows[0]?.bytes)).toBe(true);
      });

      test('arrays go out and come back, with quotes, backslashes, commas, braces and nulls', async () => {
        const ids = [randomUUID(), randomUUID()];
        const texts = ['plain', 'with "quotes"', 'back\\slash', 'a,b{c}', '', 'NULL', ' ', null, 'ünïcödé 🙂'];
        const rows = await database.query(
          'select $1::uuid[] as ids, $2::text[] as texts, $3::bigint[] as bigs, $4::date[] as days, $5::timestamptz[] as times, $6::bytea[] as bytes',
          [ids, texts, [1n, -(2n ** 62n), null], ['2026-01-01'], [now], [Buffer.from('a"\\')]],
        );
        expect(rows).toEqual([
          { ids, texts, bigs: [1n, -(2n ** 62n), null], days: ['2026-01-01'], times: [now], bytes: [Buffer.from('a"\\')] },
        ]);
        expect(await database.query('select $1::text[] as none', [[]])).toEqual([{ none: [] }]);
      });

      test('times keep every millisecond, before the epoch and with finer fractions too', async () => {
        const times = ['1969-12-31 23:59:59.999+00', '2000-02-29 00:00:00+00', '2026-07-01 10:20:30.1+00', '2026-07-01 10:20:30.057123+00'];
        const rows = await database.query<{ time: Date }>('select t::timestamptz as time from unnest($1::text[]) t', [times]);
        expect(rows.map((row) => row.time.toISOString())).toEqual([
          '1969-12-31T23:59:59.999Z',
          '2000-02-29T00:00:00.000Z',
          '2026-07-01T10:20:30.100Z',
          '2026-07-01T10:20:30.057Z',
        ]);
      });

      test('objects go in as JSON and undefined as null', async () => {
        const rows = await database.query('select $1::jsonb as json, $2::text as nothing', [{ a: { b: 'c"' } }, undefined]);
        expect(rows).toEqual([{ json: { a: { b: 'c"' } }, nothing: null }]);
      });

      test('a row of every type is the same read as columns and as JSON', async () => {
        const table = defineTable<EveryType>('every_type', {
          uuid: { column: 'uuid', type: 'uuid' },
          text: { column: 'text', type: 'text' },
          big: { column: 'big', type: 'bigint' },
          count: { column: 'count', type: 'bigint', read: Number },
          whole: { column: 'whole', type: 'integer' },
          small: { column: 'small', type: 'smallint' },
          yes: { column: 'yes', type: 'boolean' },
          time: { column: 'time', type: 'timestamptz(3)' },
          day: { column: 'day', type: 'date' },
          json: { column: 'json', type: 'jsonb' },
          bytes: { column: 'bytes', type: 'bytea' },
          texts: { column: 'texts', type: 'text[]' },
        });
        const nothing = { uuid: null, text: null, big: null, count: null, whole: null, small: null, yes: null, time: null };
        const rows: EveryType[] = [
          {
            ...{
              uuid: randomUUID(),
              text: 'a "b" \\ \n\t\u001f ünïcödé 🙂',
              big: 9_007_199_254_740_993n,
              count: 7,
              whole: -(2 ** 31),
              small: 7,
            },
            ...{ yes: false, time: now, day: '2026-02-28', json: { a: [1.5, null, 'ä"'], b: 1e300 }, bytes: Buffer.from([0, 255, 10]) },
            texts: ['', 'NULL', 'a,b{c}"\\'],
          },
          { ...nothing, day: null, json: null, bytes: null, texts: [] },
          {
            ...nothing,
            text: '',
            big: -(2n ** 63n),
            time: new Date('1969-12-31T23:59:59.999Z'),
            day: '0099-01-01',
            json: 'ä',
            bytes: Buffer.alloc(0),
            texts: null,
          },
        ];
        await database.query(
          'create table every_type (uuid uuid, text text, big bigint, count bigint, whole integer, small smallint, yes boolean, ' +
            'time timestamptz(3), day date, json jsonb, bytes bytea, texts text[], place serial)',
        );
        await insertRows(database, table, rows);
        const asColumns = await database.query<Record<string, unknown>>(`select ${table.select('t')} from every_type t order by place`);
        expect(asColumns.map(table.fromRow)).toEqual(rows);
        const asJson = await database.query<{ columns: JsonColumns }>(
          `select json_build_array(${table.json?.select('t')}) as columns from (select * from every_type order by place) t`,
        );
        const { columns } = asJson[0] as { columns: JsonColumns };
        expect(rows.map((_, row) => table.json?.fromColumns(columns, row))).toEqual(rows);
      });

      test('a parameter and an answer of several megabytes pass whole', async () => {
        const text = 'ä'.repeat(3_000_000);
        const rows = await database.query<{ text: string }>('select $1::text as text', [text]);
        expect(rows[0]?.text === text).toBe(true);
      });
    });

    describe('transactions', () => {
      test('what a transaction wrote is there after it returned', async () => {
        const result = await database.transaction(async (transaction) => {
          await addWorkspace(transaction, 'kept');
          return 'done';
        });
        expect(result).toBe('done');
        expect(await countWorkspaces(database, 'kept')).toBe(1n);
      });

      test('when the work throws, nothing of it stays and the same error comes out', async () => {
        const error = new Error('changed my mind');
        const work = database.transaction(async (transaction) => {
          await addWorkspace(transaction, 'rolled back');
          throw error;
        });
        await expect(work).rejects.toBe(error);
        expect(await countWorkspaces(database, 'rolled back')).toBe(0n);
      });

      test('when a statement fails, nothing of the transaction stays (I-2)', async () => {
        const work = database.transaction(async (transaction) => {
          await addWorkspace(transaction, 'failed');
          await transaction.query('select 1 / 0');
        });
        expect(await sqlstateOf(work)).toBe('22012');
        expect(await countWorkspaces(database, 'failed')).toBe(0n);
      });

      test('a failure that the work swallows is not reported as a commit', async () => {
        const work = database.transaction(async (transaction) => {
          await addWorkspace(transaction, 'swallowed');
          await transaction.query('select 1 / 0').catch(() => undefined);
          return 'all is well';
        });
        expect(await sqlstateOf(work)).toBe('22012');
        expect(await countWorkspaces(database, 'swallowed')).toBe(0n);
      });

      test('a statement that was not awaited belongs to the transaction, and its failure fails it', async () => {
        await database.transaction(async (transaction) => {
          void addWorkspace(transaction, 'not awaited');
        });
        expect(await countWorkspaces(database, 'not awaited')).toBe(1n);
        // Many times, since the failure and the answer to COMMIT may or may not arrive in one packet.
        for (let i = 0; i < 50; i++) {
          const failing = database.transaction(async (transaction) => {
            void addWorkspace(transaction, 'not awaited either').catch(() => undefined);
            void transaction.query('select 1 / 0').catch(() => undefined);
          });
          expect(await sqlstateOf(failing)).toBe('22012');
        }
        expect(await countWorkspaces(database, 'not awaited either')).toBe(0n);
      });

      test('statements sent together run in the order sent, and the first failure is the one reported', async () => {
        const order = await database.transaction(async (transaction) => {
          await transaction.query('create temporary table sent (position serial, name text) on commit drop');
          await Promise.all(['a', 'b', 'c', 'd'].map((name) => transaction.query('insert into sent (name) values ($1)', [name])));
          return transaction.query<{ name: string }>('select name from sent order by position');
        });
        expect(order.map((row) => row.name)).toEqual(['a', 'b', 'c', 'd']);
        const work = database.transaction((transaction) =>
          Promise.all([transaction.query('select 1'), transaction.query("select 'x'::int4"), transaction.query('select 1 / 0')]),
        );
        expect(await sqlstateOf(work)).toBe('22P02');
      });

      test('a statement after the end of the transaction is refused and does nothing', async () => {
        let late: Queryable | undefined;
        await database.transaction(async (transaction) => {
          late = transaction;
        });
        await expect(addWorkspace(late as Queryable, 'late')).rejects.toThrow('transaction is over');
        expect(await countWorkspaces(database, 'late')).toBe(0n);
      });

      test('a query outside never joins a transaction that is open', async () => {
        let outside: Promise<unknown> | undefined;
        const work = database.transaction(async (transaction) => {
          await addWorkspace(transaction, 'inside');
          // Not awaited: on the embedded database it must wait until the transaction is over.
          outside = addWorkspace(database, 'outside');
          await transaction.query('select 1');
          throw new Error('roll back');
        });
        await expect(work).rejects.toThrow('roll back');
        await outside;
        expect(await countWorkspaces(database, 'inside')).toBe(0n);
        expect(await countWorkspaces(database, 'outside')).toBe(1n);
      });

      test('many transactions and queries at once each keep to themselves', async () => {
        const runs = Array.from({ length: 60 }, async (_, index) => {
          if (index % 3 === 0) return database.query('select 1');
          const work = database.transaction(async (transaction) => {
            await Promise.all([addWorkspace(transaction, `many ${index % 3}`), addWorkspace(transaction, `many ${index % 3}`)]);
            if (index % 3 === 2) throw new Error('no');
          });
          return work.catch(() => undefined);
        });
        await Promise.all(runs);
        expect([await countWorkspaces(database, 'many 1'), await countWorkspaces(database, 'many 2')]).toEqual([40n, 0n]);
      });

      test('a transaction is READ COMMITTED', async () => {
        const rows = await database.transaction((transaction) =>
          transaction.query("select current_setting('transaction_isolation') as level"),
        );
        expect(rows).toEqual([{ level: 'read committed' }]);
      });

      test('after a failure the database serves on', async () => {
        for (let i = 0; i < 12; i++) await expect(database.query('select no_such_column')).rejects.toThrow('no_such_column');
        expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
      });
    });

    describe('errors', () => {
      test.each([
        ['a value that does not fit', "select 'x'::int4", '22P02', true, false],
        ['a NUL in a text', '\0', '22021', true, false],
        ['a duplicate key', 'duplicate', '23505', true, false],
        ['a syntax error', 'selct', '42601', false, false],
        ['a serialization failure', "do $$ begin raise exception 'again' using errcode = '40001'; end $$", '40001', false, true],
      ])('%s is known by its SQLSTATE', async (_name, text, sqlstate, isData, isRetryable) => {
        const work = async (): Promise<unknown> => {
          if (text === '\0') return database.query('select $1::text', ['a\0b']);
          if (text !== 'duplicate') return database.query(text);
          const id = await addWorkspace(database);
          return database.query("insert into workspaces (id, name, created_at) values ($1, 'again', now())", [id]);
        };
        const error = await work().catch((caught: unknown) => caught);
        expect(error).toBeInstanceOf(DatabaseError);
        expect(error).toMatchObject({ sqlstate, isData, isRetryable });
      });
    });

    describe('plans', () => {
      /** How PostgreSQL would rather have it: a plan for each limit. */
      const page = 'select n from generate_series(1, 1000) n where n > $1::integer limit $2::integer';
      const counts = async () =>
        (await database.query('select generic_plans, custom_plans from pg_prepared_statements where statement = $1', [page]))[0];

      if (kind === pooledDatabase)
        test('are no setting of sessions that belong to the pooler', async () => {
          await database.shared.query(page, [0, 2]);
          expect(await database.query("select current_setting('plan_cache_mode') as mode")).toEqual([{ mode: 'auto' }]);
        });
      else
        test('of what is shared are kept from the first time on, and of all else are chosen by PostgreSQL', async () => {
          for (let i = 0; i < 7; i++) expect(await database.shared.query(page, [i, 2])).toEqual([{ n: i + 1 }, { n: i + 2 }]);
          expect(await counts()).toEqual({ generic_plans: 7n, custom_plans: 0n });
          for (let i = 0; i < 3; i++) await database.query(page, [i, 2]);
          expect(await counts()).toEqual({ generic_plans: 7n, custom_plans: 3n });
          await database.shared.query(page, [0, 2]);
          expect(await counts()).toEqual({ generic_plans: 8n, custom_plans: 3n });
        });
    });

    describe('notifications', () => {
      test('who listens is told of each notification on its channel until it stops', async () => {
        const heard: string[] = [];
        const hear = Promise.withResolvers<void>();
        const end = Promise.withResolvers<void>();
        const stopFirst = await database.listen('first', (payload) => {
          heard.push(`first ${payload}`);
          hear.resolve();
        });
        const stopSecond = await database.listen('second', (payload) => {
          heard.push(`second ${payload}`);
          end.resolve();
        });
        expect(database.isListening()).toBe(true);
        await database.notify('first', 'a "quoted" payload');
        await hear.promise;
        await stopFirst();
        await database.notify('first', 'too late');
        await database.notify('unheard', 'x');
        await database.notify('second', 'end');
        await end.promise;
        await stopSecond();
        expect(heard).toEqual(['first a "quoted" payload', 'second end']);
      });
    });
  });
}
