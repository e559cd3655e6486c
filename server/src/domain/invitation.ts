// Invitations: a link for one address and one role, that is used once, ends by itself and can be revoked; and what revokes it unasked.
// Pure. Only the hash of a link's token is kept. Who invites and accepts is decided in inviting.ts.

import { type AuditDraft, changesBetween } from './audit.ts';
import type { Context } from './decision.ts';
import type { Uuid } from './ids.ts';
import { type GivenRole, type Role, roleScopes } from './roles.ts';
import { covers } from './scopes.ts';

export const INVITATION_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;

export interface Invitation {
  readonly id: Uuid;
  readonly workspaceId: Uuid;
  /** In lower case. */
  readonly email: string;
  readonly role: GivenRole;
  /** SHA-256 of the token. */
  readonly tokenHash: Buffer;
  /** The person who invited; null where a key did. */
  readonly invitedBy: Uuid | null;
  readonly expiresAt: Date;
  readonly acceptedAt: Date | null;
  readonly revokedAt: Date | null;
  readonly createdAt: Date;
}

export type InvitationStatus = 'pending' | 'accepted' | 'revoked' | 'expired';

export function statusOf(invitation: Invitation, now: Date): InvitationStatus {
  if (invitation.acceptedAt !== null) return 'accepted';
  if (invitation.revokedAt !== null) return 'revoked';
  return invitation.expiresAt <= now ? 'expired' : 'pending';
}

export interface Revocations {
  readonly invitations: readonly Invitation[];
  readonly audit: readonly AuditDraft[];
}

/** Revokes those of them that wait, each with its entry. */
export function revokeAll(invitations: readonly Invitation[], { now }: Pick<Context, 'now'>): Revocations {
  const pending = invitations.filter((invitation) => statusOf(invitation, now) === 'pending');
  return {
    invitations: pending.map((invitation) => ({ ...invitation, revokedAt: now })),
    audit: pending.map(({ id, email }) => ({
      action: 'invitation.revoked',
      target: { type: 'invitation', id },
      changes: changesBetween({ email }, { email: null }),
    })),
  };
}

/** Inviting takes the scope of it, and all that the role may do. */
export const canGive = (role: Role, given: GivenRole): boolean => covers(roleScopes[role], ['members:write', ...roleScopes[given]]);

/** A member whose role changes, or who goes (`role` null). `email` never changes. */
export interface ChangingMember {
  readonly personId: Uuid;
  readonly email: string;
  readonly role: Role | null;
}

/** What a link would undo or outlive: invitations to the address of the one concerned, and those of theirs that they could not make now. */
export function revokeWith(changing: ChangingMember, invitations: readonly Invitation[], context: Pick<Context, 'now'>): Revocations {
  const { personId, email, role } = changing;
  const falls = (invitation: Invitation): boolean =>
    invitation.email === email || (invitation.invitedBy === personId && (role === null || !canGive(role, invitation.role)));
  return revokeAll(invitations.filter(falls), context);
}
