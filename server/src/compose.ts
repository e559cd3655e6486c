// The composition root: with open-store.ts and the compose-*.ts that it calls, the only place that makes what everything else is handed.
// Plain function calls, no container; decides nothing about requests.

import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createKeyCache } from './accounts/key-cache.ts';
import { createKeyUses } from './accounts/key-uses.ts';
import { createRateLimit } from './accounts/rate-limit.ts';
import { composeDashboard, type DashboardConfig } from './compose-dashboard.ts';
import { composeDelivery, type Delivery, type DeliveryConfig } from './compose-delivery.ts';
import { composePeople, type PeopleConfig } from './compose-people.ts';
import { composeReplica, type ReplicaConfig } from './compose-replica.ts';
import { type Config, webhookNetwork } from './config.ts';
import { makeKeySecret } from './domain/api-key.ts';
import { closeServer, type Patience } from './http/close-server.ts';
import codeSamples from './http/code-samples.json' with { type: 'json' };
import { createEventStreams } from './http/event-streams.ts';
import { createLoadGate } from './http/load-gate.ts';
import { buildOpenApi } from './http/openapi.ts';
import { createReads } from './http/reads.ts';
import { createRepairs } from './http/repairs.ts';
import type { Route } from './http/route.ts';
import { allRoutes } from './http/routes/all.ts';
import { buildServer } from './http/server.ts';
import { registerWellKnown } from './http/well-known.ts';
import type { Writes } from './http/writes.ts';
import { clock, newId, random, type Store } from './open-store.ts';
import { KEYS_CHANNEL } from './operations/announcer.ts';
import { CHANGES_CHANNEL } from './operations/hint-announcer.ts';
import type { Operating } from './operations/operating.ts';
import { webhookPayloads } from './schemas/webhook-payloads.ts';
import { findKeysByHash, touchKeys } from './store/api-keys.ts';
import type { Database } from './store/database.ts';
import { listEvents } from './store/events.ts';
import { findLastSeqs } from './store/heads.ts';
import { findIdempotencyRecords } from './store/idempotency.ts';
import { takeLease } from './store/rate-leases.ts';
import { type KeyValidity, loadKeyValidity, type RecordKey } from './store/records.ts';
import { loadSessionValidity } from './store/sessions.ts';
import { findWebhookEndpoints } from './store/webhook-endpoints.ts';
import { refuseReceiver } from './webhooks/receiver-url.ts';
import { REPAIRS_CHANNEL } from './webhooks/repair-runner.ts';
import { SEND_TIMEOUT_MS } from './webhooks/safe-fetch.ts';
import { createSeals } from './webhooks/seals.ts';
import { makeSigningKey, makeSigningSecret } from './webhooks/sign.ts';
import { DUE_CHANNEL, EVENTS_CHANNEL } from './webhooks/spread.ts';
import type { DeliveryWorker } from './webhooks/worker.ts';

export interface Service {
  readonly app: FastifyInstance;
  readonly worker: DeliveryWorker;
  readonly operating: Operating;
  /** Begins to listen for notifications, to deliver and to prune. */
  start(): Promise<void>;
  /** Finishes what was accepted, then lets go of everything. With patience, clients are left the time to notice. */
  stop(patience?: Patience): Promise<void>;
}

/** What a service needs to know where it is one of several processes that somebody watches over. */
export interface Supervised {
  /** What `/metrics` tells: of all of them. */
  readonly metricsOfAll: () => Promise<string>;
  /** Called once when the part that delivers hangs. */
  readonly onHang: () => void;
}

export type ServiceConfig = Pick<Config, 'RATE_LIMIT_PER_MINUTE' | 'OVERLOAD_WAIT_MS'> &
  DeliveryConfig &
  ReplicaConfig &
  PeopleConfig &
  DashboardConfig;

