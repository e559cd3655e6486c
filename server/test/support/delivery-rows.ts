// Many deliveries at once, as rows with attempts, without a worker: for tests of what is kept, counted and pruned.
// Only what the schema demands; nothing is sent.

import type { Uuid } from '../../src/domain/ids.ts';
import type { Database } from '../../src/store/database.ts';

export interface DeliveryRows {
  readonly workspaceId: Uuid;
  readonly endpointId: Uuid;
  readonly count: number;
  readonly status: 'pending' | 'succeeded' | 'failed' | 'cancelled';
  readonly createdAt: Date;
  /** When they ended; when they are due, while pending. By default when they were created. */
  readonly at?: Date;
  readonly attempts?: number;
  /** They are under way. */
  readonly leased?: boolean;
  /** The project whose order they keep. */
  readonly orderKey?: Uuid;
}

/** Each with an event of its own, numbered on from the workspace's last, and an id in the order of creation. */
export async function addDeliveries(database: Database, rows: DeliveryRows): Promise<void> {
  const { workspaceId, endpointId, count, status, createdAt, at = createdAt, attempts = 0, leased = false, orderKey = null } = rows;
  const [last] = await database.query<{ seq: bigint }>('select coalesce(max(seq), 0) as seq from events where workspace_id = $1', [
    workspaceId,
  ]);
  const first = Number(last?.seq ?? 0);
  const idOf = (kind: string): string =>
    `(lpad(to_hex((extract(epoch from $3::timestamptz) * 1000)::bigint), 12, '0') || '7${kind}008' || lpad(to_hex(n), 15, '0'))::uuid`;
  const numbers = 'from generate_series($4::bigint + 1, $4::bigint + $5::bigint) n';
  await database.query(
    `insert into events (workspace_id, seq, id, type, body, hash, created_at)
     select $1, n, ${idOf('e')}, 'project.created', $2, '', $3 ${numbers}`,
    [workspaceId, '{}', createdAt, first, count],
  );
  const pending = status === 'pending';
  await database.query(
    `insert into deliveries (workspace_id, id, endpoint_id, event_seq, status, attempts, next_attempt_at, lease_token, order_key, created_at, completed_at)
     select $1, ${idOf('d')}, $2, n, $6, $7, $8, $9, $10, $3, $11 ${numbers}`,
    [
      workspaceId,
      endpointId,
      createdAt,
      first,
      count,
      status,
      attempts,
      pending ? at : null,
      leased ? endpointId : null,
      orderKey,
      pending ? null : at,
    ],
  );
  await database.query(
    `insert into delivery_attempts (workspace_id, delivery_id, number, started_at, duration_ms, status_code)
     select $1, ${idOf('d')}, a, $3, 5, 500 ${numbers}, generate_series(1, $2::integer) a`,
    [workspaceId, attempts, createdAt, first, count],
  );
}
