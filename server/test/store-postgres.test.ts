// What only a PostgreSQL server can suffer: cut connections, lost answers to COMMIT, restarts, poolers. The truth must come out of each.
// Nothing here sleeps; each test waits for the condition it needs.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { CommitUnknown, type Database, DatabaseUnavailable, type Queryable, TransactionAborted } from '../src/store/database.ts';
import type { Log } from '../src/store/log.ts';
import { openDatabase } from '../src/store/open.ts';
import { openPostgres } from '../src/store/postgres.ts';
import { emptyPostgresDatabase, type PostgresServer, startPostgres, testDatabases } from './support/databases.ts';
import { type Fault, openProxy, type TcpProxy } from './support/tcp-proxy.ts';

const log: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const available = testDatabases.some(({ name, available }) => name === 'PostgreSQL' && available);

function throughPort(url: string, port: number): string {
  const result = new URL(url);
  result.port = String(port);
  return result.href;
}

const mark = (database: Database, name: string): Promise<void> =>
  database.transaction(async (transaction) => {
    await transaction.query('insert into marks values ($1)', [name]);
  });

async function hasMark(database: Database, name: string): Promise<boolean> {
  return (await database.query('select from marks where name = $1', [name])).length === 1;
}

const until = <T>(condition: () => T | Promise<T>): Promise<T> => vi.waitFor(condition, { timeout: 20_000, interval: 20 });

/** An own pool on the run's server, with a table of its own. */
async function openMarked(
  url: string,
  options: { directUrl?: string; preparedStatements?: boolean; poolSize?: number } = {},
): Promise<Database> {
  const { directUrl, preparedStatements = true, poolSize = 2 } = options;
  const database = await openPostgres({ url, directUrl, preparedStatements, poolSize, log });
  await database.query('create table if not exists marks (name text primary key)');
  return database;
}

describe.skipIf(!available)('a connection to PostgreSQL that is cut at COMMIT', () => {
  let proxy: TcpProxy;
  let database: Database;
  beforeAll(async () => {
    const url = await emptyPostgresDatabase();
    proxy = await openProxy(Number(new URL(url).port));
    database = await openMarked(throughPort(url, proxy.port), { directUrl: url });
  });
  afterAll(async () => {
    await database.close();
    await proxy.close();
  });

  test('after COMMIT reached the server: the transaction returns as if nothing had happened', async () => {
    const cut = proxy.cutNextCommit('after commit');
    await mark(database, 'reached');
    await cut;
    expect(await hasMark(database, 'reached')).toBe(true);
  });

  test.each<Fault>(['before commit', 'before commit, unnoticed'])('%s: the transaction is known to be aborted', async (fault) => {
    const cut = proxy.cutNextCommit(fault);
    await expect(mark(database, fault)).rejects.toThrow(TransactionAborted);
    await cut;
    expect(await hasMark(database, fault)).toBe(false);
    await mark(database, fault);
    expect(await hasMark(database, fault)).toBe(true);
    // A server that did not notice the cut would end the session by itself after ten seconds; the answer must not wait for that.
  }, 8_000);

  test('before COMMIT was sent: unavailable, and nothing stays', async () => {
    const work = database.transaction(async (transaction) => {
      await transaction.query("insert into marks values ('cut early')");
      proxy.cutAll();
      await transaction.query('select 1');
    });
    await expect(work).rejects.toThrow(DatabaseUnavailable);
    const lateWork = database.transaction(async (transaction) => {
      await transaction.query("insert into marks values ('cut early')");
      proxy.cutAll();
      await until(async () => expect(await transaction.query('select 1').catch(() => 'cut')).toBe('cut'));
    });
    await expect(lateWork).rejects.toThrow(DatabaseUnavailable);
    expect(await hasMark(database, 'cut early')).toBe(false);
  });

  test('an idle connection that is cut disturbs nobody', async () => {
    await Promise.all([database.query('select 1'), database.query('select 2')]);
    proxy.cutAll();
    await until(() => database.query('select 1'));
  });
});

