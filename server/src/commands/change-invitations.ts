// Invitations: made, revoked, accepted. Scope: members:write for the first two; accepting takes the link alone.
// A token was hashed before it got here.

import type { Context, Decision } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import {
  decideAcceptance,
  decideInvitation,
  decideInvitationRevocation,
  type Invitation,
  type InvitationDraft,
} from '../domain/invitation.ts';
import type { Member, MemberActor } from '../domain/member.ts';
import type { Person } from '../domain/person.ts';
import { type Command, type Envelope, SMALL } from './command.ts';

/** `invitee` is whoever has the address already. */
export function createInvitation(
  envelope: Envelope<Invitation>,
  draft: InvitationDraft,
  actor: MemberActor,
  invitee: Person | null,
): Command<Invitation> {
  return {
    ...envelope,
    ...SMALL,
    name: 'create-invitation',
    needs: { members: true },
    // The link is in the answer.
    secretAnswer: true,
    decide: (state, context) => decideInvitation(draft, actor, state.members(), invitee, context),
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
    ...SMALL,
    name: 'accept-invitation',
    needs: { invitationId, members: true },
    decide: (state, context: Context): Decision<Member> =>
      decideAcceptance(state.invitation(invitationId), person, state.members(), context),
  };
}
