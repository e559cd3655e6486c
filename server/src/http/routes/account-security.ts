// The routes of what keeps an account safe: its password, its second factor, its sessions.
// Secrets go through to identity and are in no answer but the one that shows them once.

import { isRefused, type SignedIn } from '../../accounts/identity.ts';
import type { Uuid } from '../../domain/ids.ts';
import {
  passwordChange,
  passwordChangeExample,
  passwordProof,
  passwordProofExample,
  presentSession,
  sessionExample,
  sessionList,
  sessionListQuery,
  totpCode,
  totpCodeExample,
  totpSetup,
  totpSetupExample,
} from '../../schemas/account.ts';
import { ABSENT } from '../mount.ts';
import type { People } from '../people.ts';
import { listAnswer, listExample, pageOf } from '../reads.ts';
import { type Answer, defineRoute, type Route } from '../route.ts';
import { sessionOf } from './account.ts';

const TAG = 'Account';

export function accountSecurityRoutes(people: People): Route[] {
  const { identity, reads, visitOf } = people;

  function renewed({ setCookie }: SignedIn): Answer {
    people.forgetSessions();
    return { headers: { 'Set-Cookie': [...setCookie] }, body: null };
  }

  return [
    defineRoute({
      method: 'POST',
      path: '/v1/account/password',
      operationId: 'changePassword',
      tag: TAG,
      summary: 'Change the password',
      description: 'Ends every other session of the account, and gives this one a new cookie.',
      access: 'person',
      scope: null,
      body: passwordChange,
      bodyExample: passwordChangeExample,
      success: { status: 204, description: 'Changed.' },
      errors: ['wrong_password', 'too_many_attempts'],
      async handle({ caller, body, raw }) {
        const { person } = sessionOf(caller);
        const outcome = await identity.changePassword(person, body.current_password, body.new_password, visitOf(raw));
        // Of two who change it at once both may have lost their sessions.
        people.forgetSessions();
        return isRefused(outcome) ? outcome : renewed(outcome);
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/account/totp',
      operationId: 'beginTotp',
      tag: TAG,
      summary: 'Prepare a second factor',
      description:
        'Makes a secret for an authenticator. Nothing is asked for at a sign-in until a first code has been right. A second call makes another secret.',
      access: 'person',
      scope: null,
      body: passwordProof,
      bodyExample: passwordProofExample,
      success: {
        status: 200,
        description: 'The secret and the backup codes, shown this once.',
        schema: totpSetup,
        example: totpSetupExample,
      },
      errors: ['wrong_password', 'invalid_transition', 'too_many_attempts'],
      async handle({ caller, body, raw }) {
        const outcome = await identity.beginTotp(sessionOf(caller).person, body.password, visitOf(raw));
        if (isRefused(outcome)) return outcome;
        const { uri, secret, backupCodes } = outcome;
        return { body: { object: 'totp_setup', totp_uri: uri, secret, backup_codes: backupCodes } };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/account/totp/verify',
      operationId: 'verifyTotp',
      tag: TAG,
      summary: 'Turn the second factor on',
      description: 'The first right code of the authenticator: from here on signing in asks for one. This session gets a new cookie.',
      access: 'person',
      scope: null,
      body: totpCode,
      bodyExample: totpCodeExample,
      success: { status: 204, description: 'The second factor is on.' },
      errors: ['wrong_code', 'invalid_transition', 'too_many_attempts'],
      async handle({ caller, body, raw }) {
        const outcome = await identity.confirmTotp(sessionOf(caller).person, body.code, visitOf(raw));
        return isRefused(outcome) ? outcome : renewed(outcome);
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/account/totp/disable',
      operationId: 'disableTotp',
      tag: TAG,
      summary: 'Turn the second factor off',
      access: 'person',
      scope: null,
      body: passwordProof,
      bodyExample: passwordProofExample,
      success: { status: 204, description: 'The second factor is off.' },
      errors: ['wrong_password', 'too_many_attempts'],
      async handle({ caller, body, raw }) {
        const outcome = await identity.disableTotp(sessionOf(caller).person, body.password, visitOf(raw));
        return isRefused(outcome) ? outcome : renewed(outcome);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/account/sessions',
      operationId: 'listSessions',
      tag: TAG,
      summary: 'List sessions',
      description: 'Where the account is signed in, newest first.',
      access: 'person',
      scope: null,
      query: sessionListQuery,
      success: { status: 200, description: 'A page of sessions.', schema: sessionList, example: listExample(sessionExample) },
      errors: [],
      async handle({ caller, query }) {
        const { person, sessionId } = sessionOf(caller);
        const page = pageOf(query);
        return listAnswer('session', await reads.listSessions(person.id, page), page, (session) => presentSession(session, sessionId));
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/v1/account/sessions/:id',
      operationId: 'revokeSession',
      tag: TAG,
      summary: 'Revoke a session',
      description: 'From this commit on no write with the session commits, and within a second no read is answered.',
      access: 'person',
      scope: null,
      ids: { id: 'session' },
      success: { status: 204, description: 'Revoked.' },
      errors: [],
      async handle({ caller, ids }) {
        const gone = await people.revokeSession(sessionOf(caller).person.id, ids.id as Uuid);
        people.forgetSessions();
        return gone ? { body: null } : ABSENT;
      },
    }),
  ];
}
