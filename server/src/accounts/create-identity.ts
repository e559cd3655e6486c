// Identity over better-auth: each of its refusals in our words, its cookies under our names, attempts counted, codes taken once.
// Everything that it throws and we do not expect goes on as a throw.

import { createHash, createHmac } from 'node:crypto';
import type { Refusal } from '../domain/errors.ts';
import type { Uuid } from '../domain/ids.ts';
import { foldEmail, type Person, refusePassword } from '../domain/person.ts';
import type { NewPerson } from '../store/people.ts';
import { ADDRESS_HEADER, type BetterAuth } from './better-auth.ts';
import type { Identity, IdentityRefusal, SignedIn, Visit } from './identity.ts';
import { type createPasswordWork, PasswordWorkFull } from './password-work.ts';
import type { SignInLimits } from './sign-in-limits.ts';

export interface IdentityOptions {
  /** Loaded when first needed: a server that only programs call never does. */
  readonly auth: () => Promise<BetterAuth>;
  readonly passwords: ReturnType<typeof createPasswordWork>;
  readonly limits: SignInLimits;
  readonly cookieNames: { readonly session: string; readonly challenge: string };
  readonly secret: string;
  readonly newId: () => Uuid;
  readonly now: () => Date;
  readonly cookieIn: (header: string, name: string) => string | null;
  readonly register: (person: NewPerson) => Promise<Person | null>;
  readonly discard: (id: Uuid) => Promise<void>;
  readonly rename: (id: Uuid, name: string, now: Date) => Promise<void>;
  readonly findChallenged: (identifier: string) => Promise<Uuid | null>;
  readonly claimCode: (personId: Uuid, codeHash: Buffer, now: Date, againAfterMs: number) => Promise<boolean>;
  readonly pruneSessions: (personId: Uuid) => Promise<void>;
}

/** A code of the authenticator holds for its half minute, the one before and the one after; longer than that it is remembered. */
const CODE_MEMORY_MS = 150_000;
const LOCKED_S = 900;

const refusals: Readonly<Record<string, IdentityRefusal>> = {
  INVALID_EMAIL: { code: 'wrong_credentials', detail: 'The email address or the password is wrong.' },
  INVALID_EMAIL_OR_PASSWORD: { code: 'wrong_credentials', detail: 'The email address or the password is wrong.' },
  INVALID_PASSWORD: { code: 'wrong_password', detail: 'The password is wrong.' },
  CREDENTIAL_ACCOUNT_NOT_FOUND: { code: 'wrong_password', detail: 'The password is wrong.' },
  INVALID_CODE: { code: 'wrong_code', detail: 'The code does not fit.' },
  INVALID_BACKUP_CODE: { code: 'wrong_code', detail: 'The backup code does not fit, or was used.' },
  INVALID_TWO_FACTOR_COOKIE: { code: 'wrong_code', detail: 'No sign-in waits for a code here; begin anew.' },
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: { code: 'wrong_code', detail: 'Too many wrong codes; begin to sign in anew.' },
  ACCOUNT_TEMPORARILY_LOCKED: { code: 'too_many_attempts', detail: 'Too many wrong codes for this account.', retryAfterSeconds: LOCKED_S },
  TOTP_NOT_ENABLED: { code: 'invalid_transition', detail: 'There is no second factor to turn on; make one first.' },
  TWO_FACTOR_NOT_ENABLED: { code: 'invalid_transition', detail: 'The account has no second factor.' },
  BACKUP_CODES_NOT_ENABLED: { code: 'wrong_code', detail: 'The code does not fit.' },
  TOTP_ALREADY_ENABLED: { code: 'invalid_transition', detail: 'The account has a second factor; turn it off first.' },
  UNAUTHORIZED: { code: 'not_signed_in', detail: 'The session has ended. Sign in.' },
};

const USED_CODE: IdentityRefusal = { code: 'wrong_code', detail: 'The code was used before; wait for the next one.' };
const NO_CHALLENGE = refusals.INVALID_TWO_FACTOR_COOKIE as IdentityRefusal;
const EMAIL_TAKEN: Refusal = { code: 'email_taken', detail: 'Somebody has signed up with this address; sign in with it.' };
const BUSY: Refusal = { code: 'overloaded', detail: 'Too many sign-ins are under way; nothing was changed.' };