describe.skipIf(!available)('a PostgreSQL server that stops', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  test.each(['fast', 'immediate'] as const)('queries fail as unavailable while it is stopped (%s), and work again after', async (mode) => {
    const database = await openMarked(server.url);
    await Promise.all([database.query('select 1'), database.query('select 1')]);
    const running = database.query('select pg_sleep(60)');
    const stopped = Promise.withResolvers<void>();
    const open = database.transaction(async (transaction) => {
      await transaction.query('select 1');
      // Until the server is gone, and not only the other connection: in between this one could still commit, and truly.
      await stopped.promise;
      await transaction.query('select 1');
    });
    const ends = Promise.all([expect(running).rejects.toThrow(DatabaseUnavailable), expect(open).rejects.toThrow(DatabaseUnavailable)]);
    await server.stop(mode);
    stopped.resolve();
    await ends;
    await expect(database.query('select 1')).rejects.toThrow(DatabaseUnavailable);
    await expect(mark(database, 'stopped')).rejects.toThrow(DatabaseUnavailable);
    await server.start();
    expect(await hasMark(database, 'stopped')).toBe(false);
    await database.close();
  });

  test('listening survives a restart, and says meanwhile that nothing is heard', async () => {
    const database = await openMarked(server.url);
    const heard: string[] = [];
    await database.listen('news', (payload) => heard.push(payload));
    await server.stop('fast');
    await until(() => expect(database.isListening()).toBe(false));
    const stopLater = await database.listen('later', (payload) => heard.push(payload));
    await server.start();
    await until(() => expect(database.isListening()).toBe(true));
    await database.notify('news', 'first');
    await database.notify('later', 'second');
    await until(() => expect(heard).toEqual(['first', 'second']));
    await stopLater();
    await database.close();
    expect(database.isListening()).toBe(false);
  });

  test('a commit that was unanswered when the server crashed is not claimed: its id may be given out again', async () => {
    const proxy = await openProxy(Number(new URL(server.url).port));
    const database = await openMarked(throughPort(server.url, proxy.port), { directUrl: server.url });
    const withheld = proxy.cutNextCommit('answer withheld');
    const outcome = mark(database, 'crash').catch((error: unknown) => error);
    await withheld;
    await server.kill9();
    await server.start();
    expect(await outcome).toBeInstanceOf(CommitUnknown);
    expect(await hasMark(database, 'crash')).toBe(true);
    await database.close();
    await proxy.close();
  });

  test('a server that restarts in the middle of the question is asked again', async () => {
    const proxy = await openProxy(Number(new URL(server.url).port));
    const database = await openMarked(throughPort(server.url, proxy.port), { directUrl: server.url });
    const cut = proxy.cutNextCommit('after commit');
    const name = randomUUID();
    const outcome = mark(database, name);
    await cut;
    // A clean restart keeps the counter of ids, so the answer can be trusted.
    await server.stop('fast');
    await server.start();
    await outcome;
    expect(await hasMark(database, name)).toBe(true);
    await database.close();
    await proxy.close();
  });
});

describe.skipIf(!available)('settings of a PostgreSQL connection', () => {
  const settings = async (database: Database): Promise<unknown> => {
    const names = ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout', 'TimeZone', 'DateStyle'];
    return database.transaction(async (transaction) => {
      const rows = await transaction.query<{ value: string }>('select current_setting(name) as value from unnest($1::text[]) name', [
        names,
      ]);
      return rows.map((row) => row.value);
    });
  };

  test('time limits hold in every transaction, with prepared statements and, for poolers, without', async () => {
    for (const preparedStatements of [true, false]) {
      const database = await openMarked(await emptyPostgresDatabase(), { preparedStatements, poolSize: 1 });
      expect(await settings(database)).toEqual(['5s', '15s', '10s', 'UTC', expect.stringMatching(/^ISO/)]);
      const prepared = await database.query<{ n: bigint }>('select count(*) as n from pg_prepared_statements');
      expect(prepared[0]?.n === 0n).toBe(!preparedStatements);
      await database.close();
    }
  });

  test('a transaction keeps its plans where statements are prepared, and nothing outside it does', async () => {
    for (const preparedStatements of [true, false]) {
      const database = await openMarked(await emptyPostgresDatabase(), { preparedStatements, poolSize: 1 });
      const mode = async (queryable: Queryable): Promise<unknown> => (await queryable.query('show plan_cache_mode'))[0];
      const inside = await database.transaction(mode);
      expect(inside).toEqual({ plan_cache_mode: preparedStatements ? 'force_generic_plan' : 'auto' });
      expect(await mode(database)).toEqual({ plan_cache_mode: 'auto' });
      await database.close();
    }
  });

  test('a changed table does not break statements that were prepared before', async () => {
    const database = await openMarked(await emptyPostgresDatabase(), { poolSize: 1 });
    await database.query('select * from marks');
    await database.query('alter table marks add column extra int');
    await database.query('select * from marks').catch(() => undefined);
    expect(await database.query('select * from marks')).toEqual([]);
    await database.close();
  });

  test('a migration that the database ends because of a deadlock is begun again', async () => {
    const database = await openMarked(await emptyPostgresDatabase(), { poolSize: 3 });
    await database.query('create table others (id int)');
    const lock = (table: string): string => `lock table ${table} in access exclusive mode`;
    const migration = { name: '9010_made', sql: `${lock('marks')}; ${lock('others')}; create table made (id int)` };
    let migrated: Promise<string[]> | undefined;
    await database.transaction(async (transaction) => {
      // The database looks for deadlocks when somebody has waited for so long, and ends who looked: here it is the migration.
      await transaction.query(`set local deadlock_timeout = '4s'`);
      await transaction.query(lock('others'));
      migrated = database.migrate([migration]);
      const waiting = `select from pg_locks where not granted and relation = 'others'::regclass`;
      await until(async () => expect(await database.query(waiting)).toHaveLength(1));
      await transaction.query(lock('marks'));
    });
    expect(await migrated).toEqual(['9010_made']);
    expect(await database.query('select from made')).toEqual([]);
    await database.close();
  });

  test('transactions beyond the size of the pool wait for their turn', async () => {
    const database = await openMarked(await emptyPostgresDatabase(), { poolSize: 2 });
    await Promise.all(Array.from({ length: 20 }, (_, index) => mark(database, `turn ${index}`)));
    expect(await database.query('select count(*)::int4 as n from marks')).toEqual([{ n: 20 }]);
    await database.close();
  });
});

describe('opening a database that is not there', () => {
  test('says that it cannot be reached', async () => {
    const config = { databaseUrl: 'postgres://nobody@127.0.0.1:1/none', preparedStatements: true, dataDir: '/nonexistent' };
    await expect(openDatabase(config, log)).rejects.toThrow(DatabaseUnavailable);
  });
});
