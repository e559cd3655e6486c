// What is promised of a statement's road through this process: it is answered as pg itself would answer it, whatever the network makes of the
// bytes; its rows leave the memory with it; and no answer is waited for without end.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { ask, endConnection, isAtRest, limitAnswers } from '../src/store/conversation.ts';
import { type Database, DatabaseUnavailable } from '../src/store/database.ts';
import { openPostgres } from '../src/store/postgres.ts';
import { valueTypes } from '../src/store/values.ts';
import { selfSigned } from './support/certificates.ts';
import { emptyPostgresDatabase, startPostgres, testDatabases } from './support/databases.ts';

const available = testDatabases.some(({ name, available }) => name === 'PostgreSQL' && available);
const leftBehind = fileURLToPath(new URL('support/left-behind.ts', import.meta.url));

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

let url: string;

/** No full collection comes by itself: it would take what is to be found. */
const withoutFullCollections = ['--expose-gc', '--no-incremental-marking', '--initial-old-space-size=256'];

/** Of the rows of many queries, by a process of its own: 0 where all are gone with the young. */
async function shareLeftBehind(how: string): Promise<number> {
  return Number((await promisify(execFile)(process.execPath, [...withoutFullCollections, leftBehind, url, how])).stdout);
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
    const database = await openPostgres({ url, preparedStatements: true, poolSize: 1, answerTimeoutMs: 300, log: quiet });
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
    await expect(ask(client, { text: 'select pg_sleep(20)' })).rejects.toThrow('no answer came within 100 ms');
    await ended;
    await expect(ask(client, { text: 'select 1' })).rejects.toThrow();
  });

  test('may take its time as long as each of its like does', async () => {
    limitAnswers(client, 1_000);
    const answers = Array.from({ length: 6 }, (_, i) => wait(i * 225).then(() => ask(client, { text: 'select pg_sleep(0.25)' })));
    expect(await Promise.all(answers)).toHaveLength(6);
  });

  test('that was answered while this process did something else is not late', async () => {
    limitAnswers(client, 100);
    const answer = ask(client, { text: 'select 1 as one' });
    await nextTurn(); // It has left.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    expect(await answer).toMatchObject({ rows: [{ one: 1 }] });
  });

  test('that fails says why, and the connection goes on', async () => {
    await expect(ask(client, { text: 'select 1 / 0' })).rejects.toThrow('division by zero');
    expect(await ask(client, { text: 'select 1 as one' })).toMatchObject({ rows: [{ one: 1 }] });
  });

  test('of several statements returns the rows of the last', async () => {
    expect(await ask(client, { text: 'select 1 as one; select 2 as two' })).toEqual({ rows: [{ two: 2 }], command: 'SELECT' });
    expect(await ask(client, { text: 'select 1 as one; set jit = off' })).toEqual({ rows: [], command: 'SET' });
    expect(await ask(client, { text: '' })).toMatchObject({ rows: [] });
  });

  test('says what was carried out, and whether a transaction is open', async () => {
    expect(await ask(client, { text: 'begin' })).toMatchObject({ command: 'BEGIN' });
    expect(isAtRest(client)).toBe(false);
    await expect(ask(client, { text: 'select 1 / 0' })).rejects.toThrow();
    expect(await ask(client, { text: 'commit' })).toMatchObject({ command: 'ROLLBACK' });
    expect(isAtRest(client)).toBe(true);
    const unanswered = ask(client, { text: 'select 1' });
    expect(isAtRest(client)).toBe(false);
    await unanswered;
  });

  test.each<[string, readonly (string | Buffer | null)[]]>([
    [`select $1::text as text, $2::text as nothing, ''::text as empty`, ['Zoë 🦆 "\\', null]],
    [
      `select $1::jsonb as jsonb, '{"a":[1,null,"ü"]}'::json as json, array[1, null, 3] as numbers, array['a,b', 'ü', null] as texts`,
      ['{"b": 1.50}'],
    ],
    ['select 9223372036854775807 as large, -2::int as small, 1.50::numeric as exact, 0.1::float8 as rough, true as yes', []],
    [`select timestamptz '2026-01-31 12:34:56.789+00' as at, date '0044-03-15' as day, '\\x00ff5c'::bytea as bytes, null::uuid as id`, []],
    ['select $1::bytea as bytes, $2::uuid[] as ids', [Buffer.from([0, 1, 255]), null]],
    [`select i as n, repeat('é', i * 1000) as text from generate_series(0, 200) i`, []],
    ['select from generate_series(1, 3)', []],
    ['select 1 as one where false', []],
  ])('is answered as pg answers it: %s', async (text, parameters) => {
    const theirs = new pg.Client({ connectionString: url, types: valueTypes });
    await theirs.connect();
    const { rows } = await theirs.query(text, [...parameters]);
    await theirs.end();
    for (const name of [undefined, 'named', 'named']) expect((await ask(client, { text, name, parameters })).rows).toEqual(rows);
  });

  test('is answered alike however the network cuts the answer, in memory that is used again at once', async () => {
    const pieces: Buffer[] = [];
    const statement = {
      text: `select i as n, 'ü' || i as text, null as nothing from generate_series(1, 3) i`,
      name: 'cut',
      parameters: [],
    };
    limitAnswers(client, 10_000); // From here on the bytes of answers are not pg's.
    streamOf(client).on('data', (bytes: Buffer) => pieces.push(Buffer.from(bytes)));
    const whole = await ask(client, statement);
    const bytes = Buffer.concat(pieces);
    expect(bytes.length).toBeGreaterThan(100);
    for (let cut = 1; cut < bytes.length; cut++) {
      for (const last of [bytes.length, Math.min(cut + 1, bytes.length)]) {
        const { stream, fake } = replay();
        const answer = ask(fake, statement);
        for (const [from, to] of [
          [0, cut],
          [cut, last],
          [last, bytes.length],
        ]) {
          const piece = Buffer.from(bytes.subarray(from, to));
          stream.emit('data', piece);
          piece.fill(0xff);
        }
        expect(await answer).toEqual(whole);
      }
    }
  });

  test('of many that are sent at once gets its own answer, though some of them fail', async () => {
    const answers = Array.from({ length: 300 }, (_, i) =>
      i % 3 === 0
        ? ask(client, { text: `select ${i} as n` })
        : ask(client, { text: 'select 10 / $1::int as n', name: 'tenth', parameters: [String(i % 3 === 1 ? i : 0)] }),
    );
    for (const [i, answer] of (await Promise.allSettled(answers)).entries()) {
      if (i % 3 === 2) expect(answer).toMatchObject({ status: 'rejected', reason: { code: '22012', message: 'division by zero' } });
      else expect(answer).toMatchObject({ value: { rows: [{ n: i % 3 === 0 ? i : Math.trunc(10 / i) }] } });
    }
  });

  test('that could not be prepared is prepared when it is asked again', async () => {
    const later = { text: 'select n from made_later', name: 'later', parameters: [] };
    await expect(ask(client, later)).rejects.toMatchObject({ code: '42P01', severity: 'ERROR' });
    await ask(client, { text: 'create temporary table made_later as select 5 as n' });
    for (let i = 0; i < 2; i++) expect(await ask(client, later)).toMatchObject({ rows: [{ n: 5 }] });
  });

  test('that cannot be sent fails by itself, and those beside it are answered', async () => {
    const askFor = (n: number) => ask(client, { text: `select ${n} as n`, name: `n${n}`, parameters: [] });
    const tooMany = Array.from({ length: 65_536 }, () => null);
    const answers = [askFor(1), ask(client, { text: 'select 1', name: 'wide', parameters: tooMany }), askFor(2)];
    expect(await Promise.allSettled(answers)).toMatchObject([
      { value: { rows: [{ n: 1 }] } },
      { reason: expect.any(RangeError) },
      { value: { rows: [{ n: 2 }] } },
    ]);
  });

  // As when it is cancelled just then: the server may or may not keep what it has prepared.
  test('that failed before its rows were described is not taken for prepared', async () => {
    const { stream, fake, sent } = replay();
    const statement = { text: 'select 1 as n', name: 'cancelled', parameters: [] };
    const first = ask(fake, statement);
    stream.emit('data', Buffer.from('1\0\0\0\x04E\0\0\0\x0cC57014\0\0Z\0\0\0\x05I', 'latin1'));
    await expect(first).rejects.toMatchObject({ code: '57014' });
    void ask(fake, statement);
    await nextTurn();
    expect(sent.map((message) => message.toString('latin1', 0, 1))).toEqual(['P', 'P']);
  });

  test.each([
    'T\0\0\0\x08\0\x09ab',
    'D\0\0\0\0',
    '\0\0\0\0\x03',
  ])('that is answered with no message of the protocol fails: %j', async (bytes) => {
    const { stream, fake } = replay();
    const answer = ask(fake, { text: 'select 1 as n' });
    stream.emit('data', Buffer.from(bytes, 'latin1'));
    await expect(answer).rejects.toThrow();
    await expect(ask(fake, { text: 'select 1' })).rejects.toThrow();
  });

  test('that copies rows is refused, and its connection ends', async () => {
    client.on('error', () => undefined);
    await expect(ask(client, { text: 'copy (select 1) to stdout' })).rejects.toThrow('The statement copies rows');
    await expect(ask(client, { text: 'select 1' })).rejects.toThrow();
  });

  test('under way when its session is ended fails with what the server said, and so do those behind it', async () => {
    client.on('error', () => undefined);
    const [{ pid }] = (await ask(client, { text: 'select pg_backend_pid() as pid' })).rows as [{ pid: number }];
    const failures = Promise.allSettled([ask(client, { text: 'select pg_sleep(20)' }), ask(client, { text: 'select 2' })]);
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    await vi.waitFor(async () => {
      const { rows } = await other.query(`select from pg_stat_activity where pid = $1 and query like '%pg_sleep%'`, [pid]);
      expect(rows).toHaveLength(1);
    });
    await other.query('select pg_terminate_backend($1)', [pid]);
    await other.end();
    expect(await failures).toMatchObject([{ reason: { code: '57P01', severity: 'FATAL' } }, { reason: expect.any(Error) }]);
  });

  test('leaves to pg what nobody has asked for', async () => {
    const heard: unknown[] = [];
    client.on('notification', ({ payload }) => heard.push(payload));
    client.on('notice', ({ message }) => heard.push(message));
    await ask(client, { text: 'listen here' });
    await ask(client, { text: `notify here, 'a'; do $$ begin raise notice 'b'; end $$` });
    await vi.waitFor(() => expect(heard).toEqual(['b', 'a']));
  });

  test('holds up the end of its connection no longer than the connection lives', async () => {
    client.on('error', () => undefined);
    const unanswered = expect(ask(client, { text: 'select pg_sleep(20)' })).rejects.toThrow('Connection terminated');
    const began = performance.now();
    await endConnection(client);
    expect(performance.now() - began).toBeLessThan(5_000);
    await unanswered;
  });
});

