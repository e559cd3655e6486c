// Every SQL statement on invitations. Each says which index it relies on.

import type { Uuid } from '../domain/ids.ts';
import type { Invitation } from '../domain/invitation.ts';
import type { Queryable } from './database.ts';
import { defineList, type Source } from './lists.ts';
import { columnTypes, defineTable } from './tables.ts';

export const invitationTable = defineTable<Invitation>('invitations', {
  workspaceId: columnTypes.fixedUuid('workspace_id'),
  id: columnTypes.fixedUuid('id'),
  email: { column: 'email', type: 'text', fixed: true },
  role: { column: 'role', type: 'text', fixed: true },
  tokenHash: { column: 'token_hash', type: 'bytea', fixed: true },
  invitedBy: { column: 'invited_by', type: 'uuid', fixed: true },
  expiresAt: { column: 'expires_at', type: 'timestamptz(3)', fixed: true },
  acceptedAt: { column: 'accepted_at', type: 'timestamptz(3)' },
  revokedAt: { column: 'revoked_at', type: 'timestamptz(3)' },
  createdAt: columnTypes.createdAt,
});

export interface InvitationWithInviter {
  readonly id: Uuid;
  readonly invitation: Invitation;
  /** What the inviter is called now; null where a key invited. */
  readonly inviterName: string | null;
}

const fromRow = (row: Record<string, unknown>): InvitationWithInviter => ({
  id: row.id as Uuid,
  invitation: invitationTable.fromRow(row),
  inviterName: row.inviter_name as string | null,
});

const inviter = 'left join lateral (select x.name as inviter_name from identity_users x where x.id = t.invited_by limit 1) p on true';

/** Each invitation with whoever made it: one look-up by the primary key of identity_users. */
export const invitationSource: Source<InvitationWithInviter> = {
  select: `${invitationTable.select('t')}, p.inviter_name`,
  table: 'invitations',
  join: inviter,
  fromRow,
};

/** The invitations of a workspace, whatever their state: the primary key (workspace_id, id). */
export const listInvitations = defineList<InvitationWithInviter, object>({ source: invitationSource, conditions: {} });

/** The invitation with this token, over all workspaces: unique index invitations_by_token, then primary keys. */
export async function findInvitationByHash(
  queryable: Queryable,
  tokenHash: Buffer,
): Promise<(InvitationWithInviter & { readonly workspaceName: string }) | null> {
  const [row] = await queryable.query<Record<string, unknown>>(
    `select ${invitationSource.select}, w.name as workspace_name from invitations t join workspaces w on w.id = t.workspace_id ${inviter}
     where t.token_hash = $1`,
    [tokenHash],
  );
  return row === undefined ? null : { ...fromRow(row), workspaceName: row.workspace_name as string };
}
