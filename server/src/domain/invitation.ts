// Invitations: a link for one address and one role, that is used once, ends by itself and can be revoked.
// Pure. Only the hash of a link's token is kept; the token is handed in by whoever made it.

import { changesBetween } from './audit.ts';
import { accept, type Context, type Decision, reject, rejectMissing } from './decision.ts';
import type { Uuid } from './ids.ts';
import { isPresent, join, MAX_MEMBERS, type Member, type MemberActor, refuseGiving } from './member.ts';
import { foldEmail, type Person } from './person.ts';
import type { GivenRole } from './roles.ts';

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

export interface InvitationDraft {
  readonly email: string;
  readonly role: GivenRole;
  readonly tokenHash: Buffer;
}

/** `emails` are the addresses of the members, as far as they are known. */
export function decideInvitation(
  draft: InvitationDraft,
  actor: MemberActor,
  members: readonly Member[],
  invitee: Person | null,
  context: Context,
): Decision<Invitation> {
  const refusal = refuseGiving(draft.role, actor);
  if (refusal !== null) return refusal;
  const present = members.filter(isPresent);
  if (invitee !== null && present.some((member) => member.personId === invitee.id))
    return reject('already_member', 'Whoever has this address is a member of the workspace already.');
  if (present.length >= MAX_MEMBERS) return reject('too_many_members', `A workspace has at most ${MAX_MEMBERS} members.`);
  const invitation: Invitation = {
    id: context.newId(),
    workspaceId: context.workspace.id,
    email: foldEmail(draft.email),
    role: draft.role,
    tokenHash: draft.tokenHash,
    invitedBy: actor.personId,
    expiresAt: new Date(context.now.getTime() + INVITATION_LIFETIME_MS),
    acceptedAt: null,
    revokedAt: null,
    createdAt: context.now,
  };
  const { email, role } = invitation;
  const audit = {
    action: 'invitation.created',
    target: { type: 'invitation', id: invitation.id },
    changes: changesBetween(null, { email, role }),
  } as const;
  return accept(invitation, { invitations: [invitation], audit: [audit] });
}

/** An invitation that was used stays used: whom it made a member is removed as a member. Revoking it again changes nothing. */
export function decideInvitationRevocation(invitation: Invitation | undefined, context: Context): Decision<Invitation> {
  if (invitation === undefined) return rejectMissing();
  const status = statusOf(invitation, context.now);
  if (status === 'revoked') return accept(invitation);
  if (status === 'accepted') return reject('invalid_transition', 'The invitation was accepted; remove the member instead.');
  const revoked: Invitation = { ...invitation, revokedAt: context.now };
  const changes = changesBetween({ email: invitation.email }, { email: null });
  return accept(revoked, {
    invitations: [revoked],
    audit: [{ action: 'invitation.revoked', target: { type: 'invitation', id: invitation.id }, changes }],
  });
}

/** Uses an invitation up and makes the person a member: one decision, so that a link is never used twice. */
export function decideAcceptance(
  invitation: Invitation | undefined,
  person: Pick<Person, 'id' | 'email' | 'name'>,
  members: readonly Member[],
  context: Context,
): Decision<Member> {
  if (invitation === undefined || statusOf(invitation, context.now) !== 'pending' || invitation.email !== foldEmail(person.email))
    return reject('invitation_invalid', 'The invitation was used, was revoked or has expired, or it is for another email address.');
  const joined = join(person.id, person.name, invitation.role, members, context);
  if (!joined.accepted) return joined;
  const accepted: Invitation = { ...invitation, acceptedAt: context.now };
  const changes = changesBetween(null, { email: invitation.email, role: invitation.role });
  const audit = { action: 'invitation.accepted', target: { type: 'invitation', id: invitation.id }, changes } as const;
  return accept(joined.result, { ...joined.changes, invitations: [accepted], audit: [audit, ...(joined.changes.audit ?? [])] });
}
