// Who may do what on the by-hand server: the key of a request, looked up for every request, and the refusals.
// Caches nothing, so that a revoked key is refused at once, as ours is.

import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type pg from 'pg';

export interface KeyRow {
  workspace_id: string;
  scopes: string[];
  revoked_at: Date | null;
  expires_at: Date | null;
}

export const hashOfKey = (header: string | undefined): Buffer | null =>
  header?.startsWith('Bearer ') === true ? createHash('sha256').update(header.slice(7)).digest() : null;

/** A list and not the reply itself: an async function would wait for a reply that it returns. */
export type Refusal = readonly [status: number, code: string];

export function refuse(reply: FastifyReply, [status, code]: Refusal): FastifyReply {
  return reply
    .code(status)
    .type('application/problem+json')
    .send({ type: `/docs/errors/${code}`, title: code, status, code });
}

/** Why a key may not do this; null when it may. */
export function refusalOf(key: Omit<KeyRow, 'workspace_id'> | undefined, scope: string): Refusal | null {
  if (key === undefined) return [401, 'invalid_api_key'];
  if (key.revoked_at !== null && key.revoked_at.getTime() <= Date.now()) return [401, 'api_key_revoked'];
  if (key.expires_at !== null && key.expires_at.getTime() <= Date.now()) return [401, 'api_key_expired'];
  return key.scopes.includes(scope) ? null : [403, 'insufficient_scope'];
}

/** Index api_keys_by_hash. */
const findKey = { name: 'find-key', text: 'select workspace_id, scopes, revoked_at, expires_at from api_keys where hash = $1' };

/** The workspace of a key that holds the scope, or why there is none. */
export async function admit(pool: pg.Pool, header: string | undefined, scope: string): Promise<string | Refusal> {
  const hash = hashOfKey(header);
  if (hash === null) return [401, 'missing_api_key'];
  const { rows } = await pool.query<KeyRow>({ ...findKey, values: [hash] });
  const key = rows[0];
  return refusalOf(key, scope) ?? (key as KeyRow).workspace_id;
}
