// The routes of signing up, in and out, and of the account itself. Cookies and passwords go through to identity and nowhere else.
// They turn a request into a call and an outcome into an answer, and decide nothing.

import { isRefused, type SignedIn } from '../../accounts/identity.ts';
import type { Uuid } from '../../domain/ids.ts';
import type { SessionCaller } from '../../domain/person.ts';
import {
  accountExample,
  accountResource,
  accountUpdate,
  accountUpdateExample,
  presentAccount,
  setupState,
  setupStateExample,
  signIn,
  signInExample,
  signInResult,
  signInResultExample,
  signUp,
  signUpExample,
  totpCode,
  totpCodeExample,
} from '../../schemas/account.ts';
import type { People } from '../people.ts';
import { type Answer, type Caller, defineRoute, type Route } from '../route.ts';
import { createSignUp } from '../sign-up.ts';

const TAG = 'Account';

/** The session of a route that is for people alone: it does not get as far as its handler without one. */
export function sessionOf(caller: Caller): SessionCaller {
  if (caller.session === null) throw new Error('a route for people was reached without a session');
  return caller.session;
}

export function accountRoutes(people: People): Route[] {
  const { identity, reads, limits, visitOf } = people;
  const register = createSignUp(people);

  async function accountOf(personId: Uuid): Promise<object | null> {
    const [person, memberships] = await Promise.all([reads.findPerson(personId), reads.membershipsOf(personId)]);
    return person === null ? null : presentAccount(person, memberships, people.workspaceCreators);
  }

  async function signedIn({ personId, setCookie }: SignedIn, status = 200): Promise<Answer> {
    people.forgetSessions();
    const account = await accountOf(personId);
    return { status, headers: { 'Set-Cookie': [...setCookie] }, body: { object: 'sign_in', totp_required: false, account } };
  }

  return [
    defineRoute({
      method: 'GET',
      path: '/v1/account/setup',
      operationId: 'getSetupState',
      tag: TAG,
      summary: 'Read whether the server waits for its first owner',
      access: 'anyone',
      scope: null,
      success: { status: 200, description: 'Whether anybody has signed up.', schema: setupState, example: setupStateExample },
      errors: [],
      handle: async () => ({ body: { object: 'setup', needs_setup: await reads.needsSetup() } }),
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/account/sign_up',
      operationId: 'signUp',
      tag: TAG,
      summary: 'Sign up',
      description:
        'With the setup token that the server prints, as the first person and owner of the default workspace; after that with the token of an invitation for this address. Whoever signs up is signed in.',
      access: 'anyone',
      scope: null,
      body: signUp,
      bodyExample: signUpExample,
      success: { status: 201, description: 'The account, signed in.', schema: signInResult, example: signInResultExample },
      errors: [
        'sign_up_refused',
        'invitation_invalid',
        'email_taken',
        'already_member',
        'too_many_members',
        'workspace_closed',
        'too_many_attempts',
      ],
      async handle({ body, raw }) {
        const visit = visitOf(raw);
        const refusal = await limits.count(visit.origin.ip);
        if (refusal !== null) return refusal;
        const outcome = await register(body, visit);
        if (isRefused(outcome)) return outcome;
        const answer = await signedIn(outcome, 201);
        return { ...answer, headers: { ...answer.headers, location: '/v1/account' } };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/account/sign_in',
      operationId: 'signIn',
      tag: TAG,
      summary: 'Sign in',
      description:
        'Sets a session cookie that scripts cannot read. Where the account has a second factor, nobody is signed in yet: send the code next. Too many attempts for an address or an account are refused for a while.',
      access: 'anyone',
      scope: null,
      body: signIn,
      bodyExample: signInExample,
      success: {
        status: 200,
        description: 'Who is signed in, or that a code is asked for.',
        schema: signInResult,
        example: signInResultExample,
      },
      errors: ['wrong_credentials', 'too_many_attempts'],
      async handle({ body, raw }) {
        const outcome = await identity.signIn(body.email, body.password, visitOf(raw));
        if (isRefused(outcome)) return outcome;
        if (outcome.personId !== null) return signedIn(outcome);
        return { headers: { 'Set-Cookie': [...outcome.setCookie] }, body: { object: 'sign_in', totp_required: true, account: null } };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/account/sign_in/totp',
      operationId: 'completeSignIn',
      tag: TAG,
      summary: 'Sign in: the code',
      description: 'The second step where `totp_required` was true, within ten minutes. A code is good once.',
      access: 'anyone',
      scope: null,
      body: totpCode,
      bodyExample: totpCodeExample,
      success: { status: 200, description: 'Who is signed in.', schema: signInResult, example: signInResultExample },
      errors: ['wrong_code', 'too_many_attempts'],
      async handle({ body, raw }) {
        const outcome = await identity.completeSignIn(body.code, visitOf(raw));
        return isRefused(outcome) ? outcome : signedIn(outcome);
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/account/sign_out',
      operationId: 'signOut',
      tag: TAG,
      summary: 'Sign out',
      description: 'Ends this session.',
      access: 'person',
      scope: null,
      success: { status: 204, description: 'Signed out.' },
      errors: [],
      async handle({ caller, raw }) {
        const setCookie = await identity.signOut(sessionOf(caller), visitOf(raw));
        people.forgetSessions();
        return { headers: { 'Set-Cookie': [...setCookie] }, body: null };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/account',
      operationId: 'getAccount',
      tag: TAG,
      summary: 'Read the account',
      description: 'Who is signed in, and the workspaces they are a member of.',
      access: 'person',
      scope: null,
      success: { status: 200, description: 'The account.', schema: accountResource, example: accountExample },
      errors: [],
      async handle({ caller }) {
        const { person } = sessionOf(caller);
        return { body: presentAccount(person, await reads.membershipsOf(person.id), people.workspaceCreators) };
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: '/v1/account',
      operationId: 'updateAccount',
      tag: TAG,
      summary: 'Update the account',
      access: 'person',
      scope: null,
      body: accountUpdate,
      bodyExample: accountUpdateExample,
      success: { status: 200, description: 'The account, changed.', schema: accountResource, example: accountExample },
      errors: [],
      async handle({ caller, body }) {
        const session = sessionOf(caller);
        const { person } = session;
        const refusal = body.name === undefined ? null : await identity.rename(session, body.name);
        people.forgetSessions();
        if (refusal !== null) return refusal;
        return {
          body: presentAccount(
            { ...person, name: body.name ?? person.name },
            await reads.membershipsOf(person.id),
            people.workspaceCreators,
          ),
        };
      },
    }),
  ];
}
