// Whether a connection pooler stands between us and the server, and what to configure then.
// Opens no connection; looks at one that is open.

import type pg from 'pg';
import { runScript } from './statements.ts';

/** Selects the process that serves the session. */
export const BACKEND = 'pg_backend_pid()';

/**
 * A server tells each client the process that serves it, for the client to cancel by; a pooler tells a number of its own. So this is true of
 * a pooler in any mode. Proxies that only pass bytes on are not seen, and disturb nothing.
 */
export function speaksForAnother(client: pg.ClientBase, backendPid: number | undefined): boolean {
  // pg keeps what the server told without a type for it.
  const told = (client as unknown as { readonly processID?: number | null }).processID;
  return typeof told === 'number' && backendPid !== undefined && told !== backendPid;
}

export async function isPooled(client: pg.ClientBase): Promise<boolean> {
  const rows = await runScript<{ pid: number }>(client, `select ${BACKEND} as pid`);
  return speaksForAnother(client, rows[0]?.pid);
}

/** A setting leads to a pooler where it must not, or with a setting that a pooler breaks. */
export class PoolerInTheWay extends Error {
  constructor(setting: 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'PREPARED_STATEMENTS') {
    super(messages[setting]);
    this.name = 'PoolerInTheWay';
  }
}

const messages = {
  DATABASE_URL:
    'DATABASE_URL leads to a connection pooler such as PgBouncer, and DATABASE_DIRECT_URL is not set. Notifications, locks and migrations need a ' +
    'connection past it: set DATABASE_DIRECT_URL to the server itself, and PREPARED_STATEMENTS=off. Only where the pooler gives every client a ' +
    'session of its own (pool_mode=session), set DATABASE_DIRECT_URL to the same address as DATABASE_URL instead.',
  DATABASE_DIRECT_URL:
    'DATABASE_DIRECT_URL leads to a connection pooler itself. It must lead to the PostgreSQL server, past any pooler in transaction mode.',
  PREPARED_STATEMENTS:
    'DATABASE_URL leads to a connection pooler, which may serve every transaction by another session: set PREPARED_STATEMENTS=off. Only where ' +
    'the pooler gives every client a session of its own (pool_mode=session), set DATABASE_DIRECT_URL to the same address as DATABASE_URL instead.',
} as const;
