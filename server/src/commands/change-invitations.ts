// Invitations: made, revoked, accepted. Scope: members:write for the first two; accepting takes the link alone.
// A token was hashed before it got here.

import type { Context, Decision } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Invitation } from '../domain/invitation.ts';
import {
  decideAcceptance,
  decideInvitation,
  decideInvitationRevocation,
  type InvitationDraft,
  type Membership,
} from '../domain/inviting.ts';
import type { Member, MemberActor } from '../domain/member.ts';
import type { Person } from '../domain/person.ts';
import { type Command, type Envelope, REVOKING, SMALL, type State } from './command.ts';

const membershipOf = (state: State): Membership => ({ members: state.members(), invitations: state.pendingInvitations() });

/** `invitee` is whoever has the address already. */
export function createInvitation(
  envelope: Envelope<Invitation>,
  draft: InvitationDraft,
  actor: MemberActor,
  invitee: Person | null,
): Command<Invitation> {
  return {
    ...envelope,
    ...REVOKING,
    name: 'create-invitation',
    needs: { members: true, pendingInvitations: true },
    // The link is in the answer.
    secretAnswer: true,
    decide: (state, context) => decideInvitation(draft, actor, membershipOf(state), invitee, context),
  };
}

export function revokeInvitation(envelope: Envelope<Invitation>, invitationId: Uuid): Command<Invitation> {
  return {
    ...envelope,
    ...SMALL,
    name: 'revoke-invitation',
    needs: { invitationId },
    decide: (state, context) => decideInvitationRevocation(state.invitation(invitationId), context),
  };
}

export function acceptInvitation(
  envelope: Envelope<Member>,
  invitationId: Uuid,
  person: Pick<Person, 'id' | 'email' | 'name'>,
): Command<Member> {
  return {
    ...envelope,
    ...REVOKING,
    name: 'accept-invitation',
    needs: { members: true, pendingInvitations: true },
    decide: (state, context: Context): Decision<Member> => decideAcceptance(invitationId, person, membershipOf(state), context),
  };
}
