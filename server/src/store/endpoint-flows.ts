// Every SQL statement on webhook_flows by itself: reading and locking how much may go to an endpoint, and what is written back.
// Decides nothing (domain/endpoint-flow.ts does); a write of the books never takes one of these locks.

import type { BreakerState, EndpointCaps, EndpointFlow, EndpointHealth } from '../domain/endpoint-flow.ts';
import { unharmed } from '../domain/endpoint-flow.ts';
import type { Uuid } from '../domain/ids.ts';
import type { ColumnType } from './column-encoding.ts';
import type { Queryable } from './database.ts';

/** An endpoint with its flow. The health is that of the endpoint's present generation. */
export interface FlowingEndpoint {
  readonly flow: EndpointFlow;
  readonly caps: EndpointCaps;
  readonly generation: number;
  /** Whether it takes webhooks: enabled and not deleted. */
  readonly isOpen: boolean;
}

export interface FlowRow {
  workspace_id: Uuid;
  endpoint_id: Uuid;
  in_flight: number;
  paid_until: Date | null;
  breaker: BreakerState;
  failures: number;
  openings: number;
  allowance: number;
  probe_at: Date | null;
  resume_at: Date | null;
  failing_since: Date | null;
  is_current: boolean;
  generation: number;
  max_concurrency: number;
  rate_limit_per_second: number | null;
  is_open: boolean;
}

/** Of a flow `f` and its endpoint `e`. */
export const flowColumns = `f.workspace_id, f.endpoint_id, f.in_flight, f.paid_until, f.breaker, f.failures, f.openings, f.allowance,
  f.probe_at, f.resume_at, f.failing_since, f.generation = e.generation as is_current, e.generation, e.max_concurrency,
  e.rate_limit_per_second, e.status = 'enabled' and e.deleted_at is null as is_open`;

export function readFlow(row: FlowRow): FlowingEndpoint {
  const { breaker, failures, openings, allowance } = row;
  const times = { probeAt: row.probe_at, resumeAt: row.resume_at, failingSince: row.failing_since };
  const health = row.is_current ? { breaker, failures, openings, allowance, ...times } : unharmed;
  return {
    flow: { workspaceId: row.workspace_id, endpointId: row.endpoint_id, inFlight: row.in_flight, paidUntil: row.paid_until, health },
    caps: { maxConcurrency: row.max_concurrency, rateLimitPerSecond: row.rate_limit_per_second },
    generation: row.generation,
    isOpen: row.is_open,
  };
}

/** The health of an endpoint under an alias, as JSON; null when nothing of its present generation is known. */
export const healthOf = (alias: string): string => `(
  select row_to_json(f) from webhook_flows f
  where f.workspace_id = ${alias}.workspace_id and f.endpoint_id = ${alias}.id and f.generation = ${alias}.generation)`;

export interface StoredHealth {
  breaker: BreakerState;
  failures: number;
  openings: number;
  allowance: number;
  probe_at: string | null;
  resume_at: string | null;
  failing_since: string | null;
}

const moment = (text: string | null): Date | null => (text === null ? null : new Date(text));

export function readHealth(stored: StoredHealth | null): EndpointHealth {
  if (stored === null) return unharmed;
  const { breaker, failures, openings, allowance } = stored;
  const times = { probeAt: moment(stored.probe_at), resumeAt: moment(stored.resume_at), failingSince: moment(stored.failing_since) };
  return { breaker, failures, openings, allowance, ...times };
}

export interface EndpointKey {
  readonly workspaceId: Uuid;
  readonly endpointId: Uuid;
}

const lockText = (whenLocked: string): string => `
  select ${flowColumns}
  from (select distinct * from unnest($1::uuid[], $2::uuid[]) as n(workspace_id, endpoint_id)) n
  join webhook_flows f on f.workspace_id = n.workspace_id and f.endpoint_id = n.endpoint_id
  join webhook_endpoints e on e.workspace_id = n.workspace_id and e.id = n.endpoint_id
  order by f.workspace_id, f.endpoint_id for no key update of f ${whenLocked}`;
const lockTexts = { skip: lockText('skip locked'), wait: lockText('') };

/**
 * Locks flows by primary key, in the order of their keys, so that those who wait never wait for each other in a circle. A claim skips what
 * somebody holds; a result waits, since it must be written.
 */
export async function lockFlows(transaction: Queryable, keys: readonly EndpointKey[], mode: 'skip' | 'wait'): Promise<FlowingEndpoint[]> {
  const parameters = [keys.map((key) => key.workspaceId), keys.map((key) => key.endpointId)];
  return (await transaction.query<FlowRow>(lockTexts[mode], parameters)).map(readFlow);
}

/** What of a flow is written along with a claim or with results, as a row that is sent. */
export function healthRow({ flow, generation }: FlowingEndpoint, health: EndpointHealth) {
  return {
    workspace_id: flow.workspaceId,
    endpoint_id: flow.endpointId,
    breaker: health.breaker,
    failures: health.failures,
    openings: health.openings,
    allowance: health.allowance,
    probe_at: health.probeAt,
    resume_at: health.resumeAt,
    failing_since: health.failingSince,
    generation,
  };
}

export type HealthRow = ReturnType<typeof healthRow>;

export const healthRowTypes = {
  workspace_id: 'uuid',
  endpoint_id: 'uuid',
  breaker: 'text',
  failures: 'integer',
  openings: 'integer',
  allowance: 'integer',
  probe_at: 'timestamptz(3)',
  resume_at: 'timestamptz(3)',
  failing_since: 'timestamptz(3)',
  generation: 'integer',
} as const satisfies Record<keyof HealthRow, ColumnType>;

/** Sets a flow's health from the row `r`. */
export const setHealth = `breaker = r.breaker, failures = r.failures, openings = r.openings, allowance = r.allowance, probe_at = r.probe_at,
  resume_at = r.resume_at, failing_since = r.failing_since, generation = r.generation`;