export function composeService(store: Store, config: ServiceConfig, version: string, log: Logger, supervised?: Supervised): Service {
  const { database, cipher, lane } = store;
  const keys = createKeyCache({ lookUp: (hashes) => findKeysByHash(database, hashes), database, now: Date.now });
  const limits = createRateLimit({
    limitPerMinute: config.RATE_LIMIT_PER_MINUTE,
    lease: (request) => takeLease(database, request),
    now: Date.now,
  });
  const uses = createKeyUses({
    touch: (batch) => touchKeys(database, batch),
    onError: (error) => log.warn({ err: error }, 'last uses of keys could not be written'),
  });
  store.onCommitted.push((committed) => {
    for (const key of committed.keys) keys.invalidate(key.workspaceId, key.id);
  });

  const { people, ...peopleParts } = composePeople({ store, config, limits, log, clock, newId, random });
  const delivery = composeDelivery({ store, config, version, log, clock, newId, ...supervised });
  const { operating } = delivery;

  const streams = createEventStreams({
    listEvents: (...place) => listEvents(database, ...place),
    findLastSeqs: (workspaceIds) => findLastSeqs(database, workspaceIds),
    findKeys: (named) => findCallers(database, named),
    now: Date.now,
    log,
  });
  const gate = createLoadGate({
    databaseWaitMs: () => database.expectedWaitMs(),
    isLaneBusyFor: (workspaceId) => lane.isBusyFor(workspaceId),
    maxWaitMs: config.OVERLOAD_WAIT_MS,
    uptimeMs: () => performance.now(),
    log,
  });
  delivery.metrics.watchRefusals(gate.refused);
  const seals = createSeals(cipher);
  const notify = (channel: string, payload: string): void =>
    void database.notify(channel, payload).catch((error) => log.warn({ err: error }, 'a notification could not be sent'));
  const writes: Writes = {
    originOf: peopleParts.originOf,
    lane,
    repairs: createRepairs(database, clock, newId, {
      announceDue: () => notify(DUE_CHANNEL, ''),
      announceRepair: () => notify(REPAIRS_CHANNEL, ''),
    }),
    tests: delivery.tests,
    hasAnswer: async (workspaceId, key) => (await findIdempotencyRecords(database, [{ workspaceId, key }])).length > 0,
    clock,
    newId,
    makeKeySecret: () => makeKeySecret(random),
    makeSigningSecret: () => makeSigningSecret(random),
    sealSigningSecret: seals.sealSecret,
    makeSigningKey: (endpointId) => seals.sealKey(makeSigningKey(random), endpointId),
    sealHeader: seals.sealHeader,
    refuseReceiver: (url) => refuseReceiver(url, webhookNetwork(config)),
  };
  const dashboard = composeDashboard({ database, config, limits, findCallers: (named) => findCallers(database, named), log, clock, newId });
  if (dashboard.requestLog !== null) operating.addFamilies(dashboard.requestLog.families);
  const routesOver = (reads: Pick<Database, 'query' | 'shared'>): Route[] =>
    allRoutes(createReads(reads, clock, streams.open, dashboard.reads), writes, people);
  const routes = routesOver(database);
  const replica = composeReplica({ config, primary: database, routesOver, metrics: delivery.metrics, log });
  const app = buildServer({
    routes,
    document: () => buildOpenApi(routes, { version, webhooks: webhookPayloads, codeSamples }),
    keys,
    admitSession: peopleParts.admitSession,
    limits,
    uses,
    gate,
    eventualReads: replica.eventualReads,
    now: Date.now,
    log,
    unreadyReason: operating.unreadyReason,
    degradedReason: operating.degradedReason,
    answerMetrics: operating.answerMetrics,
    meterOf: operating.meterOf,
    noteOf: dashboard.requestLog?.noteOf,
    dashboardDirectory: fileURLToPath(new URL('../../dashboard/dist/', import.meta.url)),
  });

  registerWellKnown(app, { findEndpoints: (ids) => findWebhookEndpoints(database, ids), clock });

  const endings: (() => Promise<void>)[] = [];
  return {
    app,
    worker: delivery.worker,
    operating,
    async start() {
      gate.start();
      // Not waited for: until it has been looked at, the primary serves.
      void replica.start();
      endings.push(
        await database.listen(KEYS_CHANNEL, (payload) => {
          const [workspaceId, keyId] = payload.split(':');
          if (workspaceId !== undefined && keyId !== undefined) keys.invalidate(workspaceId, keyId);
          streams.hearKey();
        }),
        await database.listen(EVENTS_CHANNEL, streams.hear),
        await database.listen(CHANGES_CHANNEL, streams.hearChange),
        uses.start(),
        peopleParts.start(),
        dashboard.start(),
      );
      await delivery.start();
    },
    async stop(patience) {
      const closed = closeServer(app, lane, patience);
      // The server waits for every answer to end, and theirs would not. It takes no connection any more, so who comes back finds another.
      await streams.close();
      dashboard.cutExports();
      await closed;
      await delivery.stop();
      await lane.close();
      for (const end of endings) await end();
      await peopleParts.close();
      await delivery.close();
      await replica.close();
      await store.close();
    },
  };
}

/** Keys, and sessions in the place of keys: the second question is asked only where the first left something open. */
async function findCallers(database: Database, named: readonly RecordKey[]): Promise<KeyValidity[]> {
  const keys = await loadKeyValidity(database, named);
  if (keys.length === named.length) return keys;
  const known = new Set(keys.map((key) => key.id));
  return [
    ...keys,
    ...(await loadSessionValidity(
      database,
      named.filter((one) => !known.has(one.id)),
    )),
  ];
}

/** Attempts under way are waited for until they must have ended, since nobody waits for a worker's place. */
const WORKER_DRAIN_MS = SEND_TIMEOUT_MS + 2_000;

/** What a worker runs: delivery by itself, without an API. */
export function composeWorker(store: Store, config: DeliveryConfig, version: string, log: Logger, onHang: () => void): Delivery {
  const worksAlways = { ...config, WEBHOOK_WORKER: true };
  return composeDelivery({ store, config: worksAlways, version, log, clock, newId, drainMs: WORKER_DRAIN_MS, onHang });
}
