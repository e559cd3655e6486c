// Puts together what the dashboard asks for besides the records: exports, the log of requests, the use of keys. Called by compose.ts.
// Plain function calls; decides nothing about requests.

import type { Logger } from 'pino';
import type { RateLimit } from './accounts/rate-limit.ts';
import type { Config } from './config.ts';
import { drawInvoice } from './documents/invoice-page.ts';
import type { Uuid } from './domain/ids.ts';
import { createExports } from './http/csv-export.ts';
import { createDashboardReads, type DashboardReads } from './http/dashboard-reads.ts';
import { createInvoiceDrawing } from './http/invoice-drawing.ts';
import type { FindKeys } from './http/stream-keys.ts';
import { startLogRetention } from './operations/log-retention.ts';
import { createRequestLog, type RequestLog } from './operations/request-log.ts';
import type { Database } from './store/database.ts';
import { addKeyUsage } from './store/key-usage.ts';
import { insertRequestLog } from './store/request-log.ts';

export type DashboardConfig = Pick<Config, 'REQUEST_LOG_RETENTION_DAYS' | 'REQUEST_LOG_READ_SAMPLE'>;

export interface DashboardServices {
  readonly database: Database;
  readonly config: DashboardConfig;
  readonly limits: RateLimit;
  /** Whether keys and sessions still hold, past any cache. */
  readonly findCallers: FindKeys;
  readonly log: Logger;
  readonly clock: () => Date;
  readonly newId: () => Uuid;
}

export interface Dashboard {
  readonly reads: DashboardReads;
  /** Null where no log is kept. */
  readonly requestLog: RequestLog | null;
  /** Cuts exports that are under way, which the server would wait for. */
  cutExports(): void;
  /** Begins to write logs and to prune them; the returned function writes what is left and ends that. */
  start(): () => Promise<void>;
}

const USAGE_INTERVAL_MS = 20_000;

export function composeDashboard({ database, config, limits, findCallers, log, clock, newId }: DashboardServices): Dashboard {
  const files = createExports({ now: clock, findCallers, log });
  const retentionDays = config.REQUEST_LOG_RETENTION_DAYS;
  const requestLog =
    retentionDays === 0
      ? null
      : createRequestLog({
          insert: (entries) => insertRequestLog(database, entries),
          sampleOneIn: config.REQUEST_LOG_READ_SAMPLE,
          newId,
          now: Date.now,
          onError: (error) => log.warn({ err: error }, 'entries of the request log could not be written'),
        });

  async function writeUsage(current?: 'current'): Promise<void> {
    const uses = limits.takeUses(current).filter(({ requests }) => requests > 0);
    if (uses.length === 0) return;
    await addKeyUsage(database, uses).catch((error: unknown) => log.warn({ err: error }, 'the use of keys could not be written'));
  }

  return {
    reads: createDashboardReads({
      database,
      clock,
      openExport: files.open,
      drawInvoice: createInvoiceDrawing({ draw: drawInvoice, log }),
      limitPerMinute: limits.limitPerMinute,
    }),
    requestLog,
    cutExports: files.close,
    start() {
      const endLog = requestLog?.start();
      const endRetention = startLogRetention({ database, clock, retentionDays, log });
      const timer = setInterval(() => void writeUsage(), USAGE_INTERVAL_MS);
      timer.unref();
      return async () => {
        clearInterval(timer);
        await endRetention();
        await endLog?.();
        await writeUsage('current');
      };
    },
  };
}
