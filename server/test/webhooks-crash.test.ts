// Workers that are killed at every point between claim and record, and databases that restart: real processes, real sockets, kill -9.
// Everything arrives at least once, nothing more than once per lease, and nothing is left behind.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Uuid } from '../src/domain/ids.ts';
import type { Database } from '../src/store/database.ts';
import { readMigrations } from '../src/store/migrations.ts';
import { openPostgres } from '../src/store/postgres.ts';
import { emptyPostgresDatabase, startPostgres } from './support/databases.ts';
import { hasPostgres, postgresVariables, startWorkerProcess, type WorkerProcess } from './support/server-process.ts';
import { addEndpoint, addEvents, addWorkspace, cipherKey, openReceiver, type Receiver } from './support/webhook-fixtures.ts';

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };
/** A worker is dead after eight seconds; on a busy machine everything takes its time. */
const TAKEN_OVER = { timeout: 60_000, interval: 50 };

interface Scene {
  readonly database: Database;
  readonly startWorker: () => Promise<WorkerProcess>;
}

async function openScene(url: string): Promise<Scene> {
  const database = await openPostgres({ url, preparedStatements: true, poolSize: 3, log: SILENT });
  onTestFinished(() => database.close());
  await database.migrate(await readMigrations());
  const variables = { ...postgresVariables(url), ENCRYPTION_KEY: cipherKey.toString('base64'), WEBHOOK_NETWORK: 'any' };
  return { database, startWorker: () => startWorkerProcess(variables) };
}

/** Deliveries of the endpoint that are not done, and what its flow believes to be under way. */
async function leftBehind(database: Database): Promise<unknown> {
  const rows = await database.query(
    `select (select count(*)::integer from deliveries where status <> 'succeeded') as unfinished,
       (select count(*)::integer from deliveries where lease_token is not null) as leased,
       (select sum(in_flight)::integer from webhook_flows) as in_flight`,
  );
  return rows[0];
}
const NOTHING = { unfinished: 0, leased: 0, in_flight: 0 };

const timesReceived = ({ received }: Receiver): Map<string, number> => {
  const times = new Map<string, number>();
  for (const { headers } of received) times.set(String(headers['tranche-seq']), (times.get(String(headers['tranche-seq'])) ?? 0) + 1);
  return times;
};

