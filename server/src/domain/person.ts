// People: who somebody is, the sessions they call with, and the rules for their names, addresses and passwords.
// Pure. How a password is proved or a session found is none of its business.

import type { Uuid } from './ids.ts';
import type { Role } from './roles.ts';

export interface Person {
  readonly id: Uuid;
  readonly email: string;
  readonly name: string;
  readonly totpEnabled: boolean;
  readonly createdAt: Date;
}

/** Somebody who signs up: made in the commit that gives them their first place, since neither is of use without the other. */
export interface NewPerson {
  readonly id: Uuid;
  /** Of what proves who they are. */
  readonly accountId: Uuid;
  /** In lower case. */
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
  readonly createdAt: Date;
}

/** One workspace of a person. */
export interface Membership {
  readonly workspaceId: Uuid;
  readonly workspaceName: string;
  readonly memberId: Uuid;
  readonly role: Role;
  readonly closedAt: Date | null;
}

/** A person who calls with a session, and as what. The lane holds it against the member as it stands at the commit. */
export interface SessionCaller {
  readonly sessionId: Uuid;
  readonly person: Person;
  /** Every workspace of the person when the session was looked up. */
  readonly memberships: readonly Membership[];
  /** The membership of the workspace that the request named; null for requests that concern the person alone. */
  readonly membership: Membership | null;
}

/** Where a request came from, for the audit log and the list of sessions. */
export interface Origin {
  readonly ip: string | null;
  readonly userAgent: string | null;
}

export const MAX_USER_AGENT_LENGTH = 300;
export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 128;

/** Words that passwords are made of when nobody thinks about them. */
const stale = /^(.)\1*$|^(?:0123456789|1234567890|abcdefghij|qwertyuiop|password|passw0rd|letmein|welcome|tranche|changeme)[\d\W_]*$/i;

/** Why a password will not do, as what would be right; null when it will. */
export function refusePassword(password: string, { email, name }: { readonly email: string; readonly name: string }): string | null {
  if ([...password].length < MIN_PASSWORD_LENGTH)
    return `Must have at least ${MIN_PASSWORD_LENGTH} characters; several words make a good one.`;
  if (stale.test(password)) return 'Is among the first that others would try; several words that belong to nothing make a good one.';
  const folded = password.toLowerCase();
  const [local = ''] = email.toLowerCase().split('@');
  const own = [email.toLowerCase(), local, name.toLowerCase().replaceAll(' ', '')];
  const isOwn = own.some((word) => word.length > 3 && folded.startsWith(word) && folded.length - word.length < MIN_PASSWORD_LENGTH / 2);
  return isOwn ? 'Is made of the name or the address; take words that belong to nothing.' : null;
}

/** Addresses are compared and stored in lower case: no mail service in use tells them apart by case. */
export const foldEmail = (email: string): string => email.trim().toLowerCase();
