// Signing up: one command makes somebody and gives them a place, or does neither; then they are signed in.
// Decides nothing about tokens: the lane does, under the lock, so that each is good once.

import { type IdentityRefusal, isRefused, type SignedIn, type Visit } from '../accounts/identity.ts';
import type { Command, Envelope, Outcome, StoredAnswer } from '../commands/command.ts';
import { signUpFirst, signUpInvited } from '../commands/sign-up.ts';
import type { Refusal } from '../domain/errors.ts';
import type { Uuid } from '../domain/ids.ts';
import { statusOf } from '../domain/invitation.ts';
import type { Member } from '../domain/member.ts';
import { foldEmail, type NewPerson, type Origin, type Person, type SessionCaller } from '../domain/person.ts';
import { DatabaseError } from '../store/database.ts';
import type { People } from './people.ts';

export interface SignUpRequest {
  readonly email: string;
  readonly password: string;
  readonly name: string;
  readonly setup_token?: string | undefined;
  readonly invitation_token?: string | undefined;
}

/** The envelope of what somebody does who is not a member yet: of a session nothing but that it still holds is asked. */
export function personEnvelope<Result>(
  workspaceId: Uuid,
  { person, sessionId }: Pick<SessionCaller, 'person' | 'sessionId'>,
  origin: Origin,
  render: (result: Result) => StoredAnswer,
): Envelope<Result> {
  return { ...strangerEnvelope(workspaceId, person, origin, render), member: { sessionId, personId: person.id, role: null } };
}

/** Of somebody who signs up: there is neither a role nor a session, and the log names the person. */
function strangerEnvelope<Result>(
  workspaceId: Uuid,
  { id, name }: Pick<Person, 'id' | 'name'>,
  origin: Origin,
  render: (result: Result) => StoredAnswer,
): Envelope<Result> {
  return {
    workspaceId,
    keyId: null,
    member: null,
    stamp: { actor: { type: 'person', id, name }, origin },
    idempotency: null,
    bytes: 4096,
    render,
  };
}

const NO_SETUP: Refusal = {
  code: 'sign_up_refused',
  detail: 'The setup token is not the current one, or the server has an owner already.',
};
const NO_INVITATION: Refusal = {
  code: 'invitation_invalid',
  detail: 'The invitation is unknown, was used, was revoked or has expired, or it is for another email address.',
};
const EMAIL_TAKEN: Refusal = { code: 'email_taken', detail: 'Somebody has signed up with this address; sign in with it.' };
const done = (): StoredAnswer => ({ status: 200, headers: {}, body: '' });

export function createSignUp(people: People) {
  /** The command that gives the new person a place, or why there is none. Looked at first, so that strangers make no identities. */
  async function placeFor(request: SignUpRequest, visit: Visit): Promise<((person: NewPerson) => Command<Member>) | Refusal> {
    const { reads } = people;
    if (request.setup_token !== undefined) {
      if (!(await people.holdsSetupToken(request.setup_token)) || !(await reads.needsSetup())) return NO_SETUP;
      const workspaceId = await reads.defaultWorkspaceId();
      return (person) => signUpFirst(strangerEnvelope(workspaceId, person, visit.origin, done), person);
    }
    const found = await reads.findInvitationByToken(request.invitation_token ?? '');
    if (found === null || statusOf(found.invitation, people.clock()) !== 'pending') return NO_INVITATION;
    const { invitation } = found;
    if (invitation.email !== foldEmail(request.email)) return NO_INVITATION;
    return (person) => signUpInvited(strangerEnvelope(invitation.workspaceId, person, visit.origin, done), invitation.id, person);
  }

  /** Of two who take one address at once, in two workspaces, the index of addresses refuses the second. */
  async function make(command: Command<Member>, email: string): Promise<Outcome> {
    try {
      return await people.lane.submit(command);
    } catch (error) {
      if (error instanceof DatabaseError && error.isData && (await people.reads.findPersonByEmail(email)) !== null) return EMAIL_TAKEN;
      throw error;
    }
  }

  return async (request: SignUpRequest, visit: Visit): Promise<SignedIn | IdentityRefusal> => {
    const place = await placeFor(request, visit);
    if (typeof place !== 'function') return place;
    const { name, password } = request;
    const email = foldEmail(request.email);
    if ((await people.reads.findPersonByEmail(email)) !== null) return EMAIL_TAKEN;
    const person = await people.identity.prepare({ email, name, password });
    if (isRefused(person)) return person;
    const outcome = await make(place(person), email);
    if ('code' in outcome) return outcome;
    if (request.setup_token !== undefined) await people.endSetup();
    const signedIn = await people.identity.signInNew(email, password, visit);
    if (isRefused(signedIn)) return { ...signedIn, detail: 'You have signed up, and could not be signed in at once; sign in now.' };
    if (signedIn.personId === null) throw new Error('somebody who has just signed up has a second factor');
    return signedIn;
  };
}
