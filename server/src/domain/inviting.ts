// Who is invited, and what comes of the link: a new invitation, one that is taken back, one that is accepted.
// Pure. Every decision is handed the members, and the invitations that wait, as they stand under the lock.

import { changesBetween } from './audit.ts';
import { accept, type Context, type Decision, reject, rejectMissing } from './decision.ts';
import type { Uuid } from './ids.ts';
import { canGive, INVITATION_LIFETIME_MS, type Invitation, revokeAll, statusOf } from './invitation.ts';
import { isPresent, join, MAX_MEMBERS, type Member, type MemberActor, refuseGiving } from './member.ts';
import { foldEmail, type Person } from './person.ts';
import type { GivenRole } from './roles.ts';

/** Of one workspace, at once: what is revoked together with a member, and what somebody can make the server promise, is bounded by it. */
export const MAX_PENDING_INVITATIONS = 100;

export interface InvitationDraft {
  readonly email: string;
  readonly role: GivenRole;
  readonly tokenHash: Buffer;
}

/** What the decisions on invitations look at. */
export interface Membership {
  readonly members: readonly Member[];
  /** All that wait; others do no harm. */
  readonly invitations: readonly Invitation[];
}

/** The newest invitation of an address is the one that counts: whoever invites again has changed their mind, or the link was lost. */
export function decideInvitation(
  draft: InvitationDraft,
  actor: MemberActor,
  { members, invitations }: Membership,
  invitee: Person | null,
  context: Context,
): Decision<Invitation> {
  const refusal = refuseGiving(draft.role, actor);
  if (refusal !== null) return refusal;
  const present = members.filter(isPresent);
  if (invitee !== null && present.some((member) => member.personId === invitee.id))
    return reject('already_member', 'Whoever has this address is a member of the workspace already.');
  if (present.length >= MAX_MEMBERS) return reject('too_many_members', `A workspace has at most ${MAX_MEMBERS} members.`);
  const email = foldEmail(draft.email);
  const pending = invitations.filter((one) => statusOf(one, context.now) === 'pending');
  const older = revokeAll(ofAddress(pending, email), context);
  if (pending.length - older.invitations.length >= MAX_PENDING_INVITATIONS) {
    return reject('too_many_members', `A workspace has at most ${MAX_PENDING_INVITATIONS} invitations that wait; revoke some first.`);
  }
  const invitation: Invitation = {
    id: context.newId(),
    workspaceId: context.workspace.id,
    email,
    role: draft.role,
    tokenHash: draft.tokenHash,
    invitedBy: actor.personId,
    expiresAt: new Date(context.now.getTime() + INVITATION_LIFETIME_MS),
    acceptedAt: null,
    revokedAt: null,
    createdAt: context.now,
  };
  const audit = {
    action: 'invitation.created',
    target: { type: 'invitation', id: invitation.id },
    changes: changesBetween(null, { email, role: invitation.role }),
  } as const;
  return accept(invitation, { invitations: [...older.invitations, invitation], audit: [...older.audit, audit] });
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

/** Uses an invitation up and makes the person a member: one decision, so that a link is never used twice, and no other is left over. */
export function decideAcceptance(
  id: Uuid,
  person: Pick<Person, 'id' | 'email' | 'name'>,
  { members, invitations }: Membership,
  context: Context,
): Decision<Member> {
  const invitation = invitations.find((one) => one.id === id);
  const email = foldEmail(person.email);
  if (invitation === undefined || statusOf(invitation, context.now) !== 'pending' || invitation.email !== email)
    return reject('invitation_invalid', 'The invitation was used, was revoked or has expired, or it is for another email address.');
  if (!isStillGiven(invitation, members))
    return reject('invitation_invalid', 'Whoever sent the invitation could not send it any more; ask for a new one.');
  const joined = join(person.id, person.name, invitation.role, members, context);
  if (!joined.accepted) return joined;
  const accepted: Invitation = { ...invitation, acceptedAt: context.now };
  const others = revokeAll(
    ofAddress(invitations, email).filter((one) => one.id !== id),
    context,
  );
  const changes = changesBetween(null, { email: invitation.email, role: invitation.role });
  const audit = { action: 'invitation.accepted', target: { type: 'invitation', id: invitation.id }, changes } as const;
  return accept(joined.result, {
    ...joined.changes,
    invitations: [accepted, ...others.invitations],
    audit: [audit, ...(joined.changes.audit ?? []), ...others.audit],
  });
}

const ofAddress = (invitations: readonly Invitation[], email: string): readonly Invitation[] =>
  invitations.filter((invitation) => invitation.email === email);

/** A removal or another role revokes what its member had sent. Earlier versions did not, and their links may still be about. */
function isStillGiven({ invitedBy, role }: Invitation, members: readonly Member[]): boolean {
  if (invitedBy === null) return true;
  return members.some((member) => member.personId === invitedBy && isPresent(member) && canGive(member.role, role));
}
