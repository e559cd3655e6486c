// What tests of webhooks stand on: workspaces, events and endpoints as rows, and receivers on real sockets.
// Goes round the commands on purpose, so that delivery is tested by itself.

import { randomBytes, randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, vi } from 'vitest';
import { unharmed } from '../../src/domain/endpoint-flow.ts';
import { type EventType, GENESIS_HASH } from '../../src/domain/event.ts';
import { createIdGenerator, type Uuid } from '../../src/domain/ids.ts';
import type { WebhookEndpoint } from '../../src/domain/webhook-endpoint.ts';
import { createCipher } from '../../src/store/cipher.ts';
import type { Database, Queryable } from '../../src/store/database.ts';
import { eventTable } from '../../src/store/events.ts';
import { insertRows } from '../../src/store/tables.ts';
import { webhookEndpointTable } from '../../src/store/webhook-endpoints.ts';
import type { GoneEndpoint } from '../../src/webhooks/in-flight.ts';
import { createSafeFetch } from '../../src/webhooks/safe-fetch.ts';
import { makeSigningSecret } from '../../src/webhooks/sign.ts';
import { createDeliveryWorker, type DeliveryWorker, type DeliveryWorkerOptions } from '../../src/webhooks/worker.ts';
import { type OpenDatabase, type TestDatabase, testDatabases } from './databases.ts';

const random = (bytes: Uint8Array): void => void randomFillSync(bytes);
export const newId = createIdGenerator(Date.now, random);
export const cipherKey = randomBytes(32);
export const cipher = createCipher(cipherKey);

/** Runs the suite on every database there is; the function it is handed gives that database to a test. */
export function onEachDatabase(name: string, suite: (database: () => Database, kind: TestDatabase['name']) => void): void {
  for (const kind of testDatabases) {
    describe.skipIf(!kind.available)(`${name}, ${kind.name}${kind.available ? '' : ` (skipped: ${kind.reason})`}`, () => {
      let opened: OpenDatabase | undefined;
      beforeAll(async () => {
        opened = await kind.open();
      });
      afterAll(() => opened?.close());
      suite(() => {
        if (opened === undefined) throw new Error('The database is open only while tests run.');
        return opened.database;
      }, kind.name);
    });
  }
}

export async function addWorkspace(database: Database): Promise<Uuid> {
  const [id, now] = [newId(), new Date()];
  await database.query(`insert into workspaces (id, name, default_currency, created_at) values ($1, 'Test', 'USD', $2)`, [id, now]);
  await database.query('insert into workspace_heads (workspace_id, event_hash, last_time) values ($1, $2, $3)', [id, GENESIS_HASH, now]);
  return id;
}

/** Appends events as a commit does: with the next sequence numbers and the head moved along, in one transaction. */
export function addEvents(
  database: Database,
  workspaceId: Uuid,
  types: readonly EventType[],
  projectOf: (index: number) => Uuid | null = newId,
): Promise<number[]> {
  return database.transaction(async (transaction) => {
    const heads = await transaction.query<{ event_seq: bigint }>(
      'select event_seq from workspace_heads where workspace_id = $1 for no key update',
      [workspaceId],
    );
    const last = Number(heads[0]?.event_seq);
    const events = types.map((type, i) => ({
      workspaceId,
      seq: last + 1 + i,
      id: newId(),
      type,
      projectId: projectOf(i),
      body: JSON.stringify({ event: type, data: { n: last + 1 + i, name: 'Größe 📐' } }),
      hash: GENESIS_HASH,
      createdAt: new Date(),
    }));
    await insertRows(transaction, eventTable, events);
    await transaction.query('update workspace_heads set event_seq = $2 where workspace_id = $1', [workspaceId, last + types.length]);
    return events.map((event) => event.seq);
  });
}

export async function addEndpoint(
  database: Database,
  workspaceId: Uuid,
  fields: Partial<WebhookEndpoint> & { url?: string } = {},
): Promise<{ id: Uuid; secret: string }> {
  const [id, now, secret] = [newId(), new Date(), makeSigningSecret(random)];
  await insertRows(database, webhookEndpointTable, [
    {
      id,
      workspaceId,
      url: 'http://127.0.0.1:9/',
      description: null,
      eventTypes: null,
      status: 'enabled',
      disabledReason: null,
      disabledCause: null,
      secrets: [{ sealed: cipher.seal(secret, id), expiresAt: null }],
      signatureSchemes: ['v1'],
      signingKeys: [],
      headers: [],
      maxConcurrency: 16,
      rateLimitPerSecond: null,
      ordering: 'none',
      generation: 1,
      health: unharmed,
      afterSeq: 0,
      version: 1,
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
      ...fields,
    },
  ]);
  return { id, secret };
}

