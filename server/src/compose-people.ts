// Puts together what people need: identity, sessions, limits on signing in, mail, and the reads of their routes. Called by compose.ts.
// Plain function calls; decides nothing about requests.

import type { Logger } from 'pino';
import { clearAttempts } from './accounts/attempt-retention.ts';
import type { BetterAuth } from './accounts/better-auth.ts';
import { createIdentity } from './accounts/create-identity.ts';
import { createKeyUses } from './accounts/key-uses.ts';
import { createMail } from './accounts/mail.ts';
import { createMailLimits } from './accounts/mail-limits.ts';
import { createPasswordWork } from './accounts/password-work.ts';
import { createSessionCache } from './accounts/session-cache.ts';
import { createSignInLimits } from './accounts/sign-in-limits.ts';
import type { Config } from './config.ts';
import { GENESIS_HASH } from './domain/event.ts';
import type { Uuid } from './domain/ids.ts';
import { hashToken, makeLinkToken } from './domain/link-token.ts';
import { cookieIn, SECURE_SESSION_COOKIE, SESSION_COOKIE } from './http/cookies.ts';
import type { People, PeopleReads } from './http/people.ts';
import type { Limits, SessionAdmission } from './http/plugins/admission.ts';
import { createSessionAdmission, NO_WORKSPACE } from './http/plugins/sessions.ts';
import { createVisits } from './http/visit.ts';
import type { Store } from './open-store.ts';
import { startHourly } from './operations/hourly.ts';
import { listAuditEntries } from './store/audit-entries.ts';
import { createByIdReader } from './store/by-id.ts';
import type { Queryable } from './store/database.ts';
import { findInvitationByHash, invitationSource, listInvitations } from './store/invitations.ts';
import { hasMembers, listMembers, memberSource, membershipsOf } from './store/members.ts';
import {
  claimCode,
  countAttempt,
  deleteChallenge,
  deleteSetupTokens,
  findChallenged,
  findPasswordHash,
  findPerson,
  findPersonByEmail,
  forgetAttempts,
  hasSetupToken,
  renamePerson,
} from './store/people.ts';
import { deleteSession, deleteSessionByHash, findSessionByHash, listSessions, pruneSessions, touchSessions } from './store/sessions.ts';
import { createOwnedWorkspace, findDefaultWorkspace, findWorkspaceName } from './store/workspaces.ts';

export type PeopleConfig = Pick<Config, 'PUBLIC_URL' | 'TRUSTED_PROXIES' | 'SMTP_URL' | 'SMTP_FROM' | 'WORKSPACE_CREATION'>;

export interface PeopleParts {
  readonly people: People;
  readonly admitSession: SessionAdmission;
  readonly originOf: ReturnType<typeof createVisits>['originOf'];
  /** Begins to note when sessions are used and to clear away attempts to sign in; the returned function ends that. */
  start(): () => Promise<void>;
  close(): Promise<void>;
}

export interface PeopleServices {
  readonly store: Store;
  readonly config: PeopleConfig;
  readonly limits: Limits;
  readonly log: Logger;
  readonly clock: () => Date;
  readonly newId: () => Uuid;
  readonly random: (bytes: Uint8Array) => void;
}

const CHALLENGE_COOKIE = 'tranche_challenge';

