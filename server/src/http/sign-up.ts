// Signing up: an identity is made, and then the one command that gives it a place; when that is refused, the identity goes again.
// Decides nothing about tokens: the lane does, under the lock, so that each is good once.

import { type IdentityRefusal, isRefused, type SignedIn, type Visit } from '../accounts/identity.ts';
import { acceptInvitation } from '../commands/change-invitations.ts';
import { claimServer } from '../commands/change-members.ts';
import type { Command, Envelope, StoredAnswer } from '../commands/command.ts';
import type { Refusal } from '../domain/errors.ts';
import type { Uuid } from '../domain/ids.ts';
import { statusOf } from '../domain/invitation.ts';
import type { Member } from '../domain/member.ts';
import { foldEmail, type Origin, type Person } from '../domain/person.ts';
import type { People } from './people.ts';

export interface SignUpRequest {
  readonly email: string;
  readonly password: string;
  readonly name: string;
  readonly setup_token?: string | undefined;
  readonly invitation_token?: string | undefined;
}

/** The envelope of what a person does who is not a member yet: there is no role to hold it against, and the log names the person. */
export function personEnvelope<Result>(
  workspaceId: Uuid,
  person: Pick<Person, 'id' | 'name'>,
  origin: Origin,
  render: (result: Result) => StoredAnswer,
): Envelope<Result> {
  const stamp = { actor: { type: 'person', id: person.id, name: person.name }, origin } as const;
  return { workspaceId, keyId: null, member: null, stamp, idempotency: null, bytes: 4096, render };
}

const NO_SETUP: Refusal = {
  code: 'sign_up_refused',
  detail: 'The setup token is not the current one, or the server has an owner already.',
};
const NO_INVITATION: Refusal = {
  code: 'invitation_invalid',
  detail: 'The invitation is unknown, was used, was revoked or has expired, or it is for another email address.',
};
const done = (): StoredAnswer => ({ status: 200, headers: {}, body: '' });

export function createSignUp(people: People) {
  /** The command that gives the new person a place, or why there is none. Looked at first, so that strangers make no identities. */
  async function placeFor(request: SignUpRequest, visit: Visit): Promise<((person: Person) => Command<Member>) | Refusal> {
    const { reads } = people;
    if (request.setup_token !== undefined) {
      if (!(await people.holdsSetupToken(request.setup_token)) || !(await reads.needsSetup())) return NO_SETUP;
      const workspaceId = await reads.defaultWorkspaceId();
      return (person) => claimServer(personEnvelope(workspaceId, person, visit.origin, done), person);
    }
    const found = await reads.findInvitationByToken(request.invitation_token ?? '');
    if (found === null || statusOf(found.invitation, people.clock()) !== 'pending') return NO_INVITATION;
    const { invitation } = found;
    if (invitation.email !== foldEmail(request.email)) return NO_INVITATION;
    return (person) => acceptInvitation(personEnvelope(invitation.workspaceId, person, visit.origin, done), invitation.id, person);
  }

  return async (request: SignUpRequest, visit: Visit): Promise<SignedIn | IdentityRefusal> => {
    const place = await placeFor(request, visit);
    if (typeof place !== 'function') return place;
    const { email, name, password } = request;
    const person = await people.identity.register({ email: foldEmail(email), name, password }, visit);
    if (isRefused(person)) return person;
    const outcome = await people.lane.submit(place(person));
    if ('code' in outcome) {
      // Somebody was faster with the same token. What was made belongs nowhere and holds nothing.
      await people.identity.discard(person.id);
      return outcome;
    }
    if (request.setup_token !== undefined) await people.endSetup();
    const signedIn = await people.identity.signIn(person.email, password, visit);
    if (isRefused(signedIn)) return signedIn;
    if (signedIn.personId === null) throw new Error('somebody who has just signed up has a second factor');
    return signedIn;
  };
}
