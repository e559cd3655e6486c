// Every SQL statement that reads deliveries and their attempts for people. Each says which index it relies on.
// Claims and writes nothing: that is the business of the queue.

import type { AttemptErrorKind, Delivery, DeliveryAttempt, DeliveryStatus } from '../domain/delivery.ts';
import type { EventType } from '../domain/event.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Queryable } from './database.ts';
import type { Page, Source } from './lists.ts';

interface DeliveryRow {
  workspace_id: Uuid;
  id: Uuid;
  endpoint_id: Uuid;
  event_id: Uuid;
  event_type: EventType;
  event_seq: bigint;
  previous_seq: bigint | null;
  status: DeliveryStatus;
  attempts: number;
  next_attempt_at: Date | null;
  created_at: Date;
  completed_at: Date | null;
}

function readDelivery(row: DeliveryRow): Delivery {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    eventType: row.event_type,
    eventSeq: Number(row.event_seq),
    previousSeq: row.previous_seq === null ? null : Number(row.previous_seq),
    status: row.status,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at,
    createdAt: row.created_at,
    completedAt: row.completed_at,
  };
}

/** Each delivery with the id and type of its event: one look-up by the primary key of events (workspace_id, seq), forced by the lateral limit. */
export const deliverySource: Source<Delivery> = {
  select:
    't.workspace_id, t.id, t.endpoint_id, e.id as event_id, e.type as event_type, t.event_seq, t.previous_seq, t.status, t.attempts, ' +
    't.next_attempt_at, t.created_at, t.completed_at',
  table: 'deliveries',
  join: 'cross join lateral (select x.id, x.type from events x where x.workspace_id = t.workspace_id and x.seq = t.event_seq limit 1) e',
  fromRow: (row) => readDelivery(row as unknown as DeliveryRow),
};

interface AttemptRow {
  number: number;
  started_at: Date;
  duration_ms: number;
  status_code: number | null;
  error_kind: AttemptErrorKind | null;
  error: string | null;
  remote_address: string | null;
  response_headers: Record<string, string> | null;
  response_body: string | null;
  response_truncated: boolean;
}

const attemptsText =
  'select number, started_at, duration_ms, status_code, error_kind, error, remote_address, response_headers, response_body, ' +
  'response_truncated from delivery_attempts ' +
  'where workspace_id = $1 and delivery_id = $2 and number < $3 order by number desc limit $4';

/** More attempts than any delivery has. */
const PAST_THE_LAST = 2_147_483_647;

/** The attempts of a delivery before one of them, latest first: the primary key (workspace_id, delivery_id, number). */
export async function listAttempts(
  queryable: Queryable,
  workspaceId: Uuid,
  deliveryId: Uuid,
  page: { readonly limit: number; readonly before?: number | undefined },
): Promise<Page<DeliveryAttempt>> {
  const parameters = [workspaceId, deliveryId, page.before ?? PAST_THE_LAST, page.limit + 1];
  const rows = await queryable.query<AttemptRow>(attemptsText, parameters);
  const hasMore = rows.length > page.limit;
  if (hasMore) rows.length = page.limit;
  const records = rows.map((row) => ({
    number: row.number,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    statusCode: row.status_code,
    errorKind: row.error_kind,
    error: row.error,
    remoteAddress: row.remote_address,
    responseHeaders: row.response_headers,
    responseBody: row.response_body,
    responseTruncated: row.response_truncated,
  }));
  return { records, hasMore };
}
