// The composition of reads from a standby, where DATABASE_REPLICA_URL names one.
// Part of the composition root; decides nothing.

import type { Logger } from 'pino';
import { type Config, replicaOptions } from './config.ts';
import { createEventualReads, type EventualReads } from './http/eventual-reads.ts';
import { isList, type Route } from './http/route.ts';
import type { Metrics } from './operations/metrics.ts';
import type { Database } from './store/database.ts';
import { openReplica } from './store/replica.ts';

export type ReplicaConfig = Pick<
  Config,
  'DATABASE_REPLICA_URL' | 'DATABASE_REPLICA_MAX_LAG_MS' | 'DATABASE_POOL_SIZE' | 'PREPARED_STATEMENTS'
>;

export interface ComposedReplica {
  readonly eventualReads: EventualReads | undefined;
  /** Returns when the standby has been looked at, whatever was seen. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface ReplicaParts {
  readonly config: ReplicaConfig;
  readonly primary: Database;
  /** The routes over reads of another database. */
  readonly routesOver: (database: Pick<Database, 'query' | 'shared'>) => readonly Route[];
  readonly metrics: Metrics;
  readonly log: Logger;
}

export function composeReplica({ config, primary, routesOver, metrics, log }: ReplicaParts): ComposedReplica {
  const url = config.DATABASE_REPLICA_URL;
  if (url === undefined) return { eventualReads: undefined, start: async () => undefined, close: async () => undefined };
  const replica = openReplica({ ...replicaOptions(config, url), primary, log });
  const counts = { replica: 0, primary: 0 };
  metrics.watchReplica({ counts, lagMs: replica.lagMs, isUsable: replica.isUsable });
  return {
    eventualReads: createEventualReads(replica, routesOver(replica.database).filter(isList), counts),
    start: replica.start,
    close: replica.close,
  };
}