describe.skipIf(!available)('the pool', () => {
  test('speaks over TLS, and past one read', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    await encrypt(server.url);
    const database = await openPostgres({ url: `${server.url}?sslmode=no-verify`, preparedStatements: true, poolSize: 2, log: quiet });
    onTestFinished(() => database.close());
    expect(await database.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()')).toEqual([{ ssl: true }]);
    await expectLargeAnswers(database);
  });

  test('reads answers of several connections, whose bytes come through the same memory', async () => {
    const database = await openPostgres({ url: await emptyPostgresDatabase(), preparedStatements: true, poolSize: 8, log: quiet });
    onTestFinished(() => database.close());
    await expectLargeAnswers(database);
  });
});

/** Longer than what is read at once, and told apart by what they are made of. */
async function expectLargeAnswers(database: Database): Promise<void> {
  const letters = [...'abcdefghijkl'];
  const answers = letters.map((letter) => database.query<{ text: string }>(`select repeat($1, 1000000) as text, $1 as letter`, [letter]));
  for (const [i, [row]] of (await Promise.all(answers)).entries()) expect(row?.text === letters[i]?.repeat(1_000_000)).toBe(true);
}

/** Lets the server at `url` speak TLS, with a certificate that vouches for itself. */
async function encrypt(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const [{ directory }] = (await admin.query(`select current_setting('data_directory') as directory`)).rows as [{ directory: string }];
  const { key, cert } = selfSigned(['localhost']);
  const owner = statSync(directory);
  for (const [name, text] of Object.entries({ 'server.key': key, 'server.crt': cert })) {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
    chownSync(join(directory, name), owner.uid, owner.gid);
  }
  await admin.query('alter system set ssl = on');
  await admin.query('select pg_reload_conf()');
  await admin.end();
}

type Streaming = { readonly connection: { readonly stream: Duplex } };

const streamOf = (of: pg.Client): Duplex => (of as unknown as Streaming).connection.stream;

/** A connection on which a test says what comes, and which leads nowhere. */
function replay(): { readonly stream: Duplex; readonly fake: pg.Client; readonly sent: Buffer[] } {
  const sent: Buffer[] = [];
  const stream = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _encoding, done) {
      sent.push(chunk);
      done();
    },
  });
  return { stream, fake: { connection: { stream } } as unknown as pg.Client, sent };
}
