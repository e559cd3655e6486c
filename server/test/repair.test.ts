// Repair through the API with real receivers: one delivery or many, again and again, made up for, cancelled, stopped, over restarts.
// What each route refuses by itself is in the contract tests.

import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { decodeId, encodeId, type Uuid } from '../src/domain/ids.ts';
import { deliveryAskWrites } from '../src/store/delivery-asks.ts';
import { listDeliveries } from '../src/store/delivery-lists.ts';
import { fanOut } from '../src/store/fan-out.ts';
import { createRepairRunner } from '../src/webhooks/repair-runner.ts';
import { DUE_CHANNEL } from '../src/webhooks/spread.ts';
import { type Json, openTestApp, type TestApp, type TestAppOptions } from './support/app.ts';
import { hasPostgres } from './support/server-process.ts';
import {
  addEndpoint,
  addEvents,
  addWorkspace,
  intercepted,
  newId,
  onEachDatabase,
  openReceiver,
  deliveriesOf as rowsOf,
  startWorker,
  until,
} from './support/webhook-fixtures.ts';

const databases = [
  { database: 'embedded' as const, available: true },
  { database: 'PostgreSQL' as const, available: hasPostgres },
];

async function openApp(options: TestAppOptions = {}): Promise<TestApp> {
  const app = await openTestApp({ deliver: true, ...options });
  onTestFinished(() => app.stop());
  return app;
}

const addProject = (app: TestApp, name = 'p'): Promise<Json> => app.ok('POST', '/v1/projects', { body: { name, client_id: 'c' } });
const deliveriesOf = async (app: TestApp, endpoint: Json, query = ''): Promise<Json[]> =>
  (await app.ok('GET', `/v1/webhook_endpoints/${endpoint.id}/deliveries?limit=100${query}`)).data;
const addReceiving = (app: TestApp, url: string): Promise<Json> => app.ok('POST', '/v1/webhook_endpoints', { body: { url } });

/** Every pending delivery that is not under way fails for good, as after its last attempt. */
const failPending = (app: TestApp): Promise<unknown> =>
  app.database.query(
    `update deliveries set status = 'failed', next_attempt_at = null, completed_at = now() where status = 'pending' and lease_token is null`,
  );

async function repair(app: TestApp, body: Json): Promise<Json> {
  const { id } = await app.ok('POST', '/v1/webhook_repairs', { body });
  await until(async () => (await app.ok('GET', `/v1/webhook_repairs/${id}`)).completed_at !== null);
  return app.ok('GET', `/v1/webhook_repairs/${id}`);
}

