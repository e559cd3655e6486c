// Everything that is counted and measured, as one text for a collector such as Prometheus.
// Names operations, outcomes and states; never a workspace, an endpoint, a key or an address, so that the series have a bound.

import type { Lane } from '../commands/lane.ts';
import { type AttemptErrorKind, attemptErrorKinds } from '../domain/delivery.ts';
import type { Database } from '../store/database.ts';
import { MAX_COUNTED } from '../store/delivery-backlog.ts';
import type { Send, SendResult } from '../webhooks/safe-fetch.ts';
import type { WorkerStatus } from '../webhooks/worker.ts';
import type { BacklogWatch } from './backlog-watch.ts';
import { ATTEMPT_BOUNDS_S, CounterByName, type Family, gauge, Histogram, REQUEST_BOUNDS_S } from './instruments.ts';
import { type ReplicaWatch, refusedFamily, replicaFamilies } from './load-families.ts';
import type { PruneKind } from './maintenance.ts';
import { type Lag, processFamilies, startLag } from './process-families.ts';
import { createRequestMeters, type RequestMeters } from './request-meters.ts';

/** Commands of one batch: powers of two up to the limit of the lane. */
const BATCH_BOUNDS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** What came of an attempt, as a label: the class of the answer's status, or why there was none. */
const answerOutcomes = ['succeeded', 'http_3xx', 'http_4xx', 'http_5xx'] as const;
type AttemptOutcomeName = (typeof answerOutcomes)[number] | AttemptErrorKind | 'other';

export interface Measured {
  readonly database: Database;
  readonly lane: Pick<Lane, 'queued'>;
  readonly backlog: BacklogWatch;
  /** Null where this process delivers nothing. */
  readonly workerStatus: (() => WorkerStatus) | null;
  readonly version: string;
  /** Milliseconds that only ever grow, as in the status of the worker. */
  readonly uptimeMs: () => number;
}

export interface Metrics {
  readonly requests: RequestMeters;
  /** A batch of the lane has committed. */
  batchCommitted(commands: number, durationMs: number): void;
  /** The same sender, with its attempts counted. */
  measured(send: Send): Send;
  pruned(kind: PruneKind, rows: number): void;
  /** Requests that were refused because they would have waited too long, by what for; a server counts them, a worker has none. */
  watchRefusals(refused: Readonly<Record<string, number>>): void;
  /** How eventual reads go, where there is a standby. */
  watchReplica(watch: ReplicaWatch): void;
  /** What another part of the process counts by itself; asked at every text. */
  add(families: () => Family[]): void;
  /** Everything; `measured` says what there is to look at. */
  families(measured: Measured): Promise<Family[]>;
}

export function createMetrics(): Metrics {
  const requests = createRequestMeters();
  const batchSizes = new Histogram(BATCH_BOUNDS);
  const batchDurationsS = new Histogram(REQUEST_BOUNDS_S);
  const attempts = new CounterByName<AttemptOutcomeName>([...answerOutcomes, ...attemptErrorKinds], 'other');
  const attemptDurationsS = new Histogram(ATTEMPT_BOUNDS_S);
  const pruned = new CounterByName<PruneKind | 'other'>(['deliveries', 'attempts', 'idempotency_keys'], 'other');
  const others: (() => Family[])[] = [];
  // From the first time that somebody reads: where nobody does, it costs nothing.
  let lag: Lag | null = null;
  let refused: Readonly<Record<string, number>> = {};
  let replica: ReplicaWatch | null = null;

  function laneFamilies(lane: Pick<Lane, 'queued'>): Family[] {
    return [
      gauge('tranche_lane_queued_commands', 'Writes that wait for a batch.', lane.queued()),
      {
        name: 'tranche_lane_batch_commands',
        help: 'Writes that were taken into one transaction.',
        type: 'histogram',
        series: [{ histogram: batchSizes }],
      },
      {
        name: 'tranche_lane_batch_duration_seconds',
        help: 'From the beginning of a batch to the end of its commit.',
        type: 'histogram',
        series: [{ histogram: batchDurationsS }],
      },
    ];
  }

  function attemptFamilies(): Family[] {
    return [
      {
        name: 'tranche_webhook_attempts_total',
        help: 'Attempts of this process that ended, by what came of them: succeeded is any 2xx, http_* another answer, the rest no answer.',
        type: 'counter',
        samples: attempts.samples('outcome'),
      },
      {
        name: 'tranche_webhook_attempt_duration_seconds',
        help: 'From the beginning of an attempt to its answer or failure.',
        type: 'histogram',
        series: [{ histogram: attemptDurationsS }],
      },
    ];
  }

  return {
    requests,
    batchCommitted(commands, durationMs) {
      batchSizes.observe(commands);
      batchDurationsS.observe(durationMs / 1000);
    },
    measured: (send) => async (request) => {
      const begunAtMs = performance.now();
      let outcome = 'other';
      try {
        const result = await send(request);
        outcome = outcomeName(result);
        return result;
      } finally {
        attempts.add(outcome);
        attemptDurationsS.observe((performance.now() - begunAtMs) / 1000);
      }
    },
    pruned: (kind, rows) => pruned.add(kind, rows),
    watchRefusals(counts) {
      refused = counts;
    },
    watchReplica(watch) {
      replica = watch;
    },
    add: (families) => void others.push(families),
    async families({ database, lane, backlog, workerStatus, version, uptimeMs }) {
      const families = [
        info(version, database.kind),
        ...requests.families(),
        ...laneFamilies(lane),
        ...databaseFamilies(database),
        refusedFamily(refused),
        ...replicaFamilies(replica),
        ...attemptFamilies(),
        ...(await backlogFamilies(backlog)),
        ...(workerStatus === null ? [] : workerFamilies(workerStatus(), uptimeMs())),
        {
          name: 'tranche_pruned_rows_total',
          help: 'Rows that this process has deleted because their retention ended.',
          type: 'counter' as const,
          samples: pruned.samples('kind').filter(({ labels }) => labels?.kind !== 'other'),
        },
        ...others.flatMap((families) => families()),
        ...processFamilies(lag),
      ];
      lag?.reset();
      lag ??= startLag();
      return families;
    },
  };
}