export function createIdentity(options: IdentityOptions): Identity {
  const { auth, passwords, limits, cookieNames, secret, now, cookieIn } = options;

  /** Our cookie of this name alone, and where the request comes from: nothing else of it gets to better-auth. */
  function headersOf({ cookie, origin }: Visit, name: string | null): Headers {
    const headers = new Headers();
    const value = name === null || cookie === null ? null : cookieIn(cookie, name);
    if (value !== null) headers.set('cookie', `${name}=${value}`);
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
    await options.pruneSessions(personId);
    return { personId, setCookie: cookiesOf(headers, visit) };
  }

  /** Of the password of whoever is signed in already. */
  const countProof = (person: Person, visit: Visit) => limits.count({ address: visit.origin.ip, account: person.email });

  const codeHash = (code: string): Buffer => createHmac('sha256', secret).update(`code:${code}`).digest();
  const plainCode = (code: string): string => code.replaceAll(/\s/g, '');

  /** Whose sign-in waits for a code, by the cookie that its first step set. */
  async function challengedBy(visit: Visit): Promise<Uuid | null> {
    const value = visit.cookie === null ? null : cookieIn(visit.cookie, cookieNames.challenge);
    const identifier = value?.split('.', 1)[0];
    if (identifier === undefined) return null;
    return options.findChallenged(createHash('sha256').update(decodedOrEmpty(identifier)).digest('base64url'));
  }

  /** Runs one call of better-auth; what it refuses comes back in our words. */
  async function refusing<T extends object>(work: () => Promise<T>): Promise<T | IdentityRefusal> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof PasswordWorkFull) return BUSY;
      const code = codeOf(error);
      const refusal = code === null ? undefined : refusals[code];
      if (refusal === undefined) throw error;
      return refusal;
    }
  }

  const badPassword = (pointer: string, password: string, person: { email: string; name: string }): IdentityRefusal | null => {
    const message = refusePassword(password, person);
    return message === null
      ? null
      : { code: 'validation_failed', detail: `${pointer}: ${message}`, errors: [{ pointer, code: 'weak_password', message }] };
  };

  return {
    async register({ email, name, password }) {
      const weak = badPassword('/password', password, { email, name });
      if (weak !== null) return weak;
      return refusing(async () => {
        const passwordHash = await passwords.hash(password);
        const draft = { id: options.newId(), accountId: options.newId(), email: foldEmail(email), name, passwordHash, now: now() };
        const person = await options.register(draft);
        return person ?? EMAIL_TAKEN;
      });
    },
    discard: options.discard,
    async signIn(email, password, visit) {
      const account = foldEmail(email);
      const over = await limits.count({ address: visit.origin.ip, account });
      if (over !== null) return over;
      return refusing(async () => {
        const { headers, response } = await (await auth()).api.signInEmail({
          body: { email: account, password },
          headers: headersOf(visit, null),
          returnHeaders: true,
        });
        await limits.forget(account);
        if ('twoFactorRedirect' in response) return { personId: null, setCookie: cookiesOf(headers, visit) };
        return signedInAs(response.user.id, headers, visit);
      });
    },
    async completeSignIn(sent, visit) {
      const code = plainCode(sent);
      const over = await limits.count({ address: visit.origin.ip });
      if (over !== null) return over;
      const personId = await challengedBy(visit);
      if (personId === null) return NO_CHALLENGE;
      const isTotp = /^\d{6}$/.test(code);
      if (isTotp && !(await options.claimCode(personId, codeHash(code), now(), CODE_MEMORY_MS))) return USED_CODE;
      const call = { body: { code }, headers: headersOf(visit, cookieNames.challenge), returnHeaders: true } as const;
      const outcome = await refusing(async () =>
        isTotp ? (await auth()).api.verifyTOTP(call) : (await auth()).api.verifyBackupCode(call),
      );
      if ('code' in outcome) return outcome.code === 'invalid_transition' ? NO_CHALLENGE : outcome;
      return signedInAs(personId, outcome.headers, visit);
    },
    async signOut(visit) {
      const { headers } = await (await auth()).api.signOut({ headers: headersOf(visit, cookieNames.session), returnHeaders: true });
      return cookiesOf(headers, visit);
    },
    rename: (personId, name) => options.rename(personId, name, now()),
    async changePassword(person, currentPassword, newPassword, visit) {
      const weak = badPassword('/new_password', newPassword, person);
      if (weak !== null) return weak;
      const over = await countProof(person, visit);
      if (over !== null) return over;
      return refusing(async () => {
        const { headers } = await (await auth()).api.changePassword({
          body: { currentPassword, newPassword, revokeOtherSessions: true },
          headers: headersOf(visit, cookieNames.session),
          returnHeaders: true,
        });
        await limits.forget(person.email);
        return signedInAs(person.id, headers, visit);
      });
    },
    async beginTotp(person, password, visit) {
      const over = await countProof(person, visit);
      if (over !== null) return over;
      return refusing(async () => {
        const made = await (await auth()).api.enableTwoFactor({
          body: { password, method: 'totp' },
          headers: headersOf(visit, cookieNames.session),
        });
        if (!('totpURI' in made) || made.totpURI === undefined) throw new Error('identity has made no secret');
        await limits.forget(person.email);
        const secret = new URL(made.totpURI).searchParams.get('secret') ?? '';
        return { uri: made.totpURI, secret, backupCodes: made.backupCodes ?? [] };
      });
    },
    async confirmTotp(person, sent, visit) {
      const code = plainCode(sent);
      const over = await countProof(person, visit);
      if (over !== null) return over;
      if (!(await options.claimCode(person.id, codeHash(code), now(), CODE_MEMORY_MS))) return USED_CODE;
      return refusing(async () => {
        const { headers } = await (await auth()).api.verifyTOTP({
          body: { code },
          headers: headersOf(visit, cookieNames.session),
          returnHeaders: true,
        });
        await limits.forget(person.email);
        return signedInAs(person.id, headers, visit);
      });
    },
    async disableTotp(person, password, visit) {
      const over = await countProof(person, visit);
      if (over !== null) return over;
      return refusing(async () => {
        const { headers } = await (await auth()).api.disableTwoFactor({
          body: { password },
          headers: headersOf(visit, cookieNames.session),
          returnHeaders: true,
        });
        await limits.forget(person.email);
        return signedInAs(person.id, headers, visit);
      });
    },
  };
}

function decodedOrEmpty(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** The code of an error of better-auth; null for any other. */
function codeOf(error: unknown): string | null {
  if (!(error instanceof Error) || error.name !== 'APIError') return null;
  const { body } = error as Error & { body?: { code?: unknown } };
  return typeof body?.code === 'string' ? body.code : null;
}
