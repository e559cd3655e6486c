// What is promised of a query's road through this process: its rows leave the memory with it, and no answer is waited for without end.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ask, limitAnswers } from '../src/store/ask.ts';
import { emptyPostgresDatabase, testDatabases } from './support/databases.ts';

const available = testDatabases.some(({ name, available }) => name === 'PostgreSQL' && available);
const leftBehind = fileURLToPath(new URL('support/left-behind.ts', import.meta.url));

describe.skipIf(!available)('a query on a connection to PostgreSQL', () => {
  let url: string;
  let client: pg.Client;
  beforeEach(async () => {
    url = await emptyPostgresDatabase();
    client = new pg.Client({ connectionString: url, pipeline: true });
    await client.connect();
  });
  afterEach(() => client.end().catch(() => undefined));

  test.each([
    ['without a limit', []],
    ['with a limit for its answer', ['30000']],
  ])('leaves nothing behind for the full collections, %s', async (_, limit) => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', leftBehind, url, ...limit]);
    // By pg's own promise, or by its own limit, it is all of it.
    expect(Number(stdout)).toBeLessThan(0.1);
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
