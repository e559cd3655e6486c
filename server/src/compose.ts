// The composition root: the only place that makes clocks, ids, randomness and outbound HTTP, and hands them to everything else.
// Plain function calls, no container; decides nothing about requests.

import { randomFillSync } from 'node:crypto';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { createKeyCache } from './accounts/key-cache.ts';
import { createKeyUses } from './accounts/key-uses.ts';
import { createPasswordWork } from './accounts/password-work.ts';
import { createRateLimit } from './accounts/rate-limit.ts';
import { type Committed, createLanes, type Lane } from './commands/lane.ts';
import { composeDashboard, type DashboardConfig } from './compose-dashboard.ts';
import { composeDelivery, type Delivery, type DeliveryConfig } from './compose-delivery.ts';
import { composePeople, type PeopleConfig } from './compose-people.ts';
import { composeReplica, type ReplicaConfig } from './compose-replica.ts';
import { type Config, ConfigurationError, databaseOptions, webhookNetwork } from './config.ts';
import { makeKeySecret } from './domain/api-key.ts';
import { createIdGenerator } from './domain/ids.ts';
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
import { createAnnouncer, KEYS_CHANNEL } from './operations/announcer.ts';
import type { Operating } from './operations/operating.ts';
import { createOperations, type Operations } from './operations/operations.ts';
import { webhookPayloads } from './schemas/webhook-payloads.ts';
import { findKeysByHash, touchKeys } from './store/api-keys.ts';
import { type Cipher, checkEncryptionKey, createCipher, loadEncryptionKey } from './store/cipher.ts';
import type { Database } from './store/database.ts';
import { listEvents } from './store/events.ts';
import { findLastSeqs } from './store/heads.ts';
import { findIdempotencyRecords } from './store/idempotency.ts';
import { readMigrations } from './store/migrations.ts';
import { openDatabase } from './store/open.ts';
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

const clock = (): Date => new Date();
const random = (bytes: Uint8Array): void => {
  randomFillSync(bytes);
};
export const newId = createIdGenerator(Date.now, random);

export function createLog(config: Pick<Config, 'LOG_LEVEL'>): Logger {
  // Standard error, so that standard output stays for what a person asked to see.
  return pino(
    { level: config.LOG_LEVEL, redact: ['req.headers.authorization', 'headers.authorization'] },
    pino.destination({ dest: 2, sync: true }),
  );
}

/** The database brought up to date, and what every use of the books needs. */
export interface Store {
  readonly database: Database;
  readonly cipher: Cipher;
  readonly lane: Lane;
  readonly operations: Operations;
  /** Migrations that this start applied. */
  readonly applied: readonly string[];
  /** Called after each commit, before its commands are answered; a serving process adds its own cache here. */
  readonly onCommitted: ((committed: Committed) => void)[];
  /** Called after each commit, to count it. */
  readonly onBatch: ((commands: number, durationMs: number) => void)[];
  close(): Promise<void>;
}

export async function openStore(config: Config, log: Logger = createLog(config)): Promise<Store> {
  if (config.DATABASE_URL === undefined) makeDataDirectory(config.DATA_DIR);
  const database = await openDatabase(databaseOptions(config), log);
  try {
    const applied = await database.migrate(await readMigrations());
    const required = config.DATABASE_URL !== undefined;
    const cipher = createCipher(loadEncryptionKey({ encryptionKey: config.ENCRYPTION_KEY, dataDir: config.DATA_DIR, required }));
    await checkEncryptionKey(database, cipher);
    return assembleStore(database, cipher, config, log, applied);
  } catch (error) {
    await database.close();
    throw error;
  }
}

function makeDataDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError(
      `DATA_DIR ${path} cannot be used: ${reason}. Give it to the user that runs Tranche, or choose another one.`,
    );
  }
}

/** The store around a database that is open and migrated. */
export function assembleStore(
  database: Database,
  cipher: Cipher,
  config: Pick<Config, 'LANES'> & Partial<Pick<Config, 'OVERLOAD_WAIT_MS'>>,
  log: Logger,
  applied: readonly string[] = [],
): Store {
  const announcer = createAnnouncer(database, (error) =>
    log.warn({ err: error }, 'a notification could not be sent; others will notice by themselves'),
  );
  const onCommitted: Store['onCommitted'] = [announcer.announce];
  const onBatch: Store['onBatch'] = [];
  const lane = createLanes(database.kind === 'pglite' ? 1 : config.LANES, {
    database,
    clock,
    newId,
    cipher,
    maxWaitMs: config.OVERLOAD_WAIT_MS,
    onCommitted: (committed) => {
      for (const listener of onCommitted) listener(committed);
    },
    onBatch: (commands, durationMs) => {
      for (const listener of onBatch) listener(commands, durationMs);
    },
  });
  return {
    database,
    cipher,
    lane,
    onCommitted,
    onBatch,
    applied,
    operations: createOperations({ database, lane, clock, random, hashPassword: createPasswordWork().hash }),
    async close() {
      await lane.close();
      await announcer.settled();
      await database.close();
    },
  };
}

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
  const dashboard = composeDashboard({ database, config, limits, log, clock, newId });
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
