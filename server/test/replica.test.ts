// Lists from a standby: only where a request says that it may be behind, only while the standby is there and fresh, and said in the answer.
// A real streaming standby, whose replay is paused and which is killed; a real serving process in front of both.

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openTestApp } from './support/app.ts';
import { type PostgresServer, startPostgres } from './support/databases.ts';
import { postgresMissing, startStandby } from './support/postgres-server.ts';
import { hasPostgres, type Json, postgresVariables, type ServerProcess, startServer, tranche } from './support/server-process.ts';
import { until } from './support/webhook-fixtures.ts';

const EVENTUAL = { 'tranche-consistency': 'eventual' };

let primary: PostgresServer;
let standby: PostgresServer;

beforeAll(async () => {
  if (!hasPostgres) return;
  primary = await startPostgres();
  standby = await startStandby(primary.url);
});
afterAll(async () => {
  await standby?.remove();
  await primary?.remove();
});

/** A database of the test's own on the primary; the standby has it as soon as it has replayed that. */
async function makeDatabase(name: string): Promise<{ url: string; replicaUrl: string }> {
  const admin = new pg.Client({ connectionString: primary.url });
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const at = (url: string): string => Object.assign(new URL(url), { pathname: `/${name}` }).href;
  return { url: at(primary.url), replicaUrl: at(standby.url) };
}

async function onStandby(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: standby.url });
  await client.connect();
  await client.query(statement);
  await client.end();
}

interface Page {
  readonly status: number;
  readonly names: string[];
  readonly consistency: string | null;
  readonly body: Json;
}

async function list(server: ServerProcess, key: string, headers: Record<string, string> = {}, path = '/v1/projects'): Promise<Page> {
  const answer = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
  const body = (await answer.json()) as Json;
  const names = (body.data ?? []).map((project: Json) => project.name as string);
  return { status: answer.status, names, consistency: answer.headers.get('tranche-consistency'), body };
}

async function begin(name: string, more: Record<string, string> = {}): Promise<{ server: ServerProcess; key: string }> {
  const { url, replicaUrl } = await makeDatabase(name);
  const variables: Record<string, string> = {
    ...postgresVariables(url),
    DATABASE_REPLICA_URL: replicaUrl,
    METRICS_TOKEN: 'a_token_for_metrics_12345',
    ...more,
  };
  const server = await startServer(variables);
  const key = variables.TRANCHE_API_KEY as string;
  await until(async () => (await list(server, key, EVENTUAL)).consistency === 'eventual');
  return { server, key };
}

const add = (server: ServerProcess, name: string): Promise<Json> => server.ok('POST', '/v1/projects', { body: { name, client_id: 'c' } });