export function composePeople({ store, config, limits, log, clock, newId, random }: PeopleServices): PeopleParts {
  const { database, lane, cipher } = store;
  const publicUrl = config.PUBLIC_URL ?? null;
  const secure = publicUrl?.startsWith('https:') === true;
  const cookieNames = {
    session: secure ? SECURE_SESSION_COOKIE : SESSION_COOKIE,
    challenge: secure ? `__Host-${CHALLENGE_COOKIE}` : CHALLENGE_COOKIE,
  };
  const secret = cipher.derive('identity');
  const passwords = createPasswordWork();
  const signInLimits = createSignInLimits({
    countAttempt: (...counted) => countAttempt(database, ...counted),
    forgetAttempts: (bucket) => forgetAttempts(database, bucket),
    now: Date.now,
    secret,
  });
  let auth: Promise<BetterAuth> | null = null;
  const identity = createIdentity({
    auth: () => {
      auth ??= import('./accounts/better-auth.ts').then(({ createBetterAuth }) =>
        createBetterAuth({ database, newId, secret, passwords, cookieNames, secure }),
      );
      return auth;
    },
    passwords,
    limits: signInLimits,
    cookieNames,
    secret,
    newId,
    now: clock,
    cookieIn,
    store: {
      findPasswordHash: (who) => findPasswordHash(database, who),
      rename: (...change) => renamePerson(database, ...change),
      findChallenged: (identifier) => findChallenged(database, identifier),
      endChallenge: (identifier) => deleteChallenge(database, identifier),
      claimCode: (...claim) => claimCode(database, ...claim),
      endSession: (...session) => deleteSession(database, ...session),
      endSessionOfToken: (tokenHash) => deleteSessionByHash(database, tokenHash),
      pruneSessions: (personId) => pruneSessions(database, personId),
    },
  });
  const sessions = createSessionCache({ lookUp: (tokenHash) => findSessionByHash(database, tokenHash), now: Date.now });
  const uses = createKeyUses({
    touch: (batch) => touchSessions(database, batch),
    onError: (error) => log.warn({ err: error }, 'last uses of sessions could not be written'),
  });
  const visits = createVisits({ trustedProxies: config.TRUSTED_PROXIES, publicUrl });
  const mail =
    config.SMTP_URL === undefined || config.SMTP_FROM === undefined
      ? null
      : createMail({
          url: config.SMTP_URL,
          from: config.SMTP_FROM,
          onError: (error) => log.error({ err: error }, 'an invitation could not be mailed; revoke it and invite again'),
        });
  store.onCommitted.push(({ members }) => {
    if (members) sessions.clear();
  });

  const people: People = {
    lane,
    identity,
    limits: signInLimits,
    reads: createPeopleReads(database),
    clock,
    newId,
    visitOf: visits.visitOf,
    holdsSetupToken: (token) => hasSetupToken(database, hashToken(token)),
    endSetup: () => deleteSetupTokens(database),
    revokeSession: (personId, sessionId) => deleteSession(database, personId, sessionId),
    workspaceCreators: config.WORKSPACE_CREATION,
    createWorkspace: (name, { person, sessionId }, { origin }) =>
      createOwnedWorkspace(database, {
        ...{ name, person, sessionId, origin, now: clock(), newId, genesisHash: GENESIS_HASH },
        ownersOnly: config.WORKSPACE_CREATION === 'owners',
      }),
    makeToken: () => makeLinkToken('inv', random),
    invitationLink: (token, request) => visits.linkTo(`/accept-invitation#token=${token}`, request),
    mailer:
      mail === null
        ? null
        : {
            limits: createMailLimits({ countAttempt: (...counted) => countAttempt(database, ...counted), now: Date.now, secret }),
            invite: ({ email, role, expiresAt }, link, workspaceName, inviter) =>
              mail.invite({ to: email, role, expiresAt, link, workspaceName, inviter }),
          },
    forgetSessions: sessions.clear,
  };
  return {
    people,
    admitSession: createSessionAdmission({
      sessions,
      limits,
      touch: (sessionId, atMs) => uses.record(NO_WORKSPACE, sessionId, atMs),
      now: Date.now,
      publicOrigin: publicUrl,
      cookieName: cookieNames.session,
    }),
    originOf: visits.originOf,
    start() {
      const endUses = uses.start();
      const endRetention = startHourly(
        (signal) => clearAttempts(database, clock(), signal),
        (error) => log.warn({ err: error }, 'attempts to sign in could not be cleared away; it is tried again within the hour'),
      );
      return async () => {
        await endRetention();
        await endUses();
      };
    },
    close: async () => mail?.close(),
  };
}

function createPeopleReads(database: Queryable): PeopleReads {
  return {
    needsSetup: async () => !(await hasMembers(database)),
    async defaultWorkspaceId() {
      const workspace = await findDefaultWorkspace(database);
      if (workspace === null) throw new Error('there is no workspace: a server that serves has made one');
      return workspace.id;
    },
    workspaceName: (id) => findWorkspaceName(database, id),
    findPerson: (id) => findPerson(database, id),
    findPersonByEmail: (email) => findPersonByEmail(database, email),
    membershipsOf: (personId) => membershipsOf(database, personId),
    listSessions: (personId, page) => listSessions(database, personId, page),
    getMember: createByIdReader(database, memberSource),
    listMembers: (workspaceId, page) => listMembers(database, workspaceId, {}, page),
    getInvitation: createByIdReader(database, invitationSource),
    listInvitations: (workspaceId, page) => listInvitations(database, workspaceId, {}, page),
    findInvitationByToken: (token) => findInvitationByHash(database, hashToken(token)),
    listAuditEntries: (...request) => listAuditEntries(database, ...request),
  };
}
