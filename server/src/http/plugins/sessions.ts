// Whether a request that carries a session may go on: that it comes from our own page, whose session it is, and in which workspace.
// Looked at only where no key was sent. A token is hashed and forgotten; it is never logged.

import type { IncomingMessage } from 'node:http';
import type { SessionCache, SignedInPerson } from '../../accounts/session-cache.ts';
import { decodeId } from '../../domain/ids.ts';
import { roleScopes } from '../../domain/roles.ts';
import { cookieIn } from '../cookies.ts';
import type { Access, Caller } from '../route.ts';
import { type Admission, counted, type Limits, type SessionAdmission, stranger } from './admission.ts';

export const WORKSPACE_HEADER = 'tranche-workspace';

/** Rate limits, streams and the like count sessions as keys; theirs are of no workspace, whichever the request names. */
export const NO_WORKSPACE = '00000000-0000-0000-0000-000000000000';

export interface SessionAdmissionOptions {
  readonly sessions: Pick<SessionCache, 'find'>;
  readonly limits: Limits;
  readonly touch: (sessionId: string, atMs: number) => void;
  readonly now: () => number;
  /** The origin that browsers see, where it is configured. */
  readonly publicOrigin: string | null;
  /** The one name that counts: over https another could be set by whoever can speak for the host over http. */
  readonly cookieName: string;
}

const FOREIGN = stranger({
  code: 'foreign_origin',
  detail: 'Requests with a session, and writes of the account, are taken from the pages of this server alone.',
});
const NOT_SIGNED_IN = stranger({ code: 'not_signed_in', detail: 'There is no session, or it has ended. Sign in.' });
/** What a request without credentials is admitted as, where none are needed. */
const NOBODY: Admission = {
  caller: { workspaceId: NO_WORKSPACE, keyId: NO_WORKSPACE, scopes: [], session: null },
  refusal: null,
  context: undefined,
  rateLimit: null,
};

export function createSessionAdmission({
  sessions,
  limits,
  touch,
  now,
  publicOrigin,
  cookieName,
}: SessionAdmissionOptions): SessionAdmission {
  const isOurs = createOriginCheck(publicOrigin);

  function admitPerson(found: SignedInPerson | null, request: IncomingMessage, access: Access): Admission | Promise<Admission> {
    if (found === null) return NOT_SIGNED_IN;
    touch(found.sessionId, now());
    const chosen = access === 'person' ? ofNoWorkspace(found) : inWorkspace(found, request.headers[WORKSPACE_HEADER]);
    const remaining = limits.take(NO_WORKSPACE, found.sessionId);
    const answer = (left: number): Admission => counted(chosen.caller, chosen.refusal, left, limits);
    return typeof remaining === 'number' ? answer(remaining) : remaining.then(answer);
  }

  return (request, access) => {
    const { cookie } = request.headers;
    if (access === 'anyone') return isWrite(request) && !isOurs(request, false) ? FOREIGN : NOBODY;
    const token = cookie === undefined ? null : cookieIn(cookie, cookieName);
    if (token === null) return NOT_SIGNED_IN;
    if (!isOurs(request, isWrite(request))) return FOREIGN;
    const found = sessions.find(token);
    return found instanceof Promise ? found.then((person) => admitPerson(person, request, access)) : admitPerson(found, request, access);
  };
}

const isWrite = ({ method }: IncomingMessage): boolean => method !== 'GET' && method !== 'HEAD';

type Chosen = Pick<Admission, 'refusal'> & { readonly caller: Caller };

const ofNoWorkspace = ({ sessionId, person, memberships }: SignedInPerson): Chosen => ({
  caller: { workspaceId: NO_WORKSPACE, keyId: sessionId, scopes: [], session: { sessionId, person, memberships, membership: null } },
  refusal: null,
});

function inWorkspace(found: SignedInPerson, named: string | string[] | undefined): Chosen {
  const { sessionId, person, memberships } = found;
  const only = named === undefined && memberships.length === 1 ? memberships[0] : undefined;
  const wanted = typeof named === 'string' ? decodeId('workspace', named) : null;
  const membership = only ?? memberships.find(({ workspaceId }) => workspaceId === wanted);
  if (membership === undefined) {
    const refusal =
      named === undefined
        ? ({ code: 'workspace_required', detail: 'Send the header Tranche-Workspace with the id of one of your workspaces.' } as const)
        : ({ code: 'not_a_member', detail: 'Whoever is signed in is not a member of the workspace in Tranche-Workspace.' } as const);
    return { ...ofNoWorkspace(found), refusal };
  }
  return {
    caller: {
      workspaceId: membership.workspaceId,
      keyId: sessionId,
      scopes: roleScopes[membership.role],
      session: { sessionId, person, memberships, membership },
    },
    refusal: null,
  };
}

/**
 * A browser says where a request comes from, and a page cannot make it lie. Writes with a session have to say so; reads may come without
 * (an address that was typed in), but not from another site. What never says anything is no browser, and has no cookie of ours.
 */
function createOriginCheck(publicOrigin: string | null): (request: IncomingMessage, mustSay: boolean) => boolean {
  const publicHost = publicOrigin === null ? null : new URL(publicOrigin).host;

  function isOwnOrigin(origin: string, host: string | undefined): boolean {
    if (origin === publicOrigin) return true;
    if (!URL.canParse(origin)) return false;
    const page = new URL(origin);
    // Where the configuration says https, a page that came over http is another's.
    if (page.host === publicHost) return false;
    const here = `${page.protocol}//${host}`;
    return page.host !== '' && URL.canParse(here) && new URL(here).host === page.host;
  }

  return ({ headers }, mustSay) => {
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
    const { origin } = headers;
    if (origin !== undefined) return isOwnOrigin(origin, headers.host);
    return !mustSay || site === 'same-origin';
  };
}