async function metric(server: ServerProcess, name: string): Promise<number> {
  const answer = await fetch(`${server.url}/metrics`, { headers: { authorization: 'Bearer a_token_for_metrics_12345' } });
  const line = (await answer.text()).split('\n').find((text) => text.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

describe.skipIf(!hasPostgres)(`a streaming standby${hasPostgres ? '' : ` (skipped: ${postgresMissing})`}`, () => {
  test('with paused replay shows the old page to who asks for eventual, and nobody else', async () => {
    const { server, key } = await begin('paused', { DATABASE_REPLICA_MAX_LAG_MS: '3600000' });
    await add(server, 'old');
    await until(async () => (await list(server, key, EVENTUAL)).names.includes('old'));
    await onStandby('select pg_wal_replay_pause()');
    onTestFinished(() => onStandby('select pg_wal_replay_resume()'));
    const { id } = await add(server, 'new');
    expect(await list(server, key, EVENTUAL)).toMatchObject({ status: 200, names: ['old'], consistency: 'eventual' });
    for (const headers of [{}, { 'tranche-consistency': 'strong' }])
      expect(await list(server, key, headers)).toMatchObject({ names: ['new', 'old'], consistency: null });
    // What the standby does not know yet is asked of the primary, and never called absent.
    const within = await list(server, key, EVENTUAL, `/v1/projects/${id}/milestones`);
    expect(within).toMatchObject({ status: 200, names: [], consistency: null });
    // Only lists: a read by id sees its own writes whatever it is sent.
    expect(await list(server, key, EVENTUAL, `/v1/projects/${id}`)).toMatchObject({ status: 200, consistency: null });
    await onStandby('select pg_wal_replay_resume()');
    await until(async () => (await list(server, key, EVENTUAL)).names.includes('new'));
  });

  test('that is too far behind is left alone until it has caught up, and log and metrics say so', async () => {
    const { server, key } = await begin('behind', { DATABASE_REPLICA_MAX_LAG_MS: '1500' });
    await onStandby('select pg_wal_replay_pause()');
    onTestFinished(() => onStandby('select pg_wal_replay_resume()'));
    await add(server, 'new');
    await until(async () => (await list(server, key, EVENTUAL)).consistency === null);
    expect(await list(server, key, EVENTUAL)).toMatchObject({ status: 200, names: ['new'] });
    // Said by the next look, and once.
    await until(() => server.stderr().includes('replica is not used'));
    expect(server.log().filter(({ msg, reason }) => /replica is not used/.test(msg) && /behind/.test(reason))).toHaveLength(1);
    expect(await metric(server, 'tranche_replica_usable')).toBe(0);
    expect(await metric(server, 'tranche_replica_lag_seconds')).toBeGreaterThan(1.5);
    expect(await metric(server, 'tranche_replica_reads_total{by="primary"}')).toBeGreaterThan(0);
    await onStandby('select pg_wal_replay_resume()');
    await until(async () => (await list(server, key, EVENTUAL)).consistency === 'eventual');
    expect(await metric(server, 'tranche_replica_usable')).toBe(1);
    expect(await metric(server, 'tranche_replica_reads_total{by="replica"}')).toBeGreaterThan(0);
  });

  test('that is killed is replaced by the primary at once, and used again when it is back', async () => {
    const { server, key } = await begin('killed');
    await add(server, 'one');
    await until(async () => (await list(server, key, EVENTUAL)).names.includes('one'));
    await standby.kill9();
    // The very first answer after the kill as well.
    expect(await list(server, key, EVENTUAL)).toMatchObject({ status: 200, names: ['one'], consistency: null });
    await add(server, 'two');
    for (let i = 0; i < 20; i++) expect(await list(server, key, EVENTUAL)).toMatchObject({ status: 200, names: ['two', 'one'] });
    expect(server.stderr()).toMatch(/replica is not used/);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    await standby.start();
    await until(async () => {
      const { consistency, names } = await list(server, key, EVENTUAL);
      return consistency === 'eventual' && names.length === 2;
    });
  });

  test('is not taken from what is no standby: the primary itself, under the name of a replica', async () => {
    const { url } = await makeDatabase('mistaken');
    const variables: Record<string, string> = { ...postgresVariables(url), DATABASE_REPLICA_URL: url };
    const server = await startServer(variables);
    expect(await list(server, variables.TRANCHE_API_KEY as string, EVENTUAL)).toMatchObject({ status: 200, consistency: null });
    const looked = await tranche(['doctor'], { ...variables, PORT: String(server.port) });
    expect(looked.stdout.replaceAll(/\s+/g, ' ')).toMatch(/DATABASE_REPLICA_URL leads to no standby/);
  });

  test('is not taken from what is a standby of something else: a list would be empty that is not', async () => {
    const { url } = await makeDatabase('ours');
    const { url: theirs, replicaUrl: ofTheirs } = await makeDatabase('theirs');
    expect((await tranche(['migrate'], postgresVariables(theirs))).code).toBe(0);
    const elsewhere = await startPostgres();
    onTestFinished(() => elsewhere.remove());
    const ofElsewhere = await startStandby(elsewhere.url);
    onTestFinished(() => ofElsewhere.remove());
    const variables = postgresVariables(url);
    for (const [replicaUrl, name] of [
      [ofTheirs, 'another database'],
      [ofElsewhere.url, 'another server'],
    ] as const) {
      const server = await startServer({ ...variables, DATABASE_REPLICA_URL: replicaUrl, DATABASE_REPLICA_MAX_LAG_MS: '3600000' });
      await add(server, name);
      await until(() => /replica (is not used|serves)/.test(server.stderr()));
      expect(server.stderr()).toMatch(/no standby of the database of DATABASE_URL/);
      const page = await list(server, variables.TRANCHE_API_KEY as string, EVENTUAL);
      expect([page.names.includes(name), page.consistency]).toEqual([true, null]);
      await server.stop();
    }
  });
});

test('any other value of the header is refused, with the ones there are', async () => {
  const app = await openTestApp();
  onTestFinished(() => app.stop());
  const { status, body } = await app.call('GET', '/v1/projects', { headers: { 'tranche-consistency': 'sometimes' } });
  expect([status, body.code, body.errors]).toEqual([
    422,
    'validation_failed',
    [{ pointer: 'header/Tranche-Consistency', code: 'not_allowed', message: 'Must be one of: strong, eventual.' }],
  ]);
  // Without a replica everybody asks the one database there is.
  const answer = await app.call('GET', '/v1/projects', { headers: EVENTUAL });
  expect([answer.status, answer.headers['tranche-consistency']]).toEqual([200, undefined]);
});
