// Who calls, and whether the key may call once more in this minute: the first two questions of every request under /v1.
// Answers at once while the key is cached and a token is in hand. The secret is hashed and forgotten; it is never logged.

import type { KeyCache } from '../../accounts/key-cache.ts';
import type { KeyUses } from '../../accounts/key-uses.ts';
import type { RateLimit } from '../../accounts/rate-limit.ts';
import { type ApiKey, refuseKey } from '../../domain/api-key.ts';
import { errorCatalogue, type Refusal } from '../../domain/errors.ts';
import type { LoadGate } from '../load-gate.ts';
import type { ProblemContext } from '../problems.ts';

export interface Authentication {
  readonly keys: Pick<KeyCache, 'find' | 'workspaceOf'>;
  readonly limits: Pick<RateLimit, 'take' | 'secondsToReset' | 'limitPerMinute'>;
  readonly uses: Pick<KeyUses, 'record'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Who is let in when more is asked than can be done; left out, everybody is. */
  readonly gate?: LoadGate | undefined;
}

/** A request that may go on, or the reason why not; with the state of the key's minute wherever the key is known. */
export interface Admission {
  readonly key: ApiKey | null;
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

const stranger = (refusal: Refusal): Admission => ({ key: null, refusal, context: undefined, rateLimit: null });
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

/** Makes the function that admits a request by its Authorization header. */
export function createAdmission({
  keys,
  limits,
  uses,
  now,
  gate,
}: Authentication): (authorization: string | undefined, isWrite: boolean) => Admission | Promise<Admission> {
  function counted(key: ApiKey, remaining: number): Admission {
    const resetSeconds = limits.secondsToReset();
    const rateLimit = `"default";r=${Math.max(0, remaining)};t=${resetSeconds}`;
    if (remaining >= 0) return { key, refusal: null, context: undefined, rateLimit };
    const detail = `This key has used its ${limits.limitPerMinute} requests of this minute; the next one begins in ${resetSeconds} s.`;
    return { key, refusal: { code: 'rate_limited', detail }, context: { retryAfterSeconds: resetSeconds }, rateLimit };
  }

  function admitKey(key: ApiKey | null, isWrite: boolean): Admission | Promise<Admission> {
    if (key === null) return UNKNOWN_KEY;
    const at = now();
    const refused = refuseKey(key, new Date(at));
    if (refused !== null) return REFUSED_KEYS[refused];
    uses.record(key.workspaceId, key.id, at);
    const remaining = limits.take(key.workspaceId, key.id);
    if (gate?.refuses(key.workspaceId, isWrite) === true) {
      if (typeof remaining === 'number') return remaining < 0 ? counted(key, remaining) : { ...counted(key, remaining), refusal: SHED };
      remaining.catch(ignore); // Whoever asks next is told.
      return SHED_STRANGER;
    }
    return typeof remaining === 'number' ? counted(key, remaining) : remaining.then((left) => counted(key, left));
  }

  return (authorization, isWrite) => {
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
}

/** The RateLimit-Policy header: the same on every answer. */
export const rateLimitPolicy = (limitPerMinute: number): string => `"default";q=${limitPerMinute};w=60`;
