// The service with a pooler in transaction mode before its database: nothing may rely on a session, nothing may leak into one, and who
// forgets a variable is told which. A real PgBouncer, with two server connections for everybody.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Database, TransactionAborted } from '../src/store/database.ts';
import { openPostgres } from '../src/store/postgres.ts';
import { emptyPostgresDatabase, startPostgres } from './support/databases.ts';
import { canPool, pgbouncerMissing, startPgbouncer } from './support/pgbouncer.ts';
import { type Environment, postgresVariables, startServer, startWorkerProcess, tranche } from './support/server-process.ts';
import { Load, randomFrom, readBooks } from './support/story-load.ts';
import { openProxy } from './support/tcp-proxy.ts';
import { until } from './support/webhook-fixtures.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function pooled(direct: string, mode?: 'session'): Promise<string> {
  const pooler = await startPgbouncer(direct, mode);
  onTestFinished(() => pooler.stop());
  return pooler.through(direct);
}

/** As an operator sets it up. */
async function pooledVariables(direct: string): Promise<Record<string, string>> {
  return { ...postgresVariables(await pooled(direct)), DATABASE_DIRECT_URL: direct, PREPARED_STATEMENTS: 'off' };
}

const skipped = canPool ? '' : ` (skipped: ${pgbouncerMissing})`;

const words = (text: string): string => text.replaceAll(/\s+/g, ' ');

describe.skipIf(!canPool)(`behind PgBouncer in transaction mode${skipped}`, () => {
  test('the whole story plays, and the books are in order', async () => {
    const variables = await pooledVariables(await emptyPostgresDatabase());
    const server = await startServer(variables);
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['demo/story.ts', '--url', server.url], {
      cwd: root,
      env: { PATH: process.env.PATH, TRANCHE_API_KEY: variables.TRANCHE_API_KEY },
      timeout: 45_000,
    });
    expect(stderr).toBe('');
    expect(stdout.match(/signature valid/g)).toHaveLength(4);
    expect((await tranche(['verify'], variables)).code).toBe(0);
    expect((await tranche(['doctor'], { ...variables, PORT: String(server.port) })).stdout).not.toContain('pooler');
    expect((await server.stop()).code).toBe(0);
  });

  test('two servers and a worker under load share it: every answer is true, and notifications arrive', async () => {
    const variables = await pooledVariables(await emptyPostgresDatabase());
    const servers = [await startServer(variables), await startServer(variables)] as const;
    const worker = await startWorkerProcess(variables);
    const load = new Load([variables.TRANCHE_API_KEY as string], randomFrom(6));
    const running = load.run(servers, 16);
    await until(() => load.answered >= 300);
    load.stop();
    await running;
    expect(load.unexpected).toEqual([]);
    load.check(await readBooks(servers[0]));
    await load.settle(servers[1]);
    load.check(await readBooks(servers[1]));
    // A key that one server revokes is known to the other by notification, on the connection that goes past the pooler.
    const key = await servers[0].ok('POST', '/v1/api_keys', { body: { name: 'k', scopes: ['projects:read'] } });
    expect((await servers[1].call('GET', '/v1/projects', { key: key.secret })).status).toBe(200);
    await servers[0].ok('DELETE', `/v1/api_keys/${key.id}`);
    await until(async () => (await servers[1].call('GET', '/v1/projects', { key: key.secret })).status === 401);
    expect((await tranche(['verify'], variables)).code).toBe(0);
    for (const { stderr } of servers) expect(stderr()).not.toMatch(/prepared statement|unsupported startup|does not exist|internal_error/);
    await Promise.all([...servers.map((server) => server.stop()), worker.stop()]);
  });

  test('what a transaction sets is gone from the session when it ends', async () => {
    const direct = await emptyPostgresDatabase();
    const url = await pooled(direct);
    const database = await openPostgres({ url, directUrl: direct, preparedStatements: false, poolSize: 4, log });
    onTestFinished(() => database.close());
    const setting = `select current_setting('lock_timeout') as lock, current_setting('enable_seqscan') as scan`;
    await Promise.all(Array.from({ length: 8 }, () => database.transaction((transaction) => transaction.query(setting))));
    expect(await database.query(setting)).toEqual([{ lock: '5s', scan: 'off' }]);
    const stranger = new pg.Client({ connectionString: url });
    await stranger.connect();
    onTestFinished(() => stranger.end());
    for (let i = 0; i < 4; i++) expect((await stranger.query(setting)).rows).toEqual([{ lock: '0', scan: 'on' }]);
  });
});