export function disableEndpoint(database: Database): (gone: GoneEndpoint) => Promise<void> {
  return async ({ workspaceId, endpointId, reason }) => {
    await database.query(`update webhook_endpoints set status = 'disabled', disabled_reason = $3 where workspace_id = $1 and id = $2`, [
      workspaceId,
      endpointId,
      reason,
    ]);
  };
}

/** The database, but statements that `fault` finds an error for fail with it. Private fields forbid to inherit, so calls are bound to the real one. */
export function intercepted(real: Database, fault: (text: string) => Error | null): Database {
  const query =
    (queryable: Queryable) =>
    <Row>(text: string, parameters?: readonly unknown[]): Promise<Row[]> => {
      const error = fault(text);
      return error === null ? queryable.query<Row>(text, parameters) : Promise.reject(error);
    };
  return new Proxy(real, {
    get(target, name) {
      if (name === 'query') return query(target);
      if (name === 'transaction')
        return <T>(work: (transaction: Queryable) => Promise<T>) =>
          target.transaction((transaction) => work({ query: query(transaction) }));
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** What the endpoint's flow counts as under way, which is the number of its leases. */
export async function inFlightOf(database: Database, endpointId: Uuid): Promise<number> {
  const rows = await database.query<{ in_flight: number; leased: number }>(
    `select f.in_flight, (select count(*)::integer from deliveries d where d.endpoint_id = f.endpoint_id and d.status = 'pending' and d.lease_token is not null) as leased
     from webhook_flows f where f.endpoint_id = $1`,
    [endpointId],
  );
  const { in_flight, leased } = rows[0] as { in_flight: number; leased: number };
  expect(in_flight).toBe(leased);
  return in_flight;
}

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
}

/** A receiver on loopback. `answer` sees the request whole and how many came before; by default each is acknowledged with 200. */
export async function openReceiver(
  answer: (response: ServerResponse, before: number, socket: Socket) => void = (r) => void r.end(),
): Promise<Receiver> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() });
    answer(response, received.length - 1, request.socket);
  });
  server.on('connection', (socket: Socket) => void sockets.add(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received };
}

/** A clock that runs, and can be moved on. */
function makeClock(): { now: () => Date; advance: (ms: number) => void } {
  let ahead = 0;
  return { now: () => new Date(Date.now() + ahead), advance: (ms) => void (ahead += ms) };
}

export interface TestWorker extends DeliveryWorker {
  readonly advance: (ms: number) => void;
  readonly now: () => Date;
  readonly errors: string[];
}

/** A started worker, stopped when the test ends; what it leaves is cancelled, so that it is in nobody's way. */
export async function startWorker(
  database: Database,
  options: Partial<DeliveryWorkerOptions> & { timeoutMs?: number } = {},
): Promise<TestWorker> {
  const clock = makeClock();
  const errors: string[] = [];
  const sender = createSafeFetch({ policy: 'any', timeoutMs: options.timeoutMs ?? 5_000 });
  const log = pino({ level: 'warn' }, { write: (line: string) => void errors.push((JSON.parse(line) as { msg: string }).msg) });
  const worker = createDeliveryWorker({
    database,
    cipher,
    send: sender.send,
    disableEndpoint: disableEndpoint(database),
    now: clock.now,
    random: () => 0.5,
    newId,
    version: '1.2.3',
    log,
    ...options,
  });
  onTestFinished(async () => {
    await worker.stop();
    await sender.close();
    await database.query(`update webhook_endpoints set status = 'disabled'`);
    await database.query(`update deliveries set status = 'cancelled', next_attempt_at = null where status = 'pending'`);
  });
  await worker.start();
  return { ...worker, advance: clock.advance, now: clock.now, errors };
}

export interface DeliveryRow {
  status: string;
  attempts: number;
  log: { status_code: number | null; error: string | null; response_body: string | null }[] | null;
}

/** The deliveries to an endpoint with their attempts, in the order of the events. */
export const deliveriesOf = (database: Database, endpointId: Uuid): Promise<DeliveryRow[]> =>
  database.query<DeliveryRow>(
    `select d.status, d.attempts, (select json_agg(json_build_object('status_code', a.status_code, 'error', a.error, 'response_body', a.response_body) order by a.number)
       from delivery_attempts a where a.workspace_id = d.workspace_id and a.delivery_id = d.id) as log
     from deliveries d where d.endpoint_id = $1 order by d.event_seq`,
    [endpointId],
  );

export const until = (condition: () => boolean | Promise<boolean>): Promise<void> =>
  vi.waitFor(async () => expect(await condition()).toBe(true), { timeout: 20_000, interval: 5 });