function outcomeName(result: SendResult): string {
  if (result.kind === 'failed') return result.error;
  return result.statusCode < 300 ? 'succeeded' : `http_${Math.floor(result.statusCode / 100)}xx`;
}

function info(version: string, database: string): Family {
  return {
    name: 'tranche_build_info',
    help: 'Always 1; the labels say what runs.',
    type: 'gauge',
    samples: [{ labels: { version, node: process.versions.node, database }, value: 1 }],
  };
}

function databaseFamilies(database: Database): Family[] {
  const { open, idle, waiting } = database.load();
  return [
    {
      name: 'tranche_database_connections',
      help: 'Open connections of the pool, by state.',
      type: 'gauge',
      samples: [
        { labels: { state: 'busy' }, value: open - idle },
        { labels: { state: 'idle' }, value: idle },
      ],
    },
    gauge('tranche_database_waiting', 'Statements and transactions that wait for a connection.', waiting),
    gauge(
      'tranche_database_listening',
      'Whether notifications are arriving; while 0, polls take their place.',
      database.isListening() ? 1 : 0,
    ),
  ];
}

async function backlogFamilies(backlog: BacklogWatch): Promise<Family[]> {
  // A database that is out of reach must not take the other metrics with it: without a value there is no sample.
  const seen = await backlog.look().catch(() => null);
  const families: [name: string, help: string, value: number | undefined][] = [
    [
      'tranche_webhook_deliveries_pending',
      `Deliveries that have neither succeeded nor ended, over all processes. Exact up to ${MAX_COUNTED}, beyond that an estimate from the statistics of the database.`,
      seen?.pending,
    ],
    [
      'tranche_webhook_oldest_due_age_seconds',
      'For how long the delivery has been due that has been due for longest, or the event has waited for fan-out, 0 when none is; endpoints held back by their breaker or at their own wish do not count. Over all processes.',
      seen === null ? undefined : seen.oldestAgeMs / 1000,
    ],
    [
      'tranche_webhook_unspread_events',
      'Events that no delivery has been made of yet, over all workspaces with endpoints.',
      seen?.unspread,
    ],
    [
      'tranche_webhook_workers',
      'Processes that deliver and have lately given a sign of life; with PostgreSQL only.',
      seen?.workers ?? undefined,
    ],
    ['tranche_webhook_due_endpoints', 'Endpoints that have a delivery due.', seen?.dueEndpoints],
    ['tranche_webhook_late_endpoints', 'Endpoints that have had one due for longer than WEBHOOK_LATE_AFTER_SECONDS.', seen?.lateEndpoints],
  ];
  const breakers = Object.entries(seen?.breakers ?? {}).map(([state, value]) => ({ labels: { state }, value }));
  return [
    ...families.map(
      ([name, help, value]): Family => ({ name, help, type: 'gauge', isOfAll: true, samples: value === undefined ? [] : [{ value }] }),
    ),
    {
      name: 'tranche_webhook_breakers',
      help: 'Enabled endpoints by the state of their circuit breaker, over all processes.',
      type: 'gauge',
      isOfAll: true,
      samples: breakers,
    },
  ];
}

function workerFamilies({ lastRunMs, lastError, inFlight }: WorkerStatus, nowMs: number): Family[] {
  const silenceS = lastRunMs === null ? Number.POSITIVE_INFINITY : Math.max(0, nowMs - lastRunMs) / 1000;
  return [
    gauge('tranche_webhook_attempts_in_progress', 'Attempts of this process that are under way.', inFlight),
    gauge(
      'tranche_webhook_worker_silence_seconds',
      'Since the worker of this process last looked for work without an error; it looks about every second. +Inf before the first time.',
      silenceS,
    ),
    gauge(
      'tranche_webhook_worker_failing',
      'Whether the last look for work ended in an error; the log has it.',
      lastError === null ? 0 : 1,
    ),
  ];
}
