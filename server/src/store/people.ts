// Every SQL statement on people, their codes, their attempts to sign in, and on setting a server up. Each says which index it relies on.

import type { AuditEntry } from '../domain/audit.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Membership, NewPerson, Person } from '../domain/person.ts';
import { auditEntryTable } from './audit-entries.ts';
import type { Database, Queryable } from './database.ts';
import { membershipsOf } from './members.ts';
import { sessionHolds } from './sessions.ts';
import { insertRows, type Write } from './tables.ts';

interface PersonRow {
  id: Uuid;
  email: string;
  name: string;
  totp_enabled: boolean;
  created_at: Date;
}

const COLUMNS = 'id, email, name, totp_enabled, created_at';
const fromRow = (row: PersonRow): Person => ({
  id: row.id,
  email: row.email,
  name: row.name,
  totpEnabled: row.totp_enabled,
  createdAt: row.created_at,
});

/** Primary key. */
export async function findPerson(queryable: Queryable, id: Uuid): Promise<Person | null> {
  const [row] = await queryable.query<PersonRow>(`select ${COLUMNS} from identity_users where id = $1`, [id]);
  return row === undefined ? null : fromRow(row);
}

/** By the address in lower case: unique index identity_users_by_email. */
export async function findPersonByEmail(queryable: Queryable, email: string): Promise<Person | null> {
  const [row] = await queryable.query<PersonRow>(`select ${COLUMNS} from identity_users where email = $1`, [email]);
  return row === undefined ? null : fromRow(row);
}

/** Gives a person another name; false where the session that asks has ended. Primary keys. */
export async function renamePerson(queryable: Queryable, id: Uuid, sessionId: Uuid, name: string, now: Date): Promise<boolean> {
  const rows = await queryable.query(
    `update identity_users u set name = $3, updated_at = $4 from identity_sessions s
     where u.id = $1 and s.id = $2 and s.user_id = u.id and ${sessionHolds('s')} returning 1`,
    [id, sessionId, name, now],
  );
  return rows.length > 0;
}

/**
 * The statements that make people with their passwords, in the batch that gives them a place. Of two who take one address at once, unique
 * index identity_users_by_email lets one through.
 */
export function newPeopleWrites(people: readonly NewPerson[]): Write[] {
  const ids = people.map(({ id }) => id);
  const createdAt = people.map((person) => person.createdAt);
  return [
    {
      text: `
        insert into identity_users (id, email, name, created_at, updated_at)
        select id, email, name, created_at, created_at
        from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[]) as r(id, email, name, created_at)`,
      parameters: [ids, people.map(({ email }) => email), people.map(({ name }) => name), createdAt],
    },
    {
      text: `
        insert into identity_accounts (id, user_id, account_id, provider_id, password_hash, created_at, updated_at)
        select id, user_id, user_id::text, 'credential', password_hash, created_at, created_at
        from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[]) as r(id, user_id, password_hash, created_at)`,
      parameters: [people.map(({ accountId }) => accountId), ids, people.map(({ passwordHash }) => passwordHash), createdAt],
    },
  ];
}

/** The hash of a person's password, by their id or their address: indexes identity_accounts_by_user and identity_users_by_email. */
export async function findPasswordHash(queryable: Queryable, who: { id: Uuid } | { email: string }): Promise<string | null> {
  const [condition, value] = 'id' in who ? ['u.id = $1', who.id] : ['u.email = $1', who.email];
  const [row] = await queryable.query<{ password_hash: string | null }>(
    `select a.password_hash from identity_users u join identity_accounts a on a.user_id = u.id and a.provider_id = 'credential'
     where ${condition}`,
    [value],
  );
  return row?.password_hash ?? null;
}

/**
 * Whose sign-in waits for a code under this hashed identifier: index identity_challenges_by_identifier. Beside each stands a counter of its
 * wrong codes, under an identifier that can be guessed from the other; that is nobody's sign-in.
 */
export async function findChallenged(queryable: Queryable, identifier: string): Promise<Uuid | null> {
  const [row] = await queryable.query<{ value: Uuid }>(
    `select value from identity_challenges where identifier = $1 and expires_at > now() and value ~ '^[0-9a-f-]{36}$'
     order by created_at desc limit 1`,
    [identifier],
  );
  return row?.value ?? null;
}

/** Ends one, by its identifier. */
export async function deleteChallenge(queryable: Queryable, identifier: string): Promise<void> {
  await queryable.query('delete from identity_challenges where identifier = $1', [identifier]);
}

/**
 * Notes that a code was sent; false where the same was sent within `againAfterMs`. Primary key: of two at once, one waits and is told no.
 */
