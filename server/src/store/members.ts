// Every SQL statement on members. Each says which index or lock it relies on.

import type { Uuid } from '../domain/ids.ts';
import type { Member } from '../domain/member.ts';
import type { Membership } from '../domain/person.ts';
import type { Role } from '../domain/roles.ts';
import type { Queryable } from './database.ts';
import { defineList, type Source } from './lists.ts';
import { sessionHolds } from './sessions.ts';
import { columnTypes, defineTable } from './tables.ts';

export const memberTable = defineTable<Member>('members', {
  workspaceId: columnTypes.fixedUuid('workspace_id'),
  id: columnTypes.fixedUuid('id'),
  personId: columnTypes.fixedUuid('person_id'),
  role: { column: 'role', type: 'text' },
  // Written again when somebody comes back.
  createdAt: { column: 'created_at', type: 'timestamptz(3)' },
  updatedAt: { column: 'updated_at', type: 'timestamptz(3)' },
  removedAt: { column: 'removed_at', type: 'timestamptz(3)' },
});

/** A member with what is known of the person. */
export interface MemberWithPerson {
  readonly id: Uuid;
  readonly member: Member;
  readonly name: string;
  readonly email: string;
  readonly totpEnabled: boolean;
}

/** Each member with the person: one look-up by the primary key of identity_users, forced by the lateral limit. Who left is no member. */
export const memberSource: Source<MemberWithPerson> = {
  select: `${memberTable.select('t')}, p.name as person_name, p.email, p.totp_enabled`,
  table: '(select * from members where removed_at is null)',
  join: 'left join lateral (select x.name, x.email, x.totp_enabled from identity_users x where x.id = t.person_id limit 1) p on true',
  fromRow: (row) => ({
    id: row.id as Uuid,
    member: memberTable.fromRow(row),
    name: row.person_name as string,
    email: row.email as string,
    totpEnabled: row.totp_enabled as boolean,
  }),
};

/** The members of a workspace: the primary key (workspace_id, id). */
export const listMembers = defineList<MemberWithPerson, object>({ source: memberSource, conditions: {} });

/** All members of these workspaces, those who left included: the beginning of the primary key. For the lane, under the head's lock. */
export async function loadMembersOf(queryable: Queryable, workspaceIds: readonly Uuid[]): Promise<Member[]> {
  const rows = await queryable.query<Record<string, unknown>>(
    `select ${memberTable.select('t')} from members t where t.workspace_id = any($1::uuid[])`,
    [workspaceIds],
  );
  return rows.map(memberTable.fromRow);
}

/** What says whether somebody may still write with a session. */
export interface MemberValidity {
  readonly workspaceId: Uuid;
  readonly personId: Uuid;
  readonly sessionId: Uuid;
  /** Null for who is no member. */
  readonly role: Role | null;
  /** Whether the session still holds. */
  readonly holds: boolean;
}

/** Of the calling people, only what every write looks at: unique index members_one_per_person, then the primary key of identity_sessions. */
export async function loadMemberValidity(
  queryable: Queryable,
  asked: readonly { readonly workspaceId: Uuid; readonly personId: Uuid; readonly sessionId: Uuid }[],
): Promise<MemberValidity[]> {
  const rows = await queryable.query<{ workspace_id: Uuid; person_id: Uuid; session_id: Uuid; role: Role | null; holds: boolean }>(
    `select n.workspace_id, n.person_id, n.session_id, m.role,
            exists (select from identity_sessions s where s.id = n.session_id and s.user_id = n.person_id and ${sessionHolds('s')}) as holds
     from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as n(workspace_id, person_id, session_id)
     left join members m on m.workspace_id = n.workspace_id and m.person_id = n.person_id and m.removed_at is null`,
    [asked.map((one) => one.workspaceId), asked.map((one) => one.personId), asked.map((one) => one.sessionId)],
  );
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    personId: row.person_id,
    sessionId: row.session_id,
    role: row.role,
    holds: row.holds,
  }));
}

/** The workspaces of a person, oldest first: index members_by_person, then primary keys. */
export async function membershipsOf(queryable: Queryable, personId: Uuid): Promise<Membership[]> {
  const rows = await queryable.query<{ workspace_id: Uuid; name: string; id: Uuid; role: Role; closed_at: Date | null }>(
    `select m.workspace_id, w.name, m.id, m.role, w.closed_at from members m join workspaces w on w.id = m.workspace_id
     where m.person_id = $1 and m.removed_at is null order by m.workspace_id`,
    [personId],
  );
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    workspaceName: row.name,
    memberId: row.id,
    role: row.role,
    closedAt: row.closed_at,
  }));
}

/** Whether anybody has ever been a member of anything: reads one row. */
export async function hasMembers(queryable: Queryable): Promise<boolean> {
  const [row] = await queryable.query<{ found: boolean }>('select exists (select from members) as found');
  return row?.found === true;
}
