// Delivery end to end: events in the database, workers, and receivers on real sockets that verify what they get.
// Waits for conditions, never for the clock; where time must pass, the worker's clock is moved.

import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { encodeId, type Uuid } from '../src/domain/ids.ts';
import type { Database } from '../src/store/database.ts';
import { claimDue } from '../src/store/deliveries-queue.ts';
import { createSafeFetch, MAX_ANSWER_BYTES, type Send } from '../src/webhooks/safe-fetch.ts';
import { EVENTS_CHANNEL, eventsPayload } from '../src/webhooks/spread.ts';
import { createDeliveryWorker, type DeliveryWorker, type DeliveryWorkerOptions } from '../src/webhooks/worker.ts';
import { openDatabase } from './support/databases.ts';
import { addEndpoint, addEvents, addWorkspace, cipher, disableEndpoint, newId, openReceiver } from './support/webhook-fixtures.ts';

let database: Database;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.close());

/** A clock that runs, and can be moved on. */
function makeClock(): { now: () => Date; advance: (ms: number) => void } {
  let ahead = 0;
  return { now: () => new Date(Date.now() + ahead), advance: (ms) => void (ahead += ms) };
}

interface Harness extends DeliveryWorker {
  readonly advance: (ms: number) => void;
  readonly errors: string[];
}

/** A started worker, stopped when the test ends; what it leaves is cancelled, so that it is in nobody's way. */
async function startWorker(options: Partial<DeliveryWorkerOptions> & { timeoutMs?: number } = {}): Promise<Harness> {
  const clock = makeClock();
  const errors: string[] = [];
  const sender = createSafeFetch({ policy: 'any', timeoutMs: options.timeoutMs ?? 5_000 });
  const log = { info() {}, warn: (_fields: object, message: string) => void errors.push(message), error: (_fields: object, message: string) => void errors.push(message) };
  const worker = createDeliveryWorker({
    database, cipher, send: sender.send, disableEndpoint: disableEndpoint(database), now: clock.now, random: () => 0.5, newId, version: '1.2.3', log, ...options,
  });
  onTestFinished(async () => {
    await worker.stop();
    await sender.close();
    await database.query(`update webhook_endpoints set status = 'disabled'`);
    await database.query(`update deliveries set status = 'cancelled', next_attempt_at = null where status = 'pending'`);
  });
  await worker.start();
  return { ...worker, advance: clock.advance, errors };
}

interface DeliveryRow {
  status: string;
  attempts: number;
  log: { status_code: number | null; error: string | null; response_body: string | null }[] | null;
}

const deliveriesOf = (endpointId: Uuid): Promise<DeliveryRow[]> =>
  database.query<DeliveryRow>(
    `select d.status, d.attempts, (select json_agg(json_build_object('status_code', a.status_code, 'error', a.error, 'response_body', a.response_body) order by a.number)
       from delivery_attempts a where a.workspace_id = d.workspace_id and a.delivery_id = d.id) as log
     from deliveries d where d.endpoint_id = $1 order by d.event_seq`,
    [endpointId],
  );

const until = (condition: () => boolean | Promise<boolean>): Promise<void> =>
  vi.waitFor(async () => expect(await condition()).toBe(true), { timeout: 10_000, interval: 5 });

