// Identity over better-auth: its cookies under our names, attempts counted, codes taken once, and no session out of a password that is none
// any more. What it refuses is put into our words next door.

import { createHash, createHmac } from 'node:crypto';
import type { Uuid } from '../domain/ids.ts';
import { foldEmail, type Person, refusePassword } from '../domain/person.ts';
import { DatabaseError } from '../store/database.ts';
import { hashSessionToken } from '../store/identity-rows.ts';
import { ADDRESS_HEADER, type BetterAuth } from './better-auth.ts';
import { type CodeAsked, type Identity, type IdentityRefusal, isRefused, type SignedIn, type Visit } from './identity.ts';
import { NO_CHALLENGE, PASSWORD_CHANGED, refusing, SESSION_ENDED, USED_CODE, WRONG_CREDENTIALS } from './identity-refusals.ts';
import { type createPasswordWork, PasswordWorkFull } from './password-work.ts';
import { tokenOf } from './session-cache.ts';
import type { SignInLimits } from './sign-in-limits.ts';

/** The rows of people and sessions that identity asks for itself, beside those that better-auth does. */
export interface IdentityStore {
  findPasswordHash(who: { id: Uuid } | { email: string }): Promise<string | null>;
  rename(id: Uuid, sessionId: Uuid, name: string, now: Date): Promise<boolean>;
  findChallenged(identifier: string): Promise<Uuid | null>;
  endChallenge(identifier: string): Promise<void>;
  claimCode(personId: Uuid, codeHash: Buffer, now: Date, againAfterMs: number): Promise<boolean>;
  endSession(personId: Uuid, sessionId: Uuid): Promise<unknown>;
  endSessionOfToken(tokenHash: Buffer): Promise<void>;
  pruneSessions(personId: Uuid): Promise<void>;
}

export interface IdentityOptions {
  /** Loaded when first needed: a server that only programs call never does. */
  readonly auth: () => Promise<BetterAuth>;
  readonly store: IdentityStore;
  readonly passwords: ReturnType<typeof createPasswordWork>;
  readonly limits: SignInLimits;
  readonly cookieNames: { readonly session: string; readonly challenge: string };
  readonly secret: string;
  readonly newId: () => Uuid;
  readonly now: () => Date;
  readonly cookieIn: (header: string, name: string) => string | null;
}

/** A code of the authenticator holds for its half minute, the one before and the one after; longer than that it is remembered. */
const CODE_MEMORY_MS = 150_000;

/** What a call of better-auth hands over: among its headers the cookie of a session, or of a sign-in that waits for its code. */
interface Made {
  readonly headers?: Headers | null | undefined;
}

