// What is promised of a query's road through this process: its rows leave the memory with it, and no answer is waited for without end.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ask, limitAnswers } from '../src/store/ask.ts';
import { DatabaseUnavailable } from '../src/store/database.ts';
import { openPostgres } from '../src/store/postgres.ts';
import { emptyPostgresDatabase, testDatabases } from './support/databases.ts';

const available = testDatabases.some(({ name, available }) => name === 'PostgreSQL' && available);
const leftBehind = fileURLToPath(new URL('support/left-behind.ts', import.meta.url));

let url: string;

/** Of the rows of many queries, by a process of its own: 0 where all are gone with the young. */
async function shareLeftBehind(how: string): Promise<number> {
  return Number((await promisify(execFile)(process.execPath, ['--expose-gc', leftBehind, url, how])).stdout);
}

describe.skipIf(!available)('a query on a connection to PostgreSQL', () => {
  let client: pg.Client;
  beforeAll(async () => {
    url = await emptyPostgresDatabase();
  });
  beforeEach(async () => {
    client = new pg.Client({ connectionString: url, pipeline: true });
    await client.connect();
  });
  afterEach(() => client.end().catch(() => undefined));

  test.each([
    ['without a limit', 'unlimited'],
    ['with a limit for its answer', 'limited'],
  ])('leaves nothing behind for the full collections, %s', async (_, how) => {
    expect(await shareLeftBehind(how)).toBeLessThan(0.1);
  });

  // Were this to fail, `ask` would have lost one of its two reasons, or the measurement would see nothing.
  test('leaves all of it behind by the promise of pg', async () => {
    expect(await shareLeftBehind('pg')).toBeGreaterThan(0.5);
  });

  test('waits for its answer no longer than the pool is told, and the pool goes on', async () => {
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const database = await openPostgres({ url, preparedStatements: true, poolSize: 1, answerTimeoutMs: 300, log });
    try {
      await expect(database.query('select pg_sleep(20)')).rejects.toBeInstanceOf(DatabaseUnavailable);
      expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
    } finally {
      await database.close();
    }
  });

  test('that is not answered in time fails, and its connection ends', async () => {
    limitAnswers(client, 100);
    const ended = once(client, 'error');
    await expect(ask(client, 'select pg_sleep(20)')).rejects.toThrow('no answer came within 100 ms');
    await ended;
    await expect(ask(client, 'select 1')).rejects.toThrow();
  });

  test('that fails says why, and the connection goes on', async () => {
    await expect(ask(client, 'select 1 / 0')).rejects.toThrow('division by zero');
    expect(await ask(client, 'select 1 as one')).toMatchObject({ rows: [{ one: 1 }] });
  });

  test('of several statements returns the results of all', async () => {
    expect(await ask(client, 'select 1 as one; select 2 as two')).toMatchObject([{ rows: [{ one: 1 }] }, { rows: [{ two: 2 }] }]);
  });
});