describe.each(databases)('repair, $database', ({ database, available }) => {
  test.skipIf(!available)(
    'a delivery is sent again as often as it is asked for, with the same id and body, whatever became of it',
    async () => {
      const app = await openApp({ database });
      let status = 500;
      const receiver = await openReceiver((response) => void response.writeHead(status).end());
      const endpoint = await addReceiving(app, receiver.url);
      await addProject(app);
      await until(() => receiver.received.length >= 1);
      await until(async () => (await deliveriesOf(app, endpoint))[0].attempts >= 1);
      await failPending(app);
      const [delivery] = await deliveriesOf(app, endpoint);
      status = 200;
      for (const time of [1, 2, 3]) {
        const before = receiver.received.length;
        const answer = await app.ok('POST', `/v1/deliveries/${delivery.id}/replay`);
        expect(answer).toMatchObject({ id: delivery.id, status: 'pending', completed_at: null });
        await until(() => receiver.received.length === before + 1);
        await until(async () => (await app.ok('GET', `/v1/deliveries/${delivery.id}`)).status === 'succeeded');
        const { attempts } = await app.ok('GET', `/v1/deliveries/${delivery.id}`);
        expect((await app.ok('GET', `/v1/deliveries/${delivery.id}/attempts`)).data, `time ${time}`).toHaveLength(attempts);
      }
      expect(new Set(receiver.received.map(({ headers, body }) => `${headers['webhook-id']} ${body}`)).size).toBe(1);
    },
  );

  test.skipIf(!available)('a delivery that waits for its next attempt is sent at once, and its schedule begins anew', async () => {
    const app = await openApp({ database });
    const receiver = await openReceiver((response, before) => void response.writeHead(before < 2 ? 500 : 200).end());
    const endpoint = await addReceiving(app, receiver.url);
    await addProject(app);
    await until(async () => (await deliveriesOf(app, endpoint))[0]?.attempts === 1);
    const [delivery] = await deliveriesOf(app, endpoint);
    await app.database.query(`update deliveries set tries = 8, next_attempt_at = now() + interval '20 hours' where lease_token is null`);
    await app.ok('POST', `/v1/deliveries/${delivery.id}/replay`);
    await until(async () => (await app.ok('GET', `/v1/deliveries/${delivery.id}`)).attempts === 2);
    const waits = Date.parse((await app.ok('GET', `/v1/deliveries/${delivery.id}`)).next_attempt_at) - Date.now();
    expect(waits).toBeLessThan(7_000);
  });

  test.skipIf(!available)(
    'what is asked for while an attempt is under way follows when it has failed, and not when it was acknowledged',
    async () => {
      const app = await openApp({ database });
      const held: ServerResponse[] = [];
      const receiver = await openReceiver((response) => void held.push(response));
      const endpoint = await addReceiving(app, receiver.url);
      // By itself the next attempt would be an hour away.
      const answer = (status: number): unknown => held.shift()?.writeHead(status, { 'retry-after': '3600' }).end();
      const next = async (): Promise<Json> => {
        await addProject(app);
        await until(() => held.length === 1);
        return (await deliveriesOf(app, endpoint))[0];
      };
      const read = (id: string): Promise<Json> => app.ok('GET', `/v1/deliveries/${id}`);

      const again = await next();
      expect((await app.ok('POST', `/v1/deliveries/${again.id}/replay`)).status).toBe('pending');
      answer(500);
      await until(() => held.length === 1);
      expect(receiver.received.at(-1)?.headers['tranche-attempt']).toBe('2');
      expect((await app.ok('POST', `/v1/deliveries/${again.id}/replay`)).status).toBe('pending');
      answer(200);
      await until(async () => (await read(again.id)).status === 'succeeded');
      expect((await read(again.id)).attempts).toBe(2);

      const dropped = await next();
      expect((await app.ok('POST', `/v1/deliveries/${dropped.id}/cancel`)).status).toBe('pending');
      answer(500);
      await until(async () => (await read(dropped.id)).status === 'cancelled');
      expect((await app.ok('GET', `/v1/deliveries/${dropped.id}/attempts`)).data).toMatchObject([{ status_code: 500 }]);

      const arrived = await next();
      await repair(app, { action: 'cancel', endpoint_id: endpoint.id });
      answer(200);
      await until(async () => (await read(arrived.id)).status === 'succeeded');
      expect(held).toEqual([]);
    },
  );

  test.skipIf(!available)('what is asked for is sent, and the server is well, although the clock of the machine jumped ahead', async () => {
    const app = await openApp({ database });
    const receiver = await openReceiver();
    const endpoint = await addReceiving(app, receiver.url);
    await addProject(app);
    await until(async () => (await deliveriesOf(app, endpoint))[0]?.status === 'succeeded');
    const [delivery] = await deliveriesOf(app, endpoint);
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 });
    await app.ok('POST', `/v1/deliveries/${delivery.id}/replay`);
    await until(() => receiver.received.length === 2);
    await until(async () => (await deliveriesOf(app, endpoint))[0].status === 'succeeded');
    await repair(app, { action: 'replay', endpoint_id: endpoint.id, statuses: ['succeeded'] });
    await until(() => receiver.received.length === 3);
    for (const path of ['/healthz', '/readyz']) expect((await app.call('GET', path, { key: null })).status).toBe(200);
  });

  test.skipIf(!available)('a dry run says how many there are, a replay sends just those, and can be asked for again', async () => {
    const app = await openApp({ database });
    let status = 500;
    const receiver = await openReceiver((response) => void response.writeHead(status).end());
    const endpoint = await addReceiving(app, receiver.url);
    const other = await addReceiving(app, 'http://127.0.0.1:9/');
    const projects = [await addProject(app, 'a'), await addProject(app, 'b'), await addProject(app, 'c')];
    await until(async () => (await deliveriesOf(app, endpoint)).filter(({ attempts }) => attempts > 0).length === 3);
    await until(async () => (await deliveriesOf(app, other)).filter(({ attempts }) => attempts > 0).length === 3);
    await failPending(app);
    const filter = { action: 'replay', endpoint_id: endpoint.id, event_types: ['project.created'], since: projects[1].created_at };
    const dry = await app.ok('POST', '/v1/webhook_repairs', { body: { ...filter, dry_run: true } });
    expect(dry).toMatchObject({ status: 'completed', dry_run: true, matched: 2, changed: 0, statuses: ['failed'] });
    const narrow = { action: 'replay', project_id: projects[2].id, until: new Date().toISOString(), dry_run: true };
    expect(await app.ok('POST', '/v1/webhook_repairs', { body: narrow })).toMatchObject({ matched: 2 });
    expect(await app.ok('POST', '/v1/webhook_repairs', { body: { ...narrow, until: projects[0].created_at } })).toMatchObject({
      matched: 0,
    });
    expect(await deliveriesOf(app, endpoint, '&status=failed')).toHaveLength(3);

    status = 200;
    const sent = receiver.received.length;
    expect(await repair(app, filter)).toMatchObject({ status: 'completed', matched: 2, changed: 2 });
    await until(async () => (await deliveriesOf(app, endpoint, '&status=succeeded')).length === 2);
    expect(receiver.received.length).toBe(sent + 2);
    expect(await deliveriesOf(app, other, '&status=failed')).toHaveLength(3);
    // By nature: what has succeeded is not failed any more, so the same request finds nothing; asked for by status, it is sent again.
    expect(await repair(app, filter)).toMatchObject({ matched: 0, changed: 0 });
    for (const time of [1, 2]) {
      expect(await repair(app, { ...filter, statuses: ['succeeded'] }), `time ${time}`).toMatchObject({ matched: 2, changed: 2 });
      await until(async () => (await deliveriesOf(app, endpoint, '&status=succeeded')).length === 2);
    }
    expect(receiver.received.length).toBe(sent + 6);
  });

  test.skipIf(!available)(
    'recovery brings what failed and what was never sent, in order and once, and nothing that arrived (I-26)',
    async () => {
      const app = await openApp({ database });
      const receiver = await openReceiver();
      const endpoint = await addReceiving(app, receiver.url);
      const first = await addProject(app, 'arrived');
      await until(async () => (await deliveriesOf(app, endpoint, '&status=succeeded')).length === 1);
      await app.ok('PATCH', `/v1/webhook_endpoints/${endpoint.id}`, { body: { status: 'disabled' } });
      for (const name of ['missed 1', 'missed 2', 'missed 3']) await addProject(app, name);
      const body = { action: 'recover', endpoint_id: endpoint.id, since: first.created_at };
      const refused = await app.call('POST', '/v1/webhook_repairs', { body });
      expect([refused.status, refused.body.code]).toEqual([409, 'endpoint_disabled']);
      await app.ok('PATCH', `/v1/webhook_endpoints/${endpoint.id}`, { body: { status: 'enabled' } });
      expect(await app.ok('POST', '/v1/webhook_repairs', { body: { ...body, dry_run: true } })).toMatchObject({ matched: 3, changed: 0 });
      expect(await repair(app, body)).toMatchObject({ status: 'completed', matched: 3, changed: 3 });
      await until(() => receiver.received.length === 4);
      await addProject(app, 'later');
      await until(() => receiver.received.length === 5);
      const seen = receiver.received.map(({ headers }) => [Number(headers['tranche-seq']), headers['tranche-prev-seq'] ?? null]);
      expect(seen.toSorted(([a], [b]) => Number(a) - Number(b)).slice(0, 4)).toEqual([
        [1, null],
        [2, '1'],
        [3, '2'],
        [4, '3'],
      ]);
      await until(async () => (await deliveriesOf(app, endpoint, '&status=succeeded')).length === 5);
      expect(await repair(app, body)).toMatchObject({ matched: 0, changed: 0 });
      await app.database.query(`update deliveries set status = 'failed' where event_seq = 2`);
      expect(await repair(app, body)).toMatchObject({ matched: 1, changed: 1 });
      await until(() => receiver.received.length === 6);
    },
  );

  test.skipIf(!available)('what is pending is cancelled, one or all, and is sent again only when asked for', async () => {
    const app = await openApp({ database });
    const receiver = await openReceiver((response) => void response.writeHead(500).end());
    const endpoint = await addReceiving(app, receiver.url);
    for (let n = 0; n < 3; n += 1) await addProject(app);
    await until(async () => (await deliveriesOf(app, endpoint)).filter(({ attempts }) => attempts === 1).length === 3);
    const [one] = await deliveriesOf(app, endpoint);
    for (const time of [1, 2]) expect((await app.ok('POST', `/v1/deliveries/${one.id}/cancel`)).status, `time ${time}`).toBe('cancelled');
    expect(await repair(app, { action: 'cancel', endpoint_id: endpoint.id })).toMatchObject({
      matched: 2,
      changed: 2,
      statuses: ['pending'],
    });
    expect((await deliveriesOf(app, endpoint)).map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect(await repair(app, { action: 'replay', statuses: ['cancelled'] })).toMatchObject({ changed: 3 });
    await until(async () => (await deliveriesOf(app, endpoint)).filter(({ attempts }) => attempts === 2).length === 3);
    expect(receiver.received).toHaveLength(6);
    await failPending(app);
    const over = await app.call('POST', `/v1/deliveries/${one.id}/cancel`);
    expect([over.status, over.body.code]).toEqual([409, 'invalid_transition']);
  });

  test.skipIf(!available)(
    'a hundred thousand deliveries are replayed step by step, across a restart, each once; the request answers at once (I-26)',
    async () => {
      const app = await openApp({ database, deliver: false });
      const count = database === 'embedded' ? 20_000 : 100_000;
      const endpoint = await app.ok('POST', '/v1/webhook_endpoints', { body: { url: 'http://127.0.0.1:9/' } });
      await addProject(app);
      await fillWithFailed(app, decodeId('webhook_endpoint', endpoint.id) as Uuid, count);
      const began = performance.now();
      const { id } = await app.ok('POST', '/v1/webhook_repairs', {
        body: { action: 'replay', endpoint_id: endpoint.id, statuses: ['failed', 'pending'] },
      });
      expect(performance.now() - began).toBeLessThan(1_000);
      const options = { database: app.database, now: () => new Date(), newId, log: app.service.app.log as never, restShare: 0 };
      const read = (): Promise<Json> => app.ok('GET', `/v1/webhook_repairs/${id}`);
      const first = createRepairRunner(options);
      await first.start();
      await until(async () => (await read()).changed > 2_000);
      await first.stop();
      const halfway = await read();
      expect([halfway.status, halfway.changed < count]).toEqual(['running', true]);
      const [second, third] = [createRepairRunner(options), createRepairRunner(options)];
      await Promise.all([second.start(), third.start()]);
      await expect.poll(async () => (await read()).status, { timeout: 60_000, interval: 50 }).toBe('completed');
      await Promise.all([second.stop(), third.stop()]);
      expect(await read()).toMatchObject({ matched: count, changed: count });
      const [row] = await app.database.query<{ due: number }>(
        `select count(*)::integer as due from deliveries where status = 'pending' and is_repeat and tries = 0`,
      );
      expect(row?.due).toBe(count);
    },
  );

  test.skipIf(!available)(
    'a repair that is stopped takes no further step, and one whose endpoint is disabled says why it ended',
    async () => {
      const app = await openApp({ database, deliver: false });
      const endpoint = await app.ok('POST', '/v1/webhook_endpoints', { body: { url: 'http://127.0.0.1:9/' } });
      await addProject(app);
      await fillWithFailed(app, decodeId('webhook_endpoint', endpoint.id) as Uuid, 3_000);
      const make = (): Promise<Json> => app.ok('POST', '/v1/webhook_repairs', { body: { action: 'replay', endpoint_id: endpoint.id } });
      const [stopped, orphaned] = [await make(), await make()];
      for (const time of [1, 2])
        expect(await app.ok('POST', `/v1/webhook_repairs/${stopped.id}/stop`), `time ${time}`).toMatchObject({
          status: 'stopped',
          stopped_reason: 'Stopped by a request.',
        });
      await app.ok('PATCH', `/v1/webhook_endpoints/${endpoint.id}`, { body: { status: 'disabled' } });
      const runner = createRepairRunner({ database: app.database, now: () => new Date(), newId, log: app.service.app.log as never });
      await runner.start();
      await until(async () => (await app.ok('GET', `/v1/webhook_repairs/${orphaned.id}`)).status === 'stopped');
      await runner.stop();
      expect(await app.ok('GET', `/v1/webhook_repairs/${orphaned.id}`)).toMatchObject({
        stopped_reason: 'The webhook endpoint was disabled.',
      });
      expect(await app.ok('GET', `/v1/webhook_repairs/${stopped.id}`)).toMatchObject({ matched: 0, changed: 0 });
    },
  );

  test.skipIf(!available)(
    'a list finds the one delivery among very many that matches, in pages that each look at so many and no more',
    async () => {
      const app = await openApp({ database, deliver: false });
      const { id } = await addEndpoint(app.database, app.workspaceId);
      await addProject(app);
      await fillWithFailed(app, id, 1_000);
      const [oldest] = await app.database.query<{ id: Uuid }>('select id from deliveries order by id limit 1');
      await app.database.query(`update deliveries set status = 'succeeded' where id = $1`, [oldest?.id]);
      let [pages, found, cursor]: [number, Uuid[], Uuid | undefined] = [0, [], undefined];
      do {
        const page = await listDeliveries(
          app.database,
          app.workspaceId,
          { status: 'succeeded' },
          { limit: 20, startingAfter: cursor },
          100,
        );
        found.push(...page.records.map((delivery) => delivery.id));
        pages += 1;
        cursor = page.resumeAt ?? undefined;
        expect(page.hasMore).toBe(cursor !== undefined);
      } while (cursor !== undefined && pages < 50);
      expect([found, pages]).toEqual([[oldest?.id], 11]);
      expect(encodeId('delivery', found[0] as Uuid)).toMatch(/^dlv_/);
    },
  );
});