export async function claimCode(queryable: Queryable, personId: Uuid, codeHash: Buffer, now: Date, againAfterMs: number): Promise<boolean> {
  const before = new Date(now.getTime() - againAfterMs);
  const rows = await queryable.query(
    `insert into identity_used_codes as c (user_id, code_hash, used_at) values ($1, $2, $3)
     on conflict (user_id, code_hash) do update set used_at = excluded.used_at where c.used_at < $4 returning 1`,
    [personId, codeHash, now, before],
  );
  await queryable.query('delete from identity_used_codes where user_id = $1 and used_at < $2', [personId, before]);
  return rows.length > 0;
}

export interface AttemptCount {
  readonly attempts: number;
  readonly until: Date;
}

/** Counts one attempt in a bucket, by its primary key; a window that is over begins anew. */
export async function countAttempt(queryable: Queryable, bucket: Buffer, now: Date, windowMs: number): Promise<AttemptCount> {
  const [row] = await queryable.query<AttemptCount>(
    `insert into sign_in_attempts as a (bucket, attempts, until) values ($1, 1, $3)
     on conflict (bucket) do update
       set attempts = case when a.until <= $2 then 1 else a.attempts + 1 end, until = case when a.until <= $2 then excluded.until else a.until end
     returning attempts, until`,
    [bucket, now, new Date(now.getTime() + windowMs)],
  );
  return row as AttemptCount;
}

/** Primary key. */
export async function forgetAttempts(queryable: Queryable, bucket: Buffer): Promise<void> {
  await queryable.query('delete from sign_in_attempts where bucket = $1', [bucket]);
}

/** Deletes windows that are over, oldest first, past those that somebody counts in; returns how many. Index sign_in_attempts_by_end. */
export async function pruneAttempts(queryable: Queryable, now: Date, limit: number): Promise<number> {
  const rows = await queryable.query(
    `delete from sign_in_attempts where bucket in (
       select bucket from sign_in_attempts where until < $1 order by until limit $2 for update skip locked
     ) returning 1`,
    [now, limit],
  );
  return rows.length;
}

/** How many printed tokens count at once: those of several processes that serve. */
const MAX_SETUP_TOKENS = 16;

/** Notes the token that this process prints. `alone`: no other process can have printed one that counts. A handful of rows. */
export function addSetupToken(database: Database, tokenHash: Buffer, now: Date, alone: boolean): Promise<void> {
  return database.transaction(async (transaction) => {
    if (alone) await transaction.query('delete from setup_tokens');
    await transaction.query('insert into setup_tokens (hash, created_at) values ($1, $2)', [tokenHash, now]);
    await transaction.query(
      `delete from setup_tokens where hash not in (select hash from setup_tokens order by created_at desc limit ${MAX_SETUP_TOKENS})`,
    );
  });
}

/** Primary key. */
export async function hasSetupToken(queryable: Queryable, tokenHash: Buffer): Promise<boolean> {
  return (await queryable.query('select 1 from setup_tokens where hash = $1', [tokenHash])).length > 0;
}

export async function deleteSetupTokens(queryable: Queryable): Promise<void> {
  // A handful of rows.
  await queryable.query('delete from setup_tokens');
}

export interface PasswordReset {
  readonly email: string;
  readonly passwordHash: string;
  readonly now: Date;
  /** The ids of the entries in the audit logs. */
  readonly newId: () => Uuid;
}

/**
 * A new password, no second factor and no session, for whoever has this address, with an entry in the audit log of each of their open
 * workspaces; false where nobody has it. Indexes by address, by person, and members_by_person.
 */
export function resetPassword(database: Database, { email, passwordHash, now, newId }: PasswordReset): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const [row] = await transaction.query<{ id: Uuid }>(
      'update identity_users set totp_enabled = false, updated_at = $2 where email = $1 returning id',
      [email, now],
    );
    if (row === undefined) return false;
    await transaction.query(
      "update identity_accounts set password_hash = $2, updated_at = $3 where user_id = $1 and provider_id = 'credential'",
      [row.id, passwordHash, now],
    );
    await transaction.query('delete from identity_totp where user_id = $1', [row.id]);
    // All that wait are walked through; they are the few of ten minutes.
    await transaction.query('delete from identity_challenges where value = $1', [row.id]);
    await transaction.query('delete from identity_sessions where user_id = $1', [row.id]);
    const memberships = await membershipsOf(transaction, row.id);
    const entries = memberships.filter(({ closedAt }) => closedAt === null).map((membership) => entryOfReset(membership, now, newId));
    if (entries.length > 0) await insertRows(transaction, auditEntryTable, entries);
    return true;
  });
}

const entryOfReset = ({ workspaceId, memberId }: Membership, now: Date, newId: () => Uuid): AuditEntry => ({
  ...{ id: newId(), workspaceId, actorType: 'system', actorId: null, actorName: 'Command line' },
  ...{ action: 'member.password_reset', targetType: 'member', targetId: memberId, changes: {} },
  ...{ ip: null, userAgent: null, createdAt: now },
});
