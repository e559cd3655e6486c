// The operator's side of a running process: its metrics, its watch over late webhooks, its watchdog, its upkeep and its health.
// Puts those parts together for a server and for a worker alike; delivers and serves nothing itself.

import type { Lane } from '../commands/lane.ts';
import type { Config } from '../config.ts';
import type { Database } from '../store/database.ts';
import type { Log } from '../store/log.ts';
import { databaseTime } from '../store/lost-leases.ts';
import type { WorkerStatus } from '../webhooks/worker.ts';
import { createBacklogWatch } from './backlog-watch.ts';
import { type Family, renderFamilies } from './instruments.ts';
import { retentionOf, startMaintenance } from './maintenance.ts';
import type { Metrics } from './metrics.ts';
import {
  createMetricsListener,
  createOperatorListener,
  type Health,
  listenForOperator,
  type OperatorListener,
  type OperatorServer,
} from './operator-server.ts';
import type { RequestMeter } from './request-meters.ts';
import { createWatchdog } from './watchdog.ts';

export type OperatingConfig = Pick<
  Config,
  'METRICS_PORT' | 'METRICS_HOST' | 'METRICS_TOKEN' | 'WEBHOOK_LATE_AFTER_SECONDS' | 'DELIVERY_RETENTION_DAYS' | 'ATTEMPT_RETENTION_DAYS'
>;

export interface OperatingOptions {
  readonly database: Database;
  readonly lane: Pick<Lane, 'queued'>;
  readonly config: OperatingConfig;
  readonly metrics: Metrics;
  /** Null where this process delivers nothing. */
  readonly workerStatus: (() => WorkerStatus) | null;
  readonly version: string;
  readonly clock: () => Date;
  /** Milliseconds that only ever grow, as in the status of the worker. */
  readonly uptimeMs: () => number;
  readonly log: Log;
  /** Called once when the worker hangs. */
  readonly onHang?: (() => void) | undefined;
  /** What `/metrics` tells where this process is one of several; its own alone by default. */
  readonly metricsOfAll?: (() => Promise<string>) | undefined;
}

/** How this process is, for whoever watches over several. */
export interface Report extends Health {
  /** Empty unless they were asked for. */
  readonly families: readonly Family[];
}

export interface Operating {
  start(): void;
  stop(): Promise<void>;
  /** Opens METRICS_PORT; null where there is none. Rejects when it cannot be had. */
  listen(): Promise<OperatorServer | null>;
  report(withMetrics: boolean): Promise<Report>;
  /** Why the process cannot do its work right now; null when it can. */
  unreadyReason(): Promise<string | null>;
  /** What is not as it should be although the work goes on. */
  degradedReason(): string | null;
  /** Answers `/metrics` on the main port; undefined where it is off or has a port of its own. */
  readonly answerMetrics: OperatorListener | undefined;
  /** Counts the requests of an operation; undefined where nobody reads metrics. */
  readonly meterOf: ((operationId: string) => RequestMeter) | undefined;
  /** Tells in the metrics what another part of the process counts. */
  readonly addFamilies: Metrics['add'];
}

export function createOperating(options: OperatingOptions): Operating {
  const { database, lane, config, metrics, workerStatus, version, clock, uptimeMs, log, onHang, metricsOfAll } = options;
  const lateAfterMs = config.WEBHOOK_LATE_AFTER_SECONDS * 1000;
  const backlog = createBacklogWatch({ database, now: () => databaseTime(database), uptimeMs, log, lateAfterMs });
  const watchdog = workerStatus === null ? null : createWatchdog({ status: workerStatus, uptimeMs, log, onHang });
  const retention = retentionOf(config.DELIVERY_RETENTION_DAYS, config.ATTEMPT_RETENTION_DAYS);
  let endMaintenance: (() => Promise<void>) | null = null;
  let server: OperatorServer | null = null;

  async function unreadyReason(): Promise<string | null> {
    const rows = await database.query<{ read_only: string }>(`select current_setting('transaction_read_only') as read_only`);
    if (rows[0]?.read_only !== 'off') return 'the database takes no writes';
    return watchdog?.unready() ?? null;
  }

  const families = (): Promise<Family[]> => metrics.families({ database, lane, backlog, workerStatus, version, uptimeMs });
  const answers = {
    metricsText: metricsOfAll ?? (async () => renderFamilies(await families())),
    metricsToken: config.METRICS_TOKEN,
    deadReason: () => watchdog?.silence() ?? null,
    health: async () => ({ unready: await unreadyReason(), degraded: backlog.trouble() }),
    onError: (error: unknown) => log.error({ err: error }, 'the operator could not be answered'),
  };
  const hasMetrics = config.METRICS_PORT !== undefined || config.METRICS_TOKEN !== undefined;

  return {
    start() {
      backlog.start();
      watchdog?.start();
      endMaintenance = startMaintenance({ database, clock, log, retention, onPruned: metrics.pruned });
    },
    async stop() {
      server?.close();
      watchdog?.stop();
      await backlog.stop();
      await endMaintenance?.();
    },
    async listen() {
      if (config.METRICS_PORT === undefined) return null;
      server = await listenForOperator(createOperatorListener(answers), config.METRICS_HOST, config.METRICS_PORT);
      return server;
    },
    async report(withMetrics) {
      // Whoever watches wants a reason, not an error.
      const unready = await unreadyReason().catch(() => 'the database is out of reach');
      return { families: withMetrics ? await families() : [], unready, degraded: backlog.trouble() };
    },
    unreadyReason,
    degradedReason: backlog.trouble,
    answerMetrics: hasMetrics && config.METRICS_PORT === undefined ? createMetricsListener(answers) : undefined,
    meterOf: hasMetrics ? metrics.requests.meterOf : undefined,
    addFamilies: metrics.add,
  };
}