/** Takes connections and reads nothing from them. */
async function openDeafServer(): Promise<{ port: number; connections: Socket[]; close(): Promise<void> }> {
  const connections: Socket[] = [];
  const server: Server = createServer({ pauseOnConnect: true }, (socket) => void connections.push(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    for (const socket of connections) socket.destroy();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  onTestFinished(close);
  return { port: (server.address() as AddressInfo).port, connections, close };
}

const EVENTS = 5;
const fiveEvents = (database: Database, workspace: Uuid): Promise<unknown> =>
  addEvents(database, workspace, Array(EVENTS).fill('project.created'));

describe.skipIf(!hasPostgres)('a worker that is killed (needs PostgreSQL)', () => {
  test('between claim and send: another sends, once', async () => {
    const { database, startWorker } = await openScene(await emptyPostgresDatabase());
    const deaf = await openDeafServer();
    const workspace = await addWorkspace(database);
    const { id } = await addEndpoint(database, workspace, { url: `http://127.0.0.1:${deaf.port}/hook`, maxConcurrency: EVENTS });
    await fiveEvents(database, workspace);
    const doomed = await startWorker();
    await expect.poll(() => deaf.connections.length, TAKEN_OVER).toBeGreaterThan(0);
    await doomed.kill9();
    await deaf.close();
    const receiver = await openReceiver();
    await database.query('update webhook_endpoints set url = $2 where id = $1', [id, receiver.url]);
    await startWorker();
    await expect.poll(() => leftBehind(database), TAKEN_OVER).toEqual(NOTHING);
    expect([...timesReceived(receiver).values()]).toEqual(Array(EVENTS).fill(1));
    expect(new Set(receiver.received.map(({ headers }) => headers['tranche-attempt']))).toEqual(new Set(['1']));
  });

  test('between send and answer: another sends again, with the same id and body, and no third time', async () => {
    const { database, startWorker } = await openScene(await emptyPostgresDatabase());
    let isHanging = true;
    const receiver = await openReceiver((response) => void (isHanging || response.end()));
    const workspace = await addWorkspace(database);
    await addEndpoint(database, workspace, { url: receiver.url, maxConcurrency: 1 });
    await fiveEvents(database, workspace);
    const doomed = await startWorker();
    await expect.poll(() => receiver.received.length, TAKEN_OVER).toBe(1);
    isHanging = false;
    await doomed.kill9();
    await startWorker();
    await expect.poll(() => leftBehind(database), TAKEN_OVER).toEqual(NOTHING);
    expect(Object.fromEntries(timesReceived(receiver))).toEqual({ 1: 2, 2: 1, 3: 1, 4: 1, 5: 1 });
    const [first, ...others] = receiver.received;
    const again = others.find(({ headers }) => headers['tranche-seq'] === '1');
    expect([again?.body, again?.headers['webhook-id']]).toEqual([first?.body, first?.headers['webhook-id']]);
  });

  test('between answer and record: another sends again, once', async () => {
    const { database, startWorker } = await openScene(await emptyPostgresDatabase());
    const workspace = await addWorkspace(database);
    let letGo = (): void => {};
    let isHeld = false;
    // The worker's result waits for this lock, as long as the test wants.
    const hold = (): Promise<void> =>
      new Promise((resolve, reject) => {
        database
          .transaction(async (transaction) => {
            await transaction.query('select 1 from webhook_flows for update');
            isHeld = true;
            resolve();
            await new Promise<void>((done) => {
              letGo = done;
            });
          })
          .catch(reject);
      });
    const receiver = await openReceiver((response, before) => {
      if (before === 0) void hold().then(() => response.end());
      else response.end();
    });
    await addEndpoint(database, workspace, { url: receiver.url, maxConcurrency: 1 });
    await fiveEvents(database, workspace);
    const doomed = await startWorker();
    await expect.poll(() => isHeld, TAKEN_OVER).toBe(true);
    await expect
      .poll(
        () => database.query(`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%webhook_flows%'`),
        TAKEN_OVER,
      )
      .not.toEqual([]);
    await doomed.kill9();
    letGo();
    await startWorker();
    await expect.poll(() => leftBehind(database), TAKEN_OVER).toEqual(NOTHING);
    // What had reached the database before the kill counts; the first one had not, unless the lock came free just in time.
    const times = timesReceived(receiver);
    expect(times.get('1')).toBeLessThanOrEqual(2);
    expect([...times.keys()].sort()).toEqual(['1', '2', '3', '4', '5']);
    expect(receiver.received.length).toBeLessThanOrEqual(EVENTS + 1);
  });
});

describe.skipIf(!hasPostgres)('two workers, kills and a restart of the database (needs PostgreSQL)', () => {
  test('everything arrives, nothing more often than it was claimed, and nothing is left behind (I-24)', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const { database, startWorker } = await openScene(server.url);
    await database.query('create table leases (event_seq bigint, endpoint_id uuid, lease_token uuid)');
    await database.query(
      `create function note_lease() returns trigger language plpgsql as $$
       begin insert into leases values (new.event_seq, new.endpoint_id, new.lease_token); return null; end $$`,
    );
    await database.query(
      `create trigger leases_noted after update on deliveries for each row
       when (new.lease_token is not null and new.lease_token is distinct from old.lease_token) execute function note_lease()`,
    );
    const workspace = await addWorkspace(database);
    const receivers: { receiver: Receiver; id: Uuid }[] = [];
    for (let i = 0; i < 4; i += 1) {
      const receiver = await openReceiver((response) => void setTimeout(() => response.end(), 20));
      const ordering = i === 0 ? 'project' : 'none';
      receivers.push({ receiver, id: (await addEndpoint(database, workspace, { url: receiver.url, ordering, maxConcurrency: 8 })).id });
    }
    const perRound = 60;
    let workers = await Promise.all([startWorker(), startWorker()]);
    for (let round = 0; round < 3; round += 1) {
      await addEvents(database, workspace, Array(perRound).fill('project.created'), (n) => (n % 2 === 0 ? null : workspace));
      const before = receivers[1]?.receiver.received.length as number;
      await expect.poll(() => receivers[1]?.receiver.received.length, TAKEN_OVER).toBeGreaterThan(before + 5);
      if (round === 1) {
        await server.stop('fast');
        await server.start();
      } else {
        await workers[0]?.kill9();
        workers = [workers[1] as WorkerProcess, await startWorker()];
      }
    }
    await expect.poll(() => leftBehind(database).catch(() => null), TAKEN_OVER).toEqual(NOTHING);
    const leases = await database.query<{ event_seq: bigint; endpoint_id: Uuid; n: number }>(
      'select event_seq, endpoint_id, count(*)::integer as n from leases group by 1, 2',
    );
    for (const { receiver, id } of receivers) {
      const times = timesReceived(receiver);
      expect(times.size).toBe(3 * perRound);
      for (const { event_seq, n } of leases.filter((lease) => lease.endpoint_id === id))
        expect(times.get(String(event_seq))).toBeLessThanOrEqual(n);
    }
    for (const worker of workers) expect((await worker.stop()).code).toBe(0);
  }, 180_000);
});