describe('a healthy receiver', () => {
  test('gets each event once, signed, in order, with every header, and the body to the byte', async () => {
    const workspace = await addWorkspace(database);
    const receiver = await openReceiver();
    const { id, secret } = await addEndpoint(database, workspace, { url: `${receiver.url}?k=1` });
    await addEvents(database, workspace, ['project.created', 'milestone.created', 'milestone.submitted']);
    const worker = await startWorker({ perEndpoint: 1 });
    await worker.idle();
    const events = await database.query<{ id: Uuid; body: string }>('select id, body from events where workspace_id = $1 and seq <> 2 order by seq', [workspace]);
    expect(receiver.received.map(({ body }) => body)).toEqual(events.map(({ body }) => body));
    const webhook = new Webhook(secret);
    for (const [i, { headers, body, path }] of receiver.received.entries()) {
      expect(webhook.verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body));
      expect(path).toBe('/hook?k=1');
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'user-agent': 'Tranche/1.2.3',
        'webhook-id': encodeId('event', events[i]?.id as Uuid),
        'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
        'tranche-seq': String([1, 3][i]),
        'tranche-attempt': '1',
      });
      expect(headers['tranche-prev-seq']).toBe([undefined, '1'][i]);
    }
    expect(await deliveriesOf(id)).toEqual(Array(2).fill({ status: 'succeeded', attempts: 1, log: [{ status_code: 200, error: null, response_body: '' }] }));
    expect(worker.errors).toEqual([]);
    expect(worker.status()).toMatchObject({ lastError: null, inFlight: 0, lastRunAt: expect.any(Date) });
  });

  test('is told at once by a notification, with the workspaces named or not, and without one by the poll', async () => {
    const workspace = await addWorkspace(database);
    const receiver = await openReceiver();
    await addEndpoint(database, workspace, { url: receiver.url });
    const notified = await startWorker({ pollMs: 3_600_000 });
    await notified.idle();
    await addEvents(database, workspace, ['project.created']);
    await database.notify(EVENTS_CHANNEL, eventsPayload([workspace]));
    await until(() => receiver.received.length === 1);
    await addEvents(database, workspace, ['project.created']);
    await database.notify(EVENTS_CHANNEL, eventsPayload(Array(300).fill(workspace)));
    await until(() => receiver.received.length === 2);
    await notified.stop();
    await startWorker({ pollMs: 20 });
    await addEvents(database, workspace, ['project.created']);
    await until(() => receiver.received.length === 3);
  });

  test('verifies with the old and the new secret while it rotates, and not with one that has expired', async () => {
    const workspace = await addWorkspace(database);
    const receiver = await openReceiver();
    const [older, expired] = ['whsec_b2xkb2xkb2xkb2xkb2xkb2xkb2xkb2xk', 'whsec_ZXhwaXJlZGV4cGlyZWRleHBpcmVkZXhw'];
    const { id, secret } = await addEndpoint(database, workspace, { url: receiver.url });
    const secrets = [
      { sealed: cipher.seal(secret, id), expires_at: null },
      { sealed: cipher.seal(older, id), expires_at: new Date(Date.now() + 60_000) },
      { sealed: cipher.seal(expired, id), expires_at: new Date(Date.now() - 1) },
    ];
    await database.query('update webhook_endpoints set secrets = $2 where id = $1', [id, JSON.stringify(secrets)]);
    await addEvents(database, workspace, ['project.created']);
    await (await startWorker()).idle();
    const { body, headers } = receiver.received[0] as { body: string; headers: Record<string, string> };
    for (const valid of [secret, older]) expect(new Webhook(valid).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(expired).verify(body, headers)).toThrow();
  });
});

