// Writing back what came of attempts: the attempt, the delivery and what it says about the endpoint, many at once.
// Decides neither what follows for a delivery nor for an endpoint: that is handed in, or asked of the pure rules.

import type { AttemptErrorKind } from '../domain/delivery.ts';
import { isGivenUp, judge, type Verdict } from '../domain/endpoint-flow.ts';
import type { Uuid } from '../domain/ids.ts';
import { defineSentRows } from './column-encoding.ts';
import type { Database } from './database.ts';
import {
  type EndpointKey,
  type FlowingEndpoint,
  type HealthRow,
  healthRow,
  healthRowTypes,
  lockFlows,
  setHealth,
} from './endpoint-flows.ts';
import { QUEUE_PLANS } from './planner.ts';

/** What came of one attempt. */
export interface DeliveryResult {
  readonly workspaceId: Uuid;
  readonly deliveryId: Uuid;
  readonly leaseToken: Uuid;
  readonly endpointId: Uuid;
  /** The endpoint's at the time of the claim; of an earlier one nothing is concluded. */
  readonly generation: number;
  readonly verdict: Verdict;
  /** The pause of everything that the receiver asked for; null where it asked for none. */
  readonly holdMs: number | null;
  readonly status: 'pending' | 'succeeded' | 'failed';
  /** Set when and only when the delivery is still pending. */
  readonly nextAttemptAt: Date | null;
  readonly startedAt: Date;
  readonly endedAt: Date;
  /** Null when no answer arrived; then `errorKind` and `error` say why. */
  readonly statusCode: number | null;
  readonly errorKind: AttemptErrorKind | null;
  readonly error: string | null;
  readonly remoteAddress: string | null;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  readonly responseBody: string | null;
  readonly responseTruncated: boolean;
}

/** An endpoint that has failed for so long that it is to be disabled. */
export interface GivenUp extends EndpointKey {
  readonly generation: number;
  readonly failingSince: Date;
}

export interface Recorded {
  /** Results whose lease was still held. The others were dropped. */
  readonly written: number;
  readonly givenUp: readonly GivenUp[];
}

/** A result as it is sent. */
const sentResults = defineSentRows<ReturnType<typeof toRow>>({
  workspace_id: 'uuid',
  delivery_id: 'uuid',
  lease_token: 'uuid',
  status: 'text',
  next_attempt_at: 'timestamptz(3)',
  completed_at: 'timestamptz(3)',
  started_at: 'timestamptz(3)',
  duration_ms: 'integer',
  status_code: 'smallint',
  error_kind: 'text',
  error: 'text',
  remote_address: 'text',
  response_headers: 'jsonb',
  response_body: 'text',
  response_truncated: 'boolean',
});
const sentFlows = defineSentRows<HealthRow>(healthRowTypes);
const FLOWS_FROM = 16;

function toRow(result: DeliveryResult) {
  return {
    workspace_id: result.workspaceId,
    delivery_id: result.deliveryId,
    lease_token: result.leaseToken,
    status: result.status,
    next_attempt_at: result.nextAttemptAt,
    completed_at: result.status === 'pending' ? null : result.endedAt,
    started_at: result.startedAt,
    duration_ms: Math.min(Math.max(0, result.endedAt.getTime() - result.startedAt.getTime()), MAX_INTEGER),
    status_code: result.statusCode,
    error_kind: result.errorKind,
    error: result.error,
    remote_address: result.remoteAddress,
    response_headers: result.responseHeaders,
    response_body: result.responseBody,
    response_truncated: result.responseTruncated,
  };
}

const MAX_INTEGER = 2_147_483_647;

