// How often somebody may try to sign in: counted by the address they come from and by the account they try, over all processes.
// Attempts are counted before anything is compared, so that many at once gain nothing. Only hashes of addresses are stored.

import { isIPv6 } from 'node:net';
import { type AttemptsOptions, createAttempts } from './attempts.ts';
import type { IdentityRefusal } from './identity.ts';

export const SIGN_IN_WINDOW_MS = 15 * 60_000;
export const ATTEMPTS_PER_ACCOUNT = 10;
/** More than of an account: an office has one address. */
export const ATTEMPTS_PER_ADDRESS = 60;

/** What is tried beside the address: the password of an email address, or the second factor of a person whose password was right. */
export type Tried = { readonly account: string } | { readonly secondFactorOf: string };

export interface SignInLimits {
  /** Counts an attempt from this address, null where that is not known; the refusal where it is one too many. */
  count(address: string | null, tried?: Tried): Promise<IdentityRefusal | null>;
  /** After a success: what was tried before was its owner's. A right password forgets nothing of the second factor. */
  forget(tried: Tried): Promise<void>;
}

export interface SignInLimitsOptions extends AttemptsOptions {
  readonly forgetAttempts: (bucket: Buffer) => Promise<void>;
}

export function createSignInLimits({ forgetAttempts, ...options }: SignInLimitsOptions): SignInLimits {
  const attempts = createAttempts(options, SIGN_IN_WINDOW_MS);
  const nameOf = (tried: Tried): string => ('account' in tried ? `account:${tried.account}` : `second-factor:${tried.secondFactorOf}`);

  async function countIn(text: string, limit: number): Promise<IdentityRefusal | null> {
    const retryAfterSeconds = await attempts.count(text, limit);
    if (retryAfterSeconds === null) return null;
    const detail = `Too many attempts; the next one is taken in ${retryAfterSeconds} s.`;
    return { code: 'too_many_attempts', detail, retryAfterSeconds };
  }

  return {
    async count(address, tried) {
      // The address first, and nothing more once it is over: whoever tries many accounts adds no row for each of them.
      const over = address === null ? null : await countIn(`address:${networkOf(address)}`, ATTEMPTS_PER_ADDRESS);
      return over ?? (tried === undefined ? null : countIn(nameOf(tried), ATTEMPTS_PER_ACCOUNT));
    },
    forget: (tried) => forgetAttempts(attempts.bucketOf(nameOf(tried))),
  };
}

/** Whoever has one address of IPv6 has its /64. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped !== null) return mapped[1] as string;
  const [head = '', tail] = address.toLowerCase().split('%')[0]?.split('::') ?? [];
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const full =
    tail === undefined ? groups : [...groups, ...new Array<string>(Math.max(0, 8 - groups.length - after.length)).fill('0'), ...after];
  return `${full
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
