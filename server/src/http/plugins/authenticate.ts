// Who calls, and whether the key may call once more in this minute: the first two questions of every request under /v1.
// Answers at once while the key is cached and a token is in hand. The secret is hashed and forgotten; it is never logged.

import type { IncomingMessage } from 'node:http';
import type { KeyCache } from '../../accounts/key-cache.ts';
import type { KeyUses } from '../../accounts/key-uses.ts';
import { type ApiKey, refuseKey } from '../../domain/api-key.ts';
import { errorCatalogue, type Refusal } from '../../domain/errors.ts';
import type { LoadGate } from '../load-gate.ts';
import type { Access } from '../route.ts';
import { type Admission, counted, type Limits, type SessionAdmission, stranger } from './admission.ts';

export interface Authentication {
  readonly keys: Pick<KeyCache, 'find' | 'workspaceOf'>;
  /** Left out where nobody can sign in. */
  readonly admitSession?: SessionAdmission | undefined;
  readonly limits: Limits;
  readonly uses: Pick<KeyUses, 'record'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Who is let in when more is asked than can be done; left out, everybody is. */
  readonly gate?: LoadGate | undefined;
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

const NO_KEY = stranger({ code: 'missing_api_key', detail: errorCatalogue.missing_api_key.fix });
const UNKNOWN_KEY = stranger({ code: 'invalid_api_key', detail: errorCatalogue.invalid_api_key.meaning });
const REFUSED_KEYS = {
  api_key_revoked: stranger({ code: 'api_key_revoked', detail: errorCatalogue.api_key_revoked.meaning }),
  api_key_expired: stranger({ code: 'api_key_expired', detail: errorCatalogue.api_key_expired.meaning }),
};

/** Nothing was done for it, so it may be sent again whatever it was. */
const SHED: Refusal = { code: 'overloaded', detail: 'More is asked of this server than it can do; nothing was changed.' };
const SHED_STRANGER = stranger(SHED);

const ignore = (): void => {};

export type Admit = (request: IncomingMessage, isWrite: boolean) => Admission | Promise<Admission>;

/** Makes the function that admits requests to routes of one kind: by the Authorization header, or by a session where there is none. */
export function createAdmission({ keys, limits, uses, now, gate, admitSession = noSessions }: Authentication): (access: Access) => Admit {
  function countedKey({ workspaceId, id, scopes }: ApiKey, remaining: number, refusal: Refusal | null = null): Admission {
    return counted({ workspaceId, keyId: id, scopes, session: null }, refusal, remaining, limits);
  }

  function admitKey(key: ApiKey | null, isWrite: boolean): Admission | Promise<Admission> {
    if (key === null) return UNKNOWN_KEY;
    const at = now();
    const refused = refuseKey(key, new Date(at));
    if (refused !== null) return REFUSED_KEYS[refused];
    uses.record(key.workspaceId, key.id, at);
    const remaining = limits.take(key.workspaceId, key.id);
    if (gate?.refuses(key.workspaceId, isWrite) === true) {
      if (typeof remaining === 'number') return countedKey(key, remaining, SHED);
      remaining.catch(ignore); // Whoever asks next is told.
      return SHED_STRANGER;
    }
    return typeof remaining === 'number' ? countedKey(key, remaining) : remaining.then((left) => countedKey(key, left));
  }

  /** People wait with everybody else of their workspace. */
  const shedSession = (admission: Admission, isWrite: boolean): Admission =>
    admission.caller !== null && admission.refusal === null && gate?.refuses(admission.caller.workspaceId, isWrite) === true
      ? { ...admission, refusal: SHED }
      : admission;

  const admitKeyOrSession: Admit = (request, isWrite) => {
    const { authorization, cookie } = request.headers;
    if (authorization === undefined && cookie !== undefined) {
      const admission = admitSession(request, 'workspace');
      return admission instanceof Promise ? admission.then((admitted) => shedSession(admitted, isWrite)) : shedSession(admission, isWrite);
    }
    const secret = bearerSecret(authorization);
    if (secret === null) return NO_KEY;
    const found = keys.find(secret);
    if (!(found instanceof Promise)) return admitKey(found, isWrite);
    if (gate !== undefined) {
      // Who asks now and then always has an entry that is too old to be believed, and must not be refused for that before the busiest is.
      const workspaceId = keys.workspaceOf(secret);
      if (workspaceId === null ? gate.refusesStranger() : gate.refuses(workspaceId, isWrite)) {
        found.catch(ignore); // Under way all the same, so that the next request of this key finds it.
        return SHED_STRANGER;
      }
    }
    return found.then((key) => admitKey(key, isWrite));
  };
  return (access) => (access === 'workspace' ? admitKeyOrSession : (request) => admitSession(request, access));
}

const noSessions = (): Admission => NO_KEY;

/** The RateLimit-Policy header: the same on every answer. */
export const rateLimitPolicy = (limitPerMinute: number): string => `"default";q=${limitPerMinute};w=60`;