// Deliveries by primary key and token, compared such that no index on leases comes into question; flows by primary key, locked before. The attempt's row is made of what the update returns, so that
// nothing is joined a second time. What was asked for while the attempt was under way follows now, unless it was acknowledged.
const recordText = `
  with result as materialized (
    select * from ${sentResults.from(1)} r
  ), settled as (
    update deliveries d
    set attempts = d.attempts + 1, is_repeat = true, lease_token = null, lease_owner = null, lost_leases = 0, asked = null,
      status = case when r.status = 'succeeded' or d.asked is null then r.status when d.asked = 'replay' then 'pending'
        when r.status = 'pending' then 'cancelled' else r.status end,
      tries = case when r.status <> 'succeeded' and d.asked = 'replay' then 0 else d.tries + 1 end,
      next_attempt_at = case when r.status = 'succeeded' or d.asked is null then r.next_attempt_at
        when d.asked = 'replay' then r.started_at + r.duration_ms * interval '1 millisecond' end,
      completed_at = case when r.status = 'succeeded' or d.asked is null then r.completed_at
        when d.asked = 'cancel' then r.started_at + r.duration_ms * interval '1 millisecond' end
    from result r
    where d.workspace_id = r.workspace_id and d.id = r.delivery_id and d.lease_token is not distinct from r.lease_token and d.status = 'pending'
    returning d.workspace_id, d.id, d.attempts, d.endpoint_id, r.started_at, r.duration_ms, r.status_code, r.error_kind, r.error,
      r.remote_address, r.response_headers, r.response_body, r.response_truncated
  ), attempted as (
    insert into delivery_attempts (workspace_id, delivery_id, number, started_at, duration_ms, status_code, error_kind, error,
      remote_address, response_headers, response_body, response_truncated)
    select workspace_id, id, attempts, started_at, duration_ms, status_code, error_kind, error,
      remote_address, response_headers, response_body, response_truncated
    from settled
  ), flowed as (
    update webhook_flows f set in_flight = greatest(0, f.in_flight - coalesce(n.settled, 0)), ${setHealth}
    from ${sentFlows.from(FLOWS_FROM)} r
    left join (select endpoint_id, count(*)::integer as settled from settled group by endpoint_id) n on n.endpoint_id = r.endpoint_id
    where f.workspace_id = r.workspace_id and f.endpoint_id = r.endpoint_id
  )
  select count(*)::integer as written from settled`;

/**
 * Writes results back in one transaction: the flows of their endpoints are locked first, in order, and judged. A result whose lease was
 * lost (another worker has claimed the delivery, or it is no longer pending) writes neither attempt nor status.
 */
export async function recordResults(database: Database, results: readonly DeliveryResult[], random: () => number): Promise<Recorded> {
  if (results.length === 0) return { written: 0, givenUp: [] };
  const recording = await database.transaction(async (transaction) => {
    const locking = lockFlows(transaction, results, 'wait');
    const [endpoints] = await Promise.all([locking, transaction.query(`select ${QUEUE_PLANS}`)]);
    const byEndpoint = Map.groupBy(results, (result) => result.endpointId);
    const givenUp: GivenUp[] = [];
    const flows = endpoints.map((endpoint) => {
      const said = (byEndpoint.get(endpoint.flow.endpointId) ?? []).filter((result) => result.generation === endpoint.generation);
      const health = judge(endpoint.flow.health, said, random);
      if (endpoint.isOpen && health.failingSince !== null && said.some((result) => isGivenUp(health, result.endedAt)))
        givenUp.push({ ...keyOf(endpoint), generation: endpoint.generation, failingSince: health.failingSince });
      return healthRow(endpoint, health);
    });
    // In the order of their ids, as everybody writes deliveries who writes several: so nobody waits in a circle.
    const inOrder = results.toSorted((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1));
    const parameters = [...sentResults.parameters(inOrder.map(toRow)), ...sentFlows.parameters(flows)];
    // Not awaited, so that COMMIT travels with it; its failure fails the whole.
    const rows = transaction.query<{ written: number }>(recordText, parameters);
    rows.catch(() => undefined);
    return { rows, givenUp };
  });
  return { written: (await recording.rows)[0]?.written ?? 0, givenUp: recording.givenUp };
}

const keyOf = ({ flow }: FlowingEndpoint): EndpointKey => ({ workspaceId: flow.workspaceId, endpointId: flow.endpointId });