describe.skipIf(!canPool)(`a connection to PgBouncer that is cut at COMMIT${skipped}`, () => {
  async function opened(server: string): Promise<{ database: Database; proxy: Awaited<ReturnType<typeof openProxy>> }> {
    const url = new URL(await pooled(server));
    const proxy = await openProxy(Number(url.port));
    onTestFinished(() => proxy.close());
    url.port = String(proxy.port);
    const database = await openPostgres({ url: url.href, directUrl: server, preparedStatements: false, poolSize: 2, log });
    onTestFinished(() => database.close());
    await database.query('create table marks (name text primary key)');
    return { database, proxy };
  }
  const mark = (database: Database, name: string): Promise<void> =>
    database.transaction(async (transaction) => void (await transaction.query('insert into marks values ($1)', [name])));
  const marks = async (database: Database): Promise<string[]> =>
    (await database.query<{ name: string }>('select name from marks order by name')).map(({ name }) => name);

  test('the truth is found out on the direct connection', async () => {
    const { database, proxy } = await opened(await emptyPostgresDatabase());
    const reached = proxy.cutNextCommit('after commit');
    await mark(database, 'reached');
    await reached;
    const lost = proxy.cutNextCommit('before commit');
    await expect(mark(database, 'lost')).rejects.toThrow(TransactionAborted);
    await lost;
    expect(await marks(database)).toEqual(['reached']);
  }, 30_000);

  test('also when the server has crashed and come back since the pooler let us in', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const { database, proxy } = await opened(server.url);
    await mark(database, 'before');
    await server.kill9();
    await server.start();
    // The pooler notices its dead sessions by using them; our own connections to it may live on.
    await until(() =>
      marks(database).then(
        () => true,
        () => false,
      ),
    );
    const reached = proxy.cutNextCommit('after commit');
    await mark(database, 'after');
    await reached;
    expect(await marks(database)).toEqual(['after', 'before']);
  });
});

describe.skipIf(!canPool)(`a pooler that the configuration does not know of${skipped}`, () => {
  async function refused(variables: Environment, message: RegExp): Promise<void> {
    const served = await tranche(['serve'], { ...variables, PORT: '0' });
    expect([served.code, served.stdout]).toEqual([1, '']);
    expect(words(served.stderr)).toMatch(message);
    expect(served.stderr).not.toMatch(/\n\s+at |node:internal/);
    const looked = await tranche(['doctor'], { ...variables, PORT: '0' });
    expect(looked.code).toBe(1);
    expect(words(looked.stdout)).toMatch(message);
  }

  test('is refused at start and by doctor, with the variable that is missing', async () => {
    const direct = await emptyPostgresDatabase();
    const { DATABASE_DIRECT_URL, PREPARED_STATEMENTS, ...variables } = await pooledVariables(direct);
    await refused(variables, /DATABASE_URL leads to a connection pooler .* set DATABASE_DIRECT_URL to the server itself/);
    await refused({ ...variables, DATABASE_DIRECT_URL: direct }, /leads to a connection pooler.*set PREPARED_STATEMENTS=off/);
    const roundabout = { ...variables, DATABASE_DIRECT_URL: await pooled(direct), PREPARED_STATEMENTS: 'off' };
    const served = await tranche(['serve'], { ...roundabout, PORT: '0' });
    expect(words(served.stderr)).toMatch(/DATABASE_DIRECT_URL leads to a connection pooler itself/);
  });

  test('in session mode is fine with the same address twice', async () => {
    const url = await pooled(await emptyPostgresDatabase(), 'session');
    // Each client keeps a session for as long as it lives, so there are no more than the pooler has: one to listen, and the rest.
    const variables = { ...postgresVariables(url), DATABASE_DIRECT_URL: url, DATABASE_POOL_SIZE: '2' };
    expect((await tranche(['migrate'], variables)).code).toBe(0);
  });
});
