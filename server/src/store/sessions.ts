// Every SQL statement on sessions but those of identity itself. Each says which index it relies on.

import type { Uuid } from '../domain/ids.ts';
import type { Membership, Person } from '../domain/person.ts';
import type { Role } from '../domain/roles.ts';
import type { Queryable } from './database.ts';
import { type Page, type PageRequest, positions } from './lists.ts';
import type { KeyValidity, RecordKey } from './records.ts';

/** Whether a session would be admitted, wherever one is looked at: one that nobody has used for so long is over, whatever its end. */
export const sessionHolds = (alias: string): string => `${alias}.expires_at > now() and ${alias}.last_used_at > now() - interval '7 days'`;

interface PersonRow {
  session_id: Uuid;
  person_id: Uuid;
  email: string;
  name: string;
  totp_enabled: boolean;
  person_created_at: Date;
  memberships: { workspace_id: Uuid; workspace_name: string; id: Uuid; role: Role; closed_at: string | null }[];
}

export interface SessionOfPerson {
  readonly sessionId: Uuid;
  readonly person: Person;
  /** Oldest first. */
  readonly memberships: readonly Membership[];
}

/** Whose session it is, and of which workspaces: unique index identity_sessions_by_token, index members_by_person, primary keys. */
export async function findSessionByHash(queryable: Queryable, tokenHash: Buffer): Promise<SessionOfPerson | null> {
  const [row] = await queryable.query<PersonRow>(
    `select s.id as session_id, u.id as person_id, u.email, u.name, u.totp_enabled, u.created_at as person_created_at,
            coalesce((select json_agg(json_build_object('workspace_id', m.workspace_id, 'workspace_name', w.name, 'id', m.id, 'role', m.role,
                                                        'closed_at', w.closed_at) order by m.workspace_id)
                      from members m join workspaces w on w.id = m.workspace_id
                      where m.person_id = u.id and m.removed_at is null), '[]'::json) as memberships
     from identity_sessions s join identity_users u on u.id = s.user_id
     where s.token_hash = $1 and ${sessionHolds('s')}`,
    [tokenHash],
  );
  if (row === undefined) return null;
  return {
    sessionId: row.session_id,
    person: {
      id: row.person_id,
      email: row.email,
      name: row.name,
      totpEnabled: row.totp_enabled,
      createdAt: row.person_created_at,
    },
    memberships: row.memberships.map((membership) => ({
      workspaceId: membership.workspace_id,
      workspaceName: membership.workspace_name,
      memberId: membership.id,
      role: membership.role,
      closedAt: membership.closed_at === null ? null : new Date(membership.closed_at),
    })),
  };
}

export interface SessionRecord {
  readonly id: Uuid;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
  readonly createdAt: Date;
}

/** The sessions of a person that still hold, newest first: index identity_sessions_by_user. */
export async function listSessions(queryable: Queryable, personId: Uuid, page: PageRequest): Promise<Page<SessionRecord>> {
  const parameters: unknown[] = [personId];
  const bind = (value: unknown): string => `$${parameters.push(value)}`;
  const where = ['t.user_id = $1', sessionHolds('t'), ...positions(page, bind)];
  const backwards = page.endingBefore !== undefined;
  const rows = await queryable.query<{
    id: Uuid;
    ip_address: string | null;
    user_agent: string | null;
    last_used_at: Date;
    expires_at: Date;
    created_at: Date;
  }>(
    `select t.id, t.ip_address, t.user_agent, t.last_used_at, t.expires_at, t.created_at from identity_sessions t
     where ${where.join(' and ')} order by t.id ${backwards ? 'asc' : 'desc'} limit ${bind(page.limit + 1)}`,
    parameters,
  );
  const hasMore = rows.length > page.limit;
  if (hasMore) rows.length = page.limit;
  if (backwards) rows.reverse();
  const records = rows.map((row) => ({
    id: row.id,
    ip: row.ip_address || null,
    userAgent: row.user_agent || null,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
  }));
  return { records, hasMore };
}

/** Ends a session of this person; false where there is none. Primary key. */
export async function deleteSession(queryable: Queryable, personId: Uuid, sessionId: Uuid): Promise<boolean> {
  const rows = await queryable.query('delete from identity_sessions where id = $1 and user_id = $2 returning 1', [sessionId, personId]);
  return rows.length > 0;
}

/** Ends the session with this token. Unique index identity_sessions_by_token. */
export async function deleteSessionByHash(queryable: Queryable, tokenHash: Buffer): Promise<void> {
  await queryable.query('delete from identity_sessions where token_hash = $1', [tokenHash]);
}

/**
 * Whether a session of this person still holds, in a transaction that does something with it: until that has ended, nobody ends the
 * session. Primary key.
 */
export async function lockSession(transaction: Queryable, personId: Uuid, sessionId: Uuid): Promise<boolean> {
  const rows = await transaction.query(
    `select 1 from identity_sessions s where s.id = $1 and s.user_id = $2 and ${sessionHolds('s')} for key share`,
    [sessionId, personId],
  );
  return rows.length > 0;
}

const MAX_SESSIONS = 100;
const PRUNED_AT_ONCE = 100;

/** Of a person the newest hundred stay (index identity_sessions_by_user); of everybody what has ended goes, a bite at a time (identity_sessions_by_end). */
export async function pruneSessions(queryable: Queryable, personId: Uuid): Promise<void> {
  await queryable.query(
    `delete from identity_sessions where id in (
       select id from identity_sessions where user_id = $1 order by id desc offset ${MAX_SESSIONS} limit ${PRUNED_AT_ONCE}
     ) or id in (select id from identity_sessions where expires_at < now() order by expires_at limit ${PRUNED_AT_ONCE})`,
    [personId],
  );
}

/** Notes when sessions were last used, in the order of the primary key, so that two processes cannot wait for each other. */
export async function touchSessions(queryable: Queryable, uses: readonly { keyId: Uuid; usedAt: Date }[]): Promise<void> {
  await queryable.query(
    `with r as (select * from unnest($1::uuid[], $2::timestamptz[]) as r(id, used_at)),
          s as (select s.id from identity_sessions s join r on r.id = s.id order by s.id for update of s)
     update identity_sessions t set last_used_at = greatest(t.last_used_at, r.used_at) from r, s where t.id = r.id and s.id = r.id`,
    [uses.map((use) => use.keyId), uses.map((use) => use.usedAt)],
  );
}

/** Of sessions, in the form of keys, whether they hold in a workspace: primary key, then unique index members_one_per_person. */
export async function loadSessionValidity(queryable: Queryable, asked: readonly RecordKey[]): Promise<KeyValidity[]> {
  const rows = await queryable.query<{ workspace_id: Uuid; id: Uuid; expires_at: Date }>(
    `select n.workspace_id, s.id, s.expires_at from unnest($1::uuid[], $2::uuid[]) as n(workspace_id, id)
     join identity_sessions s on s.id = n.id and ${sessionHolds('s')}
     join members m on m.workspace_id = n.workspace_id and m.person_id = s.user_id and m.removed_at is null`,
    [asked.map((one) => one.workspaceId), asked.map((one) => one.id)],
  );
  return rows.map((row) => ({ workspaceId: row.workspace_id, id: row.id, expiresAt: row.expires_at, revokedAt: null }));
}
