// Who calls, and whether the key may call once more in this minute: the first two questions of every request under /v1.
// Answers at once while the key is cached and a token is in hand. The secret is hashed and forgotten; it is never logged.

import type { IncomingMessage } from 'node:http';
import type { KeyCache } from '../../accounts/key-cache.ts';
import type { KeyUses } from '../../accounts/key-uses.ts';
import type { RateLimit } from '../../accounts/rate-limit.ts';
import { type ApiKey, refuseKey } from '../../domain/api-key.ts';
import { errorCatalogue, type Refusal } from '../../domain/errors.ts';
import type { ProblemContext } from '../problems.ts';
import type { Access, Caller } from '../route.ts';
import type { SessionAdmission } from './sessions.ts';

export type Limits = Pick<RateLimit, 'take' | 'secondsToReset' | 'limitPerMinute'>;

export interface Authentication {
  readonly keys: Pick<KeyCache, 'find'>;
  /** Left out where nobody can sign in. */
  readonly admitSession?: SessionAdmission | undefined;
  readonly limits: Limits;
  readonly uses: Pick<KeyUses, 'record'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** A request that may go on, or the reason why not; with the state of the minute wherever the key or the session is known. */
export interface Admission {
  readonly caller: Caller | null;
  readonly refusal: Refusal | null;
  readonly context: ProblemContext | undefined;
  /** The value of the RateLimit header; null where no key counts. */
  readonly rateLimit: string | null;
}

/** Longer than any secret this service takes. Bounds the work that a stranger can ask for. */
const MAX_SECRET_LENGTH = 512;

/** The secret of `Bearer <API_KEY>`; null where the header is missing, repeated or of another form. */
export function bearerSecret(header: string | undefined): string | null {
  if (header === undefined || header.length > MAX_SECRET_LENGTH) return null;
  if (!header.startsWith('Bearer ') && header.slice(0, 7).toLowerCase() !== 'bearer ') return null;
  const secret = header.slice(7).trim();
  // One token of visible ASCII. A space comes from two headers joined into one: never guess which was meant.
  return /^[\x21-\x7e]+$/.test(secret) ? secret : null;
}

export const stranger = (refusal: Refusal): Admission => ({ caller: null, refusal, context: undefined, rateLimit: null });
const NO_KEY = stranger({ code: 'missing_api_key', detail: errorCatalogue.missing_api_key.fix });
const UNKNOWN_KEY = stranger({ code: 'invalid_api_key', detail: errorCatalogue.invalid_api_key.meaning });
const REFUSED_KEYS = {
  api_key_revoked: stranger({ code: 'api_key_revoked', detail: errorCatalogue.api_key_revoked.meaning }),
  api_key_expired: stranger({ code: 'api_key_expired', detail: errorCatalogue.api_key_expired.meaning }),
};

export type Admit = (request: IncomingMessage) => Admission | Promise<Admission>;

/** Makes the function that admits requests to routes of one kind: by the Authorization header, or by a session where there is none. */
export function createAdmission({ keys, limits, uses, now, admitSession = noSessions }: Authentication): (access: Access) => Admit {
  function counted(key: ApiKey, remaining: number): Admission {
    const resetSeconds = limits.secondsToReset();
    const rateLimit = `"default";r=${Math.max(0, remaining)};t=${resetSeconds}`;
    const caller = { workspaceId: key.workspaceId, keyId: key.id, scopes: key.scopes, session: null };
    if (remaining >= 0) return { caller, refusal: null, context: undefined, rateLimit };
    const detail = `This key has used its ${limits.limitPerMinute} requests of this minute; the next one begins in ${resetSeconds} s.`;
    return { caller, refusal: { code: 'rate_limited', detail }, context: { retryAfterSeconds: resetSeconds }, rateLimit };
  }

  function admitKey(key: ApiKey | null): Admission | Promise<Admission> {
    if (key === null) return UNKNOWN_KEY;
    const at = now();
    const refused = refuseKey(key, new Date(at));
    if (refused !== null) return REFUSED_KEYS[refused];
    uses.record(key.workspaceId, key.id, at);
    const remaining = limits.take(key.workspaceId, key.id);
    return typeof remaining === 'number' ? counted(key, remaining) : remaining.then((left) => counted(key, left));
  }

  const admitKeyOrSession: Admit = (request) => {
    const { authorization, cookie } = request.headers;
    if (authorization === undefined && cookie !== undefined) return admitSession(request, 'workspace');
    const secret = bearerSecret(authorization);
    if (secret === null) return NO_KEY;
    const found = keys.find(secret);
    return found instanceof Promise ? found.then(admitKey) : admitKey(found);
  };
  return (access) => (access === 'workspace' ? admitKeyOrSession : (request) => admitSession(request, access));
}

const noSessions = (): Admission => NO_KEY;

/** The RateLimit-Policy header: the same on every answer. */
export const rateLimitPolicy = (limitPerMinute: number): string => `"default";q=${limitPerMinute};w=60`;