describe('a receiver that fails', () => {
  test('500 then 200: the same id and body again, freshly signed, as attempt 2', async () => {
    const workspace = await addWorkspace(database);
    const receiver = await openReceiver((response, before) => void response.writeHead(before === 0 ? 500 : 200).end(`answer ${before}`));
    const { id, secret } = await addEndpoint(database, workspace, { url: receiver.url });
    await addEvents(database, workspace, ['project.created']);
    const worker = await startWorker();
    await worker.idle();
    expect(await deliveriesOf(id)).toMatchObject([{ status: 'pending', attempts: 1 }]);
    worker.advance(5_000);
    await worker.idle();
    const [first, second] = receiver.received;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect([first?.headers['tranche-attempt'], second?.headers['tranche-attempt']]).toEqual(['1', '2']);
    expect(second?.headers['webhook-timestamp']).not.toBe(first?.headers['webhook-timestamp']);
    expect(new Webhook(secret).verify(second?.body ?? '', second?.headers as Record<string, string>)).toBeTruthy();
    expect(await deliveriesOf(id)).toEqual([
      {
        status: 'succeeded',
        attempts: 2,
        log: [
          { status_code: 500, error: null, response_body: 'answer 0' },
          { status_code: 200, error: null, response_body: 'answer 1' },
        ],
      },
    ]);
  });

  test('the whole schedule is used up, then the delivery has failed and nothing more is sent', async () => {
    const workspace = await addWorkspace(database);
    const receiver = await openReceiver((response) => void response.writeHead(503).end());
    const { id } = await addEndpoint(database, workspace, { url: receiver.url });
    await addEvents(database, workspace, ['project.created']);
    const worker = await startWorker();
    for (let day = 0; day < 12; day++) {
      await worker.idle();
      worker.advance(24 * 3_600_000);
    }
    expect(receiver.received).toHaveLength(10);
    expect(await deliveriesOf(id)).toMatchObject([{ status: 'failed', attempts: 10 }]);
  });

  test('a redirect is a failure and is not followed', async () => {
    const workspace = await addWorkspace(database);
    const receiver = await openReceiver((response) => void response.writeHead(301, { location: '/elsewhere' }).end());
    const { id } = await addEndpoint(database, workspace, { url: receiver.url });
    await addEvents(database, workspace, ['project.created']);
    await (await startWorker()).idle();
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
    expect(await deliveriesOf(id)).toMatchObject([{ status: 'pending', attempts: 1, log: [{ status_code: 301 }] }]);
  });

  test('410 ends the delivery, disables the endpoint with a reason and cancels what waited for it', async () => {
    const workspace = await addWorkspace(database);
    const receiver = await openReceiver((response) => void response.writeHead(410).end());
    const { id } = await addEndpoint(database, workspace, { url: receiver.url });
    await addEvents(database, workspace, ['project.created', 'project.created', 'project.created']);
    await (await startWorker({ perEndpoint: 1 })).idle();
    expect(receiver.received).toHaveLength(1);
    expect((await deliveriesOf(id)).map(({ status }) => status)).toEqual(['failed', 'cancelled', 'cancelled']);
    const endpoints = await database.query('select status, disabled_reason from webhook_endpoints where id = $1', [id]);
    expect(endpoints).toEqual([{ status: 'disabled', disabled_reason: 'The endpoint answered 410 Gone.' }]);
  });

  test.each([
    ['hangs', () => {}, 'timeout: no answer arrived in time'],
    ['resets the connection', (_r: unknown, _n: number, socket: { resetAndDestroy(): void }) => socket.resetAndDestroy(), 'connection_reset: the connection was closed before an answer arrived'],
  ] as const)('one that %s: the attempts log says so, and it is retried', async (_case, answer, error) => {
    const workspace = await addWorkspace(database);
    const receiver = await openReceiver(answer);
    const { id } = await addEndpoint(database, workspace, { url: receiver.url });
    await addEvents(database, workspace, ['project.created']);
    await (await startWorker({ timeoutMs: 100 })).idle();
    expect(await deliveriesOf(id)).toEqual([{ status: 'pending', attempts: 1, log: [{ status_code: null, error, response_body: null }] }]);
  });

  test('a huge answer and one that drips for ever are cut off; their 200 acknowledges all the same', async () => {
    const workspace = await addWorkspace(database);
    const huge = await openReceiver((response) => void response.end('é'.repeat(1_000_000)));
    const dripping = await openReceiver((response) => {
      response.write('.');
      const timer = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(timer));
    });
    const endpoints = [await addEndpoint(database, workspace, { url: huge.url }), await addEndpoint(database, workspace, { url: dripping.url })];
    await addEvents(database, workspace, ['project.created']);
    await (await startWorker({ timeoutMs: 300 })).idle();
    const [cut, dripped] = [await deliveriesOf(endpoints[0]?.id as Uuid), await deliveriesOf(endpoints[1]?.id as Uuid)];
    expect(cut).toMatchObject([{ status: 'succeeded', log: [{ status_code: 200 }] }]);
    expect(Buffer.byteLength(cut[0]?.log?.[0]?.response_body ?? '')).toBe(MAX_ANSWER_BYTES);
    expect(dripped).toMatchObject([{ status: 'succeeded', log: [{ status_code: 200, response_body: expect.stringMatching(/^\.+$/) }] }]);
  });

  test('a secret that cannot be opened is reported in the log, sends nothing and follows the schedule', async () => {
    const workspace = await addWorkspace(database);
    const receiver = await openReceiver();
    const { id } = await addEndpoint(database, workspace, { url: receiver.url, secrets: [{ sealed: cipher.seal('whsec_x', 'another'), expiresAt: null }] });
    await addEvents(database, workspace, ['project.created']);
    const worker = await startWorker();
    await worker.idle();
    expect(receiver.received).toEqual([]);
    expect(await deliveriesOf(id)).toMatchObject([{ status: 'pending', attempts: 1, log: [{ error: expect.stringMatching(/^not_sent: /) }] }]);
    expect(worker.errors).toEqual(['webhook could not be sent']);
  });
});