onEachDatabase('what was made due again', (database) => {
  test('keeps its place among what belongs to no project, at an endpoint that asked for order', async () => {
    const workspaceId = await addWorkspace(database());
    const { id } = await addEndpoint(database(), workspaceId, { ordering: 'project' });
    await addEvents(database(), workspaceId, ['project.created'], () => null);
    await fanOut(database(), { workspaceIds: [workspaceId], limit: 1, newId, now: new Date() });
    const read = () => database().query<{ id: Uuid; order_key: Uuid }>('select id, order_key from deliveries where endpoint_id = $1', [id]);
    const before = await read();
    expect(before).toMatchObject([{ order_key: workspaceId }]);
    const asks = [{ workspaceId, id: before[0]?.id as Uuid, ask: 'replay' as const, at: new Date() }];
    for (const { text, parameters } of deliveryAskWrites(asks)) await database().query(text, parameters);
    expect(await read()).toEqual(before);
    await database().query(`update deliveries set status = 'cancelled', next_attempt_at = null where endpoint_id = $1`, [id]);
  });

  test('is sent as soon as it is told of, and not at the next look', async () => {
    const workspaceId = await addWorkspace(database());
    const receiver = await openReceiver();
    const { id } = await addEndpoint(database(), workspaceId, { url: receiver.url });
    await addEvents(database(), workspaceId, ['project.created']);
    // A poll so seldom that only a notification can be the reason.
    const worker = await startWorker(database(), { pollMs: 600_000 });
    await worker.idle();
    await until(async () => (await rowsOf(database(), id))[0]?.status === 'succeeded');
    await database().query(
      `update deliveries set status = 'pending', next_attempt_at = now(), completed_at = null where endpoint_id = $1`,
      [id],
    );
    await database().notify(DUE_CHANNEL, '');
    await until(() => receiver.received.length === 2);
  });
});

