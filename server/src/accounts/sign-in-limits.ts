// How often somebody may try to sign in: counted by the address they come from and by the account they try, over all processes.
// Attempts are counted before anything is compared, so that many at once gain nothing. Only hashes of addresses are stored.

import { createHmac } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { AttemptCount } from '../store/people.ts';
import type { IdentityRefusal } from './identity.ts';

export const SIGN_IN_WINDOW_MS = 15 * 60_000;
export const ATTEMPTS_PER_ACCOUNT = 10;
/** More than of an account: an office has one address. */
export const ATTEMPTS_PER_ADDRESS = 60;

export interface Attempt {
  /** Where it comes from; null where that is not known. */
  readonly address?: string | null;
  /** The email address that is tried. */
  readonly account?: string;
}

export interface SignInLimits {
  /** Counts an attempt; the refusal where it is one too many. */
  count(attempt: Attempt): Promise<IdentityRefusal | null>;
  /** After a success: what was tried for this account before was its owner's. */
  forget(account: string): Promise<void>;
}

export interface SignInLimitsOptions {
  readonly countAttempts: (buckets: Buffer[], now: Date, windowMs: number) => Promise<AttemptCount[]>;
  readonly forgetAttempts: (bucket: Buffer, now: Date) => Promise<void>;
  readonly now: () => number;
  /** Keeps the stored hashes from being turned back into addresses. */
  readonly secret: string;
}

export function createSignInLimits({ countAttempts, forgetAttempts, now, secret }: SignInLimitsOptions): SignInLimits {
  const bucketOf = (kind: 'address' | 'account', text: string): Buffer => createHmac('sha256', secret).update(`${kind}:${text}`).digest();

  return {
    async count({ address, account }) {
      const limits = new Map<string, number>();
      const buckets: Buffer[] = [];
      const add = (bucket: Buffer, limit: number): void => {
        buckets.push(bucket);
        limits.set(bucket.toString('hex'), limit);
      };
      if (address !== undefined && address !== null) add(bucketOf('address', networkOf(address)), ATTEMPTS_PER_ADDRESS);
      if (account !== undefined) add(bucketOf('account', account), ATTEMPTS_PER_ACCOUNT);
      if (buckets.length === 0) return null;
      const at = now();
      const counts = await countAttempts(buckets, new Date(at), SIGN_IN_WINDOW_MS);
      const over = counts.filter(({ bucket, attempts }) => attempts > (limits.get(bucket.toString('hex')) as number));
      if (over.length === 0) return null;
      const untilMs = Math.max(...over.map(({ until }) => until.getTime()));
      const retryAfterSeconds = Math.max(1, Math.ceil((untilMs - at) / 1000));
      return {
        code: 'too_many_attempts',
        detail: `Too many attempts; the next one is taken in ${retryAfterSeconds} s.`,
        retryAfterSeconds,
      };
    },
    forget: (account) => forgetAttempts(bucketOf('account', account), new Date(now())),
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
