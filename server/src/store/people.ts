// Every SQL statement on people, their codes, their attempts to sign in, and on setting a server up. Each says which index it relies on.

import type { Uuid } from '../domain/ids.ts';
import type { Person } from '../domain/person.ts';
import type { Database, Queryable } from './database.ts';

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

export async function renamePerson(queryable: Queryable, id: Uuid, name: string, now: Date): Promise<void> {
  // Primary key.
  await queryable.query('update identity_users set name = $2, updated_at = $3 where id = $1', [id, name, now]);
}

export interface NewPerson {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
  readonly now: Date;
}

/**
 * Makes a person with a password; null where the address is taken. One who never was a member of anything is as good as none: an attempt to
 * sign up that broke off half-way leaves such a one behind, and it is given over. Unique index identity_users_by_email, whose row is
 * locked; index members_by_person.
 */
export function registerPerson(database: Database, { id, accountId, email, name, passwordHash, now }: NewPerson): Promise<Person | null> {
  return database.transaction(async (transaction) => {
    const [row] = await transaction.query<PersonRow>(
      `insert into identity_users as u (id, email, name, created_at, updated_at) values ($1, $2, $3, $4, $4)
       on conflict (email) do update set name = excluded.name, updated_at = excluded.updated_at
         where not u.totp_enabled and not exists (select from members m where m.person_id = u.id)
       returning ${COLUMNS}`,
      [id, email, name, now],
    );
    if (row === undefined) return null;
    await transaction.query('delete from identity_sessions where user_id = $1', [row.id]);
    await transaction.query(
      `insert into identity_accounts (id, user_id, account_id, provider_id, password_hash, created_at, updated_at)
       values ($1, $2, $5, 'credential', $3, $4, $4)
       on conflict (user_id, provider_id) do update set password_hash = excluded.password_hash, updated_at = excluded.updated_at`,
      [accountId, row.id, passwordHash, now, row.id],
    );
    return fromRow(row);
  });
}

/** Deletes a person who is and was a member of nothing, with all that proves who it is. Primary key, index members_by_person. */
export async function discardPerson(queryable: Queryable, id: Uuid): Promise<void> {
  await queryable.query('delete from identity_users u where u.id = $1 and not exists (select from members m where m.person_id = u.id)', [
    id,
  ]);
}

/** Whose sign-in waits for a code under this hashed identifier: index identity_challenges_by_identifier. */
export async function findChallenged(queryable: Queryable, identifier: string): Promise<Uuid | null> {
  const [row] = await queryable.query<{ value: Uuid }>(
    'select value from identity_challenges where identifier = $1 and expires_at > now() order by created_at desc limit 1',
    [identifier],
  );
  return row?.value ?? null;
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
  readonly bucket: Buffer;
  readonly attempts: number;
  readonly until: Date;
}

/** Counts one attempt in each bucket, in the order of the primary key; a window that is over begins anew. */
export function countAttempts(queryable: Queryable, buckets: readonly Buffer[], now: Date, windowMs: number): Promise<AttemptCount[]> {
  return queryable.query<AttemptCount>(
    `insert into sign_in_attempts as a (bucket, attempts, until)
     select b, 1, $3::timestamptz from unnest($1::bytea[]) as n(b) order by b
     on conflict (bucket) do update
       set attempts = case when a.until <= $2 then 1 else a.attempts + 1 end, until = case when a.until <= $2 then excluded.until else a.until end
     returning bucket, attempts, until`,
    [buckets, now, new Date(now.getTime() + windowMs)],
  );
}

const PRUNED_AT_ONCE = 200;

/** Primary key; and what is over goes along, by sign_in_attempts_by_end. */
export async function forgetAttempts(queryable: Queryable, bucket: Buffer, now: Date): Promise<void> {
  await queryable.query(
    `delete from sign_in_attempts where bucket = $1
       or bucket in (select bucket from sign_in_attempts where until < $2 order by until limit ${PRUNED_AT_ONCE})`,
    [bucket, now],
  );
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

/** A new password, no second factor and no session, for whoever has this address; false where nobody does. Indexes by address and by person. */
export function resetPassword(database: Database, email: string, passwordHash: string, now: Date): Promise<boolean> {
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
    await transaction.query('delete from identity_sessions where user_id = $1', [row.id]);
    return true;
  });
}
