// The SQL statement on rate leases: how much of a key's minute has been handed out to processes, over all of them.
// Not through the lane: it touches no record of a workspace, and losing it in a crash of the database forgives one minute.

import type { Uuid } from '../domain/ids.ts';
import type { Queryable } from './database.ts';

/** A lease is this part of what remains, so that several processes share a minute fairly. */
const LEASE_SHARE = 8;

/** What one lease takes of a key's minute when `used` of the limit are gone: an eighth of the rest, at least one. */
export function leaseSize(used: number, limit: number): number {
  return Math.max(1, Math.floor((limit - used) / LEASE_SHARE));
}

export interface LeaseRequest {
  readonly workspaceId: Uuid;
  readonly keyId: Uuid;
  /** Minutes since 1970. */
  readonly minute: number;
  readonly limit: number;
}

interface LeaseRow {
  used: number;
}

// Finds and locks the one row by the primary key (workspace_id, key_id). A process whose clock is behind the row's minute draws from
// that minute, so that the sum stays within the limit whatever the clocks say. No row comes back when nothing is left.
const takeText = `
  insert into rate_leases as held (workspace_id, key_id, minute, used)
  values ($1::uuid, $2::uuid, $3::bigint, greatest(1, $4::integer / ${LEASE_SHARE}))
  on conflict (workspace_id, key_id) do update set
    minute = greatest(held.minute, excluded.minute),
    used = case
      when held.minute >= excluded.minute then held.used + greatest(1, ($4::integer - held.used) / ${LEASE_SHARE})
      else excluded.used
    end
  where held.minute < excluded.minute or held.used < $4::integer
  returning held.used`;

/** Takes the next lease of a key's minute; how much is used after it, or null when nothing was left. */
export async function takeLease(queryable: Queryable, { workspaceId, keyId, minute, limit }: LeaseRequest): Promise<number | null> {
  const [row] = await queryable.query<LeaseRow>(takeText, [workspaceId, keyId, minute, limit]);
  return row?.used ?? null;
}
