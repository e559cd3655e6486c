// A failover of PostgreSQL in the middle of load: the primary is killed, its standby promoted, and the address leads to that one.
// Real servers and real serving processes, which are not restarted.

import type { Writable } from 'node:stream';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type LostCommit, learnOutcome, SERVER_MARK } from '../src/store/commit-outcome.ts';
import { type PostgresServer, startPostgres } from './support/databases.ts';
import { startStandby, startStandbyFromFiles } from './support/postgres-server.ts';
import { hasPostgres, postgresVariables, type ServerProcess, startServer, tranche } from './support/server-process.ts';
import { Load, randomFrom, readBooks } from './support/story-load.ts';
import { until } from './support/webhook-fixtures.ts';
import { openWire, type Wire } from './support/wire.ts';

const portOf = (url: string): number => Number(new URL(url).port);

async function ask<Row>(url: string, ...statements: string[]): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const statement of statements) rows = (await client.query(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

interface World {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  readonly wire: Wire;
  readonly variables: Record<string, string>;
  readonly servers: readonly ServerProcess[];
  readonly load: Load;
}

async function openWorld(seed: number): Promise<World> {
  const primary = await startPostgres();
  onTestFinished(() => primary.remove());
  const standby = await startStandby(primary.url);
  onTestFinished(() => standby.remove());
  const wire = await openWire(portOf(primary.url));
  const through = Object.assign(new URL(primary.url), { port: String(wire.port) }).href;
  const variables = postgresVariables(through);
  const servers = await Promise.all([startServer(variables), startServer(variables)]);
  return { primary, standby, wire, variables, servers, load: new Load([variables.TRANCHE_API_KEY as string], randomFrom(seed)) };
}

const promote = (standby: PostgresServer): Promise<unknown> => ask(standby.url, 'select pg_promote(true, 60)');

async function moreAnswers(load: Load, count: number): Promise<void> {
  const enough = load.answered + count;
  await expect.poll(() => load.answered >= enough, { timeout: 40_000, interval: 10 }).toBe(true);
}

/** Nothing fatal, no defect, no answer of 500. */
function expectSound({ servers, load }: World): void {
  expect([load.unexpected, load.refusedWithRetryAfter]).toEqual([[], load.refused]);
  for (const server of servers)
    for (const line of server.log()) expect([line.level < 60, line.msg !== 'a request failed'], JSON.stringify(line)).toEqual([true, true]);
}

describe.skipIf(!hasPostgres)('a failover in the middle of load', () => {
  test('to a synchronous standby loses nothing that was answered, and needs no restart of the service', async () => {
    const world = await openWorld(21);
    const { primary, standby, wire, variables, servers, load } = world;
    await ask(primary.url, `alter system set synchronous_standby_names = '*'`, 'select pg_reload_conf()');
    const sync = async () => (await ask<{ sync_state: string }>(primary.url, 'select sync_state from pg_stat_replication'))[0]?.sync_state;
    await until(async () => (await sync()) === 'sync');
    const running = load.run(servers, 12);
    await moreAnswers(load, 150);

    await primary.kill9();
    // The address moves before the standby is promoted, as it does where nothing but a name decides.
    wire.lead(portOf(standby.url));
    for (const server of servers) await until(async () => (await server.call('GET', '/readyz')).status === 503);
    expect((await servers[0]?.call('GET', '/healthz'))?.status).toBe(200);
    await promote(standby);
    await moreAnswers(load, 150);
    load.stop();
    await running;

    for (const server of servers) await until(async () => (await server.call('GET', '/readyz')).status === 200);
    expectSound(world);
    const [one, two] = servers as [ServerProcess, ServerProcess];
    load.check(await readBooks(one));
    await load.settle(two);
    load.check(await readBooks(one));
    expect((await tranche(['verify'], variables)).code).toBe(0);
  });

  test('to an asynchronous standby may lose the last that was answered, and leaves books that are whole', async () => {
    const world = await openWorld(22);
    const { primary, standby, wire, variables, servers, load } = world;
    const running = load.run(servers, 12);
    await moreAnswers(load, 100);
    // The worst case: the standby stands still, as one does that is far away or busy, and hears nothing of what is answered from here on.
    const [{ seq: copied }] = (await ask(primary.url, 'select event_seq::int as seq from workspace_heads')) as [{ seq: number }];
    await standby.kill9();
    await moreAnswers(load, 60);
    await primary.kill9();
    await standby.start();
    await promote(standby);
    wire.lead(portOf(standby.url));
    await moreAnswers(load, 60);
    load.stop();
    await running;

    const events = (await readBooks(servers[0] as ServerProcess)).events;
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    expect(events.length).toBeGreaterThanOrEqual(copied);
    const verified = await tranche(['verify'], variables);
    expect(verified.code, verified.stderr).toBe(0);
    const lost = load.stories.filter(({ steps }) => steps[0]?.answer).length - (await countAnswered(servers[0] as ServerProcess, load));
    expect(lost).toBeGreaterThan(0);
  });
});

describe.skipIf(!hasPostgres)('a commit that the new primary never heard of', () => {
  test('is not believed for another one of the same id, also where the standby was made of the files of the old primary', async () => {
    const primary = await startPostgres();
    onTestFinished(() => primary.remove());
    const standby = await startStandbyFromFiles(primary);
    onTestFinished(() => standby.remove());
    await standby.stop('fast');
    const [lost] = (await ask<LostCommit>(
      primary.url,
      'begin',
      'create table if not exists lost (n int)',
      `select pg_current_xact_id()::text as xid, ${SERVER_MARK} as mark`,
    )) as [LostCommit];
    await primary.kill9();
    await standby.start();
    await promote(standby);
    // Its ids go on where the copy ended, so that ours is given out to somebody else, who commits.
    for (let xid = 0n; xid < BigInt(lost.xid); ) {
      const [given] = (await ask<{ xid: string }>(standby.url, 'select pg_current_xact_id()::text as xid')) as [{ xid: string }];
      xid = BigInt(given.xid);
    }
    expect(await learnOutcome(() => connect(standby.url), lost, quietly)).toBe('unknown');
  });
});

describe.skipIf(!hasPostgres)('a commit that is still under way when it is asked for', () => {
  test('is not called undone because somebody has reset the statistics meanwhile', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const slow = await connect(server.url);
    await slow.query('begin');
    const lost = (await slow.query<LostCommit>(`select pg_current_xact_id()::text as xid, ${SERVER_MARK} as mark`)).rows[0] as LostCommit;
    await ask(server.url, `select pg_stat_reset_shared('bgwriter')`);
    let asked = 0;
    const outcome = learnOutcome(() => connect(server.url, () => void (asked += 1)), lost, quietly);
    await until(() => asked >= 4);
    await slow.query('commit');
    await slow.end();
    expect(await outcome).toBe('unknown');
  });
});

const quietly = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function connect(url: string, onQuery: () => void = () => undefined): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Writable } }).connection;
  const write = stream.write.bind(stream) as (...words: unknown[]) => boolean;
  stream.write = (...words: unknown[]) => {
    onQuery();
    return write(...words);
  };
  return client;
}

/** How many of the projects whose creation was answered are there. */
async function countAnswered(server: ServerProcess, load: Load): Promise<number> {
  const known = new Set((await readBooks(server)).projects.map(({ client_id }) => client_id));
  return load.stories.filter(({ steps, clientId }) => steps[0]?.answer && known.has(clientId)).length;
}