export function createIdentity(options: IdentityOptions): Identity {
  const { auth, store, passwords, limits, cookieNames, secret, now, cookieIn } = options;

  /** Our cookie of this name alone, and where the request comes from: nothing else of it gets to better-auth. */
  function headersOf({ cookie, origin }: Visit, name: string | null): Headers {
    const headers = new Headers();
    const value = name === null || cookie === null ? null : cookieIn(cookie, name);
    // Whatever else stands there is no cookie that we have set.
    if (value !== null && /^[\x21-\x7e]+$/.test(value)) headers.set('cookie', `${name}=${value}`);
    if (origin.ip !== null) headers.set(ADDRESS_HEADER, origin.ip);
    if (origin.userAgent !== null) headers.set('user-agent', origin.userAgent.replace(/[^\x20-\x7e]/g, '?'));
    return headers;
  }

  /** The cookies of an answer that are ours, kept to https where the browser came over it. */
  function cookiesOf(headers: Headers | null | undefined, { secure }: Visit): string[] {
    const ours = (headers?.getSetCookie() ?? []).filter((cookie) =>
      Object.values(cookieNames).some((name) => cookie.startsWith(`${name}=`)),
    );
    return ours.map((cookie) => (secure && !/;\s*secure/i.test(cookie) ? `${cookie}; Secure` : cookie));
  }

  async function signedInAs(personId: Uuid, headers: Headers | null | undefined, visit: Visit): Promise<SignedIn> {
    await store.pruneSessions(personId);
    return { personId, setCookie: cookiesOf(headers, visit) };
  }

  /** Of the password of whoever is signed in already. */
  const countProof = (person: Person, visit: Visit) => limits.count(visit.origin.ip, { account: person.email });

  const codeHash = (code: string): Buffer => createHmac('sha256', secret).update(`code:${code}`).digest();
  const plainCode = (code: string): string => code.replaceAll(/\s/g, '');
  const claim = (personId: Uuid, code: string) => store.claimCode(personId, codeHash(code), now(), CODE_MEMORY_MS);

  /** Whose sign-in waits for a code, by the cookie that its first step set. */
  async function challengedBy({ cookie }: Visit): Promise<Uuid | null> {
    const value = cookie === null ? null : cookieIn(cookie, cookieNames.challenge);
    return value === null ? null : store.findChallenged(challengeOf(value));
  }

  /**
   * Runs what makes a session, or a sign-in that waits for its code, and takes that back where the password was changed meanwhile: what
   * proved who it is does so no more. The hash is read before the proof and after what was made stands; whoever changes it writes it
   * before they end what stands; so one of the two sees the other.
   */
  async function underOnePassword<T extends Made>(
    who: { id: Uuid } | { email: string },
    changed: IdentityRefusal,
    work: () => Promise<T>,
  ): Promise<T | IdentityRefusal> {
    const before = await store.findPasswordHash(who);
    const made = await refusing(work);
    if (isRefused(made) || (await store.findPasswordHash(who)) === before) return made;
    await takeBack(made);
    return changed;
  }

  async function takeBack({ headers }: Made): Promise<void> {
    for (const line of headers?.getSetCookie() ?? []) {
      const [pair = ''] = line.split(';', 1);
      const session = cookieIn(pair, cookieNames.session);
      const token = session === null ? null : tokenOf(session);
      if (token !== null) await store.endSessionOfToken(hashSessionToken(token));
      const challenge = cookieIn(pair, cookieNames.challenge);
      if (challenge !== null) await store.endChallenge(challengeOf(challenge));
    }
  }

  /** Whether this is the password; false too where there is no room to find out. */
  async function isPassword(person: Person, password: string): Promise<boolean> {
    const hash = await store.findPasswordHash(person);
    try {
      return hash !== null && (await passwords.verify({ hash, password }));
    } catch (error) {
      if (error instanceof PasswordWorkFull) return false;
      throw error;
    }
  }

  async function enter(account: string, password: string, visit: Visit): Promise<SignedIn | CodeAsked | IdentityRefusal> {
    const made = await underOnePassword({ email: account }, WRONG_CREDENTIALS, async () =>
      (await auth()).api.signInEmail({ body: { email: account, password }, headers: headersOf(visit, null), returnHeaders: true }),
    );
    if (isRefused(made)) return made;
    const { headers, response } = made;
    await limits.forget({ account });
    if ('twoFactorRedirect' in response) return { personId: null, setCookie: cookiesOf(headers, visit) };
    return signedInAs(response.user.id, headers, visit);
  }

  const badPassword = (pointer: string, password: string, person: { email: string; name: string }): IdentityRefusal | null => {
    const message = refusePassword(password, person);
    return message === null
      ? null
      : { code: 'validation_failed', detail: `${pointer}: ${message}`, errors: [{ pointer, code: 'weak_password', message }] };
  };

  return {
    async prepare({ email, name, password }) {
      const weak = badPassword('/password', password, { email, name });
      if (weak !== null) return weak;
      return refusing(async () => {
        const passwordHash = await passwords.hash(password);
        return { id: options.newId(), accountId: options.newId(), email: foldEmail(email), name, passwordHash, createdAt: now() };
      });
    },
    async signIn(email, password, visit) {
      const account = foldEmail(email);
      return (await limits.count(visit.origin.ip, { account })) ?? enter(account, password, visit);
    },
    signInNew: (email, password, visit) => enter(foldEmail(email), password, visit),
    async completeSignIn(sent, visit) {
      const code = plainCode(sent);
      const over = await limits.count(visit.origin.ip);
      if (over !== null) return over;
      const personId = await challengedBy(visit);
      if (personId === null) return NO_CHALLENGE;
      // Before the code is compared, and by the person: however many sign-ins wait for one, they share their guesses.
      const tooMany = await limits.count(null, { secondFactorOf: personId });
      if (tooMany !== null) return tooMany;
      const isTotp = /^\d{6}$/.test(code);
      if (isTotp && !(await claim(personId, code))) return USED_CODE;
      const call = { body: { code }, headers: headersOf(visit, cookieNames.challenge), returnHeaders: true } as const;
      const made = await underOnePassword<Made>({ id: personId }, NO_CHALLENGE, async () =>
        isTotp ? (await auth()).api.verifyTOTP(call) : (await auth()).api.verifyBackupCode(call),
      );
      if (isRefused(made)) return made.code === 'invalid_transition' ? NO_CHALLENGE : made;
      await limits.forget({ secondFactorOf: personId });
      return signedInAs(personId, made.headers, visit);
    },
    async signOut({ person, sessionId }, visit) {
      await store.endSession(person.id, sessionId);
      const { headers } = await (await auth()).api.signOut({ headers: headersOf(visit, cookieNames.session), returnHeaders: true });
      return cookiesOf(headers, visit);
    },
    async rename({ person, sessionId }, name) {
      return (await store.rename(person.id, sessionId, name, now())) ? null : SESSION_ENDED;
    },
    async changePassword(person, currentPassword, newPassword, visit) {
      const weak = badPassword('/new_password', newPassword, person);
      if (weak !== null) return weak;
      const over = await countProof(person, visit);
      if (over !== null) return over;
      const made = await refusing(async () =>
        (await auth()).api.changePassword({
          body: { currentPassword, newPassword, revokeOtherSessions: true },
          headers: headersOf(visit, cookieNames.session),
          returnHeaders: true,
        }),
      );
      if (isRefused(made)) return made;
      // Of two who change it at once the one whose password stands keeps a session.
      if (!(await isPassword(person, newPassword))) {
        await takeBack(made);
        return PASSWORD_CHANGED;
      }
      await limits.forget({ account: person.email });
      return signedInAs(person.id, made.headers, visit);
    },
    async beginTotp(person, password, visit) {
      const over = await countProof(person, visit);
      if (over !== null) return over;
      const make = async () =>
        (await auth()).api.enableTwoFactor({ body: { password, method: 'totp' }, headers: headersOf(visit, cookieNames.session) });
      // Of two first secrets at once one is refused by the unique index; made again, it takes the place of the other.
      const made = await refusing(() => make().catch((error: unknown) => (isDuplicate(error) ? make() : Promise.reject(error))));
      if (isRefused(made)) return made;
      if (!('totpURI' in made) || made.totpURI === undefined) throw new Error('identity has made no secret');
      await limits.forget({ account: person.email });
      const secret = new URL(made.totpURI).searchParams.get('secret') ?? '';
      return { uri: made.totpURI, secret, backupCodes: made.backupCodes ?? [] };
    },
    async confirmTotp(person, sent, visit) {
      const code = plainCode(sent);
      const over = await countProof(person, visit);
      if (over !== null) return over;
      if (!(await claim(person.id, code))) return USED_CODE;
      const made = await underOnePassword(person, PASSWORD_CHANGED, async () =>
        (await auth()).api.verifyTOTP({ body: { code }, headers: headersOf(visit, cookieNames.session), returnHeaders: true }),
      );
      if (isRefused(made)) return made;
      await limits.forget({ account: person.email });
      return signedInAs(person.id, made.headers, visit);
    },
    async disableTotp(person, password, visit) {
      const over = await countProof(person, visit);
      if (over !== null) return over;
      const made = await underOnePassword(person, PASSWORD_CHANGED, async () =>
        (await auth()).api.disableTwoFactor({ body: { password }, headers: headersOf(visit, cookieNames.session), returnHeaders: true }),
      );
      if (isRefused(made)) return made;
      await limits.forget({ account: person.email });
      return signedInAs(person.id, made.headers, visit);
    },
  };
}

/** Unique violation. */
const isDuplicate = (error: unknown): boolean => error instanceof DatabaseError && error.sqlstate === '23505';

/** Under which identifier better-auth keeps the sign-in of this cookie: `<identifier>.<signature>`, percent-encoded. */
const challengeOf = (cookie: string): string =>
  createHash('sha256')
    .update(decodedOrEmpty(cookie.split('.', 1)[0] as string))
    .digest('base64url');

function decodedOrEmpty(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
