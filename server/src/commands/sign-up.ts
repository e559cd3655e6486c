// Signing up: the command that gives somebody a first place, and makes them in the same commit.
// Until then nobody has the address, and when it is refused there is nothing to take back.

import { accept } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Member } from '../domain/member.ts';
import type { NewPerson } from '../domain/person.ts';
import { acceptInvitation } from './change-invitations.ts';
import { claimServer } from './change-members.ts';
import type { Command, Envelope } from './command.ts';

/** The first person of a server. */
export const signUpFirst = (envelope: Envelope<Member>, person: NewPerson): Command<Member> =>
  making(person, claimServer(envelope, person));

export const signUpInvited = (envelope: Envelope<Member>, invitationId: Uuid, person: NewPerson): Command<Member> =>
  making(person, acceptInvitation(envelope, invitationId, person));

function making<Result>(person: NewPerson, command: Command<Result>): Command<Result> {
  return {
    ...command,
    name: 'sign-up',
    decide(state, context) {
      const decision = command.decide(state, context);
      return decision.accepted ? accept(decision.result, { ...decision.changes, people: [person] }) : decision;
    },
  };
}
