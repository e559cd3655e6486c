// The composition of what delivers webhooks: for a server that does so itself, and for a worker that does nothing else.
// Part of the composition root: makes outbound HTTP, and is handed clock, ids and randomness by compose.ts. Decides nothing.

import type { Logger } from 'pino';
import { ownEnvelope } from './commands/command.ts';
import type { Lane } from './commands/lane.ts';
import { disableGoneEndpoint } from './commands/update-webhook-endpoint.ts';
import { type Config, webhookNetwork } from './config.ts';
import type { Uuid } from './domain/ids.ts';
import type { WebhookEndpoint } from './domain/webhook-endpoint.ts';
import { createMetrics, type Metrics } from './operations/metrics.ts';
import { createOperating, type Operating, type OperatingConfig } from './operations/operating.ts';
import type { Cipher } from './store/cipher.ts';
import type { Database } from './store/database.ts';
import { releaseLeases } from './store/lost-leases.ts';
import { createEndpointTests, type EndpointTests } from './webhooks/endpoint-tests.ts';
import type { GoneEndpoint } from './webhooks/in-flight.ts';
import { createRepairRunner } from './webhooks/repair-runner.ts';
import { createResolver } from './webhooks/resolve.ts';
import { createSafeFetch } from './webhooks/safe-fetch.ts';
import { createSeals } from './webhooks/seals.ts';
import { createSteadyClock } from './webhooks/steady-clock.ts';
import { createDeliveryWorker, type DeliveryWorker } from './webhooks/worker.ts';

/** What a store has to offer here; compose.ts has the whole of it. */
interface DeliveringStore {
  readonly database: Database;
  readonly cipher: Cipher;
  readonly lane: Lane;
  readonly onBatch: ((commands: number, durationMs: number) => void)[];
}

export type DeliveryConfig = Pick<Config, 'WEBHOOK_CONCURRENCY' | 'WEBHOOK_NETWORK' | 'WEBHOOK_WORKER' | 'HOST'> & OperatingConfig;

export interface DeliveryOptions {
  readonly store: DeliveringStore;
  readonly config: DeliveryConfig;
  readonly version: string;
  readonly log: Logger;
  readonly clock: () => Date;
  readonly newId: () => Uuid;
  /** How long a stop waits for attempts under way; a short while by default. */
  readonly drainMs?: number;
  /** Called once when the worker hangs. */
  readonly onHang?: (() => void) | undefined;
  /** What `/metrics` tells where this process is one of several. */
  readonly metricsOfAll?: (() => Promise<string>) | undefined;
}

export interface Delivery {
  /** Runs only where WEBHOOK_WORKER is on. */
  readonly worker: DeliveryWorker;
  readonly tests: EndpointTests;
  readonly metrics: Metrics;
  readonly operating: Operating;
  start(): Promise<void>;
  /** Finishes what is under way. Before the lane closes: a receiver that answers 410 meanwhile is disabled by a command. */
  stop(): Promise<void>;
  /** Lets go of every connection to a receiver. */
  close(): Promise<void>;
}

export function composeDelivery({ store, config, version, log, clock, newId, drainMs, onHang, metricsOfAll }: DeliveryOptions): Delivery {
  const { database, cipher, lane } = store;
  const metrics = createMetrics();
  store.onBatch.push(metrics.batchCommitted);
  const policy = webhookNetwork(config);
  const outbound = createSafeFetch({ policy });
  const resolve = createResolver({ asksSystem: policy === 'any' });
  const tests = createEndpointTests({ send: outbound.send, seals: createSeals(cipher), policy, resolve, now: clock, newId, version });
  const uptimeMs = (): number => performance.now();
  const steady = createSteadyClock({ wall: () => clock().getTime(), uptimeMs });
  const worker = createDeliveryWorker({
    database,
    cipher,
    send: metrics.measured(outbound.send),
    disableEndpoint: (gone) => disableEndpoint(lane, gone),
    now: steady.now,
    onDatabaseTime: steady.learn,
    uptimeMs,
    random: Math.random,
    newId,
    version,
    log,
    concurrency: config.WEBHOOK_CONCURRENCY,
    ...(drainMs === undefined ? {} : { drainMs }),
  });
  const repairRunner = createRepairRunner({ database, now: steady.now, newId, log });
  const operating = createOperating({
    database,
    lane,
    config,
    metrics,
    workerStatus: config.WEBHOOK_WORKER ? worker.status : null,
    version,
    clock,
    uptimeMs,
    log,
    onHang,
    metricsOfAll,
  });
  return {
    worker,
    tests,
    metrics,
    operating,
    async start() {
      operating.start();
      if (!config.WEBHOOK_WORKER) return;
      // The embedded database has one process: what an earlier one had claimed when it was killed is due at once.
      if (database.kind === 'pglite') await releaseLeases(database, steady.now());
      await worker.start();
      await repairRunner.start();
    },
    async stop() {
      if (config.WEBHOOK_WORKER) await repairRunner.stop();
      if (config.WEBHOOK_WORKER) await worker.stop();
      await operating.stop();
    },
    close: () => outbound.close(),
  };
}

async function disableEndpoint(lane: Lane, { workspaceId, endpointId, ...gone }: GoneEndpoint): Promise<void> {
  const envelope = ownEnvelope<WebhookEndpoint>(workspaceId, () => ({ status: 200, headers: {}, body: '' }));
  const outcome = await lane.submit(disableGoneEndpoint(envelope, endpointId, gone));
  // Deleted meanwhile is as good as disabled.
  if ('code' in outcome && outcome.code !== 'not_found') throw new Error(`endpoint not disabled: ${outcome.detail}`);
}
