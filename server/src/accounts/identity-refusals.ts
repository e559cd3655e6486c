// What better-auth refuses, in our words. Everything that it throws and we do not expect goes on as a throw.

import type { IdentityRefusal } from './identity.ts';
import { PasswordWorkFull } from './password-work.ts';

/** By the library's code. */
const refusals: Readonly<Record<string, IdentityRefusal>> = {
  INVALID_EMAIL: { code: 'wrong_credentials', detail: 'The email address or the password is wrong.' },
  INVALID_EMAIL_OR_PASSWORD: { code: 'wrong_credentials', detail: 'The email address or the password is wrong.' },
  INVALID_PASSWORD: { code: 'wrong_password', detail: 'The password is wrong.' },
  CREDENTIAL_ACCOUNT_NOT_FOUND: { code: 'wrong_password', detail: 'The password is wrong.' },
  INVALID_CODE: { code: 'wrong_code', detail: 'The code does not fit.' },
  INVALID_BACKUP_CODE: { code: 'wrong_code', detail: 'The backup code does not fit, or was used.' },
  INVALID_TWO_FACTOR_COOKIE: { code: 'wrong_code', detail: 'No sign-in waits for a code here; begin anew.' },
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: { code: 'wrong_code', detail: 'Too many wrong codes; begin to sign in anew.' },
  TOTP_NOT_ENABLED: { code: 'invalid_transition', detail: 'There is no second factor to turn on; make one first.' },
  TWO_FACTOR_NOT_ENABLED: { code: 'invalid_transition', detail: 'The account has no second factor.' },
  BACKUP_CODES_NOT_ENABLED: { code: 'wrong_code', detail: 'The code does not fit.' },
  TOTP_ALREADY_ENABLED: { code: 'invalid_transition', detail: 'The account has a second factor; turn it off first.' },
  UNAUTHORIZED: { code: 'not_signed_in', detail: 'The session has ended. Sign in.' },
};

export const USED_CODE: IdentityRefusal = { code: 'wrong_code', detail: 'The code was used before; wait for the next one.' };
/** Of two who use a backup code at once the library lets the first through, and tells the second nothing that has a code. */
const CONFLICT = 409;
const CODE_RACE: IdentityRefusal = {
  code: 'wrong_code',
  detail: 'Another sign-in used a backup code at this moment; begin to sign in anew.',
};
export const NO_CHALLENGE = refusals.INVALID_TWO_FACTOR_COOKIE as IdentityRefusal;
export const PASSWORD_CHANGED: IdentityRefusal = {
  code: 'not_signed_in',
  detail: 'The password was changed, and with that this session has ended. Sign in.',
};
export const SESSION_ENDED: IdentityRefusal = { code: 'not_signed_in', detail: 'The session has ended; nothing was changed. Sign in.' };
export const WRONG_CREDENTIALS = refusals.INVALID_EMAIL_OR_PASSWORD as IdentityRefusal;
const BUSY: IdentityRefusal = { code: 'overloaded', detail: 'Too many sign-ins are under way; nothing was changed.' };

/** Runs one call of better-auth; what it refuses comes back as a refusal. */
export async function refusing<T extends object>(work: () => Promise<T>): Promise<T | IdentityRefusal> {
  try {
    return await work();
  } catch (error) {
    const refusal = error instanceof PasswordWorkFull ? BUSY : refusalOf(error);
    if (refusal === null) throw error;
    return refusal;
  }
}

function refusalOf(error: unknown): IdentityRefusal | null {
  if (!(error instanceof Error) || error.name !== 'APIError') return null;
  const { body, statusCode } = error as Error & { body?: { code?: unknown }; statusCode?: unknown };
  if (statusCode === CONFLICT) return CODE_RACE;
  return typeof body?.code === 'string' ? (refusals[body.code] ?? null) : null;
}