test('a step that fails is given back and taken again at once, by whoever is next', async () => {
  const app = await openApp({ deliver: false });
  const endpoint = await app.ok('POST', '/v1/webhook_endpoints', { body: { url: 'http://127.0.0.1:9/' } });
  await addProject(app);
  await fillWithFailed(app, decodeId('webhook_endpoint', endpoint.id) as Uuid, 10);
  const { id } = await app.ok('POST', '/v1/webhook_repairs', { body: { action: 'replay', endpoint_id: endpoint.id } });
  let failures = 0;
  const database = intercepted(app.database, (text) => {
    if (!text.includes('update webhook_repairs set status') || failures === 2) return null;
    failures += 1;
    return new Error('deadlock detected');
  });
  const log = app.service.app.log as never;
  const runner = createRepairRunner({ database, now: () => new Date(), newId, log, pollMs: 10, errorPauseMs: 1 });
  await runner.start();
  await until(async () => (await app.ok('GET', `/v1/webhook_repairs/${id}`)).status === 'completed');
  await runner.stop();
  expect([failures, (await app.ok('GET', `/v1/webhook_repairs/${id}`)).changed]).toEqual([2, 10]);
});

test('a step that was overtaken by a stop changes nothing', async () => {
  const app = await openApp({ deliver: false });
  const endpoint = await app.ok('POST', '/v1/webhook_endpoints', { body: { url: 'http://127.0.0.1:9/' } });
  await addProject(app);
  await fillWithFailed(app, decodeId('webhook_endpoint', endpoint.id) as Uuid, 10);
  const { id } = await app.ok('POST', '/v1/webhook_repairs', { body: { action: 'replay', endpoint_id: endpoint.id } });
  let steps = 0;
  // The stop arrives after the step was taken on and before it is carried out.
  const database = new Proxy(app.database, {
    get(target, name) {
      if (name !== 'transaction') return Reflect.get(target, name).bind(target);
      return async (work: Parameters<typeof target.transaction>[0]) => {
        await app.ok('POST', `/v1/webhook_repairs/${id}/stop`);
        return target.transaction(work).finally(() => (steps += 1));
      };
    },
  });
  const runner = createRepairRunner({ database, now: () => new Date(), newId, log: app.service.app.log as never });
  await runner.start();
  await until(() => steps === 1);
  await runner.stop();
  const [row] = await app.database.query<{ failed: number }>(`select count(*)::integer as failed from deliveries where status = 'failed'`);
  expect(row?.failed).toBe(10);
  expect(await app.ok('GET', `/v1/webhook_repairs/${id}`)).toMatchObject({ status: 'stopped', matched: 0, changed: 0 });
});

/** Failed deliveries of as many events, all rows, made by the database itself. */
async function fillWithFailed(app: TestApp, endpointId: Uuid, count: number): Promise<void> {
  await app.database.query(
    `insert into events (workspace_id, seq, id, type, project_id, body, hash, created_at)
     select $1, n + 1, gen_random_uuid(), 'project.created', $1, '{}', '\\x00', now() from generate_series(1, $2::integer) n`,
    [app.workspaceId, count],
  );
  await app.database.query(
    `insert into deliveries (workspace_id, id, endpoint_id, event_seq, status, attempts, tries, created_at, completed_at)
     select $1, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $3, n + 1, 'failed', 10, 10, now(), now()
     from generate_series(1, $2::integer) n`,
    [app.workspaceId, count, endpointId],
  );
  await app.database.query('analyze deliveries');
}