describe('several receivers and several workers', () => {
  test('a receiver that hangs does not hold up the deliveries of another', async () => {
    const workspace = await addWorkspace(database);
    const [hanging, healthy] = [await openReceiver(() => {}), await openReceiver()];
    await addEndpoint(database, workspace, { url: hanging.url });
    await addEndpoint(database, workspace, { url: healthy.url });
    await addEvents(database, workspace, Array(30).fill('project.created'));
    const worker = await startWorker({ concurrency: 4, perEndpoint: 2, drainMs: 1 });
    await until(() => healthy.received.length === 30);
    expect(hanging.received.length).toBe(2);
    expect(worker.status().inFlight).toBeGreaterThanOrEqual(2);
  });

  test('two workers on one database deliver each event once', async () => {
    const workspace = await addWorkspace(database);
    const receivers = [await openReceiver(), await openReceiver()];
    for (const receiver of receivers) await addEndpoint(database, workspace, { url: receiver.url });
    const workers = [await startWorker(), await startWorker()];
    for (let i = 0; i < 10; i++) {
      await addEvents(database, workspace, Array(10).fill('project.created'));
      await database.notify(EVENTS_CHANNEL, eventsPayload([workspace]));
    }
    await until(() => receivers.every((receiver) => receiver.received.length >= 100));
    await Promise.all(workers.map((worker) => worker.idle()));
    for (const receiver of receivers) {
      const sequences = receiver.received.map(({ headers }) => Number(headers['tranche-seq'])).sort((a, b) => a - b);
      expect(sequences).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
    }
  });

  test('a worker that died between claiming and recording loses nothing: after the lease another delivers, with the same id', async () => {
    const workspace = await addWorkspace(database);
    const receiver = await openReceiver();
    const { id } = await addEndpoint(database, workspace, { url: receiver.url });
    await addEvents(database, workspace, ['project.created']);
    const dying = await startWorker({ send: () => new Promise<never>(() => {}), drainMs: 1 });
    await until(() => dying.status().inFlight === 1);
    await dying.stop();
    const worker = await startWorker();
    await worker.idle();
    expect(receiver.received).toHaveLength(0);
    worker.advance(60_000);
    await worker.idle();
    expect(receiver.received.map(({ headers }) => headers['tranche-attempt'])).toEqual(['1']);
    expect(await deliveriesOf(id)).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
  });

  test('a result that comes after another worker took over is dropped', async () => {
    const workspace = await addWorkspace(database);
    const { id } = await addEndpoint(database, workspace);
    await addEvents(database, workspace, ['project.created']);
    let answer: (() => void) | undefined;
    const send: Send = () =>
      new Promise((resolve) => {
        answer = () => resolve({ kind: 'answered', statusCode: 500, retryAfter: null, body: '' });
      });
    const late = await startWorker({ send });
    await until(() => answer !== undefined);
    const later = new Date(Date.now() + 61_000);
    expect(await claimDue(database, { limit: 1, perEndpoint: 1, inFlight: new Map(), leaseMs: 60_000, now: later, newToken: newId })).toHaveLength(1);
    answer?.();
    await late.idle();
    expect(late.errors).toEqual(['webhook results came after their lease was lost']);
    expect(await deliveriesOf(id)).toEqual([{ status: 'pending', attempts: 0, log: null }]);
  });
});

describe('the worker itself', () => {
  test('stop lets the attempts under way finish, records them, and claims no more', async () => {
    const workspace = await addWorkspace(database);
    const answers: (() => void)[] = [];
    const receiver = await openReceiver((response) => void answers.push(() => response.end()));
    const { id } = await addEndpoint(database, workspace, { url: receiver.url });
    await addEvents(database, workspace, ['project.created', 'project.created', 'project.created']);
    const worker = await startWorker({ perEndpoint: 2 });
    await until(() => answers.length === 2);
    const stopped = worker.stop();
    for (const answer of answers) answer();
    await stopped;
    expect((await deliveriesOf(id)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'pending']);
    expect(receiver.received).toHaveLength(2);
    await expect(worker.idle()).rejects.toThrow(/stopped/);
  });

  test('an error of the database is logged and shown, and the work goes on after a pause', async () => {
    const workspace = await addWorkspace(database);
    const receiver = await openReceiver();
    const { id } = await addEndpoint(database, workspace, { url: receiver.url });
    const failing = new Set(['recursive waiting', 'insert into delivery_attempts']);
    const shaky: Database = {
      ...database,
      listen: (channel, onNotify) => database.listen(channel, onNotify),
      transaction: (work) => database.transaction(work),
      query(text, parameters) {
        const found = [...failing].find((part) => text.includes(part));
        if (found === undefined) return database.query(text, parameters);
        failing.delete(found);
        return Promise.reject(new Error('gone away'));
      },
    };
    await addEvents(database, workspace, ['project.created']);
    const worker = await startWorker({ database: shaky, errorPauseMs: 50 });
    await until(() => worker.status().lastError === 'gone away');
    await worker.idle();
    expect(receiver.received).toHaveLength(1);
    expect(await deliveriesOf(id)).toMatchObject([{ status: 'succeeded' }]);
    expect(worker.errors).toEqual(['webhook worker failed and goes on after a pause', 'webhook results could not be written']);
    expect(worker.status().lastError).toBeNull();
  });

  test('an idle worker asks the database twice a poll and writes nothing', async () => {
    const statements: string[] = [];
    const counted: Database = {
      ...database,
      listen: (channel, onNotify) => database.listen(channel, onNotify),
      transaction: () => Promise.reject(new Error('no transaction')),
      query: (text, parameters) => {
        statements.push(text);
        return database.query(text, parameters);
      },
    };
    const before = await startWorker();
    await before.idle();
    await before.stop();
    const worker = await startWorker({ database: counted, pollMs: 3_600_000 });
    await worker.idle();
    statements.length = 0;
    await worker.idle();
    expect(statements).toHaveLength(2);
    expect(worker.errors).toEqual([]);
  });
});
