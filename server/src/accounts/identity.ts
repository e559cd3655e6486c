// What the service asks of identity: people, passwords, sessions and the second factor, as plain functions.
// Types only. better-auth stands behind it; workspaces, roles and HTTP answers are none of its business.

import type { Refusal } from '../domain/errors.ts';
import type { Uuid } from '../domain/ids.ts';
import type { NewPerson, Origin, Person, SessionCaller } from '../domain/person.ts';

/** The part of a request that identity looks at. */
export interface Visit {
  /** The Cookie header. */
  readonly cookie: string | null;
  readonly origin: Origin;
  /** Whether the browser came over https, so that its cookies may be kept to it. */
  readonly secure: boolean;
}

export type IdentityRefusal = Refusal;

/** Somebody is signed in from here on: the Set-Cookie headers that say so, and who it is. */
export interface SignedIn {
  readonly personId: Uuid;
  readonly setCookie: readonly string[];
}

/** The password was right, and a code is asked for. */
export interface CodeAsked {
  readonly personId: null;
  readonly setCookie: readonly string[];
}

export interface TotpMaterial {
  readonly uri: string;
  readonly secret: string;
  readonly backupCodes: readonly string[];
}

export interface Registration {
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

export interface Identity {
  /** Somebody who may be made with this name and password; makes nobody yet. Refuses a password that will not do. */
  prepare(registration: Registration): Promise<NewPerson | IdentityRefusal>;
  signIn(email: string, password: string, visit: Visit): Promise<SignedIn | CodeAsked | IdentityRefusal>;
  /** For whoever has just signed up with this password: no attempt is counted. */
  signInNew(email: string, password: string, visit: Visit): Promise<SignedIn | CodeAsked | IdentityRefusal>;
  /** The second step of signing in: a code of the authenticator or a backup code, each good once. */
  completeSignIn(code: string, visit: Visit): Promise<SignedIn | IdentityRefusal>;
  /** Ends the session that the request was admitted with, whatever its cookie's signature is; the cookie is taken back. */
  signOut(caller: SessionCaller, visit: Visit): Promise<readonly string[]>;
  rename(caller: SessionCaller, name: string): Promise<IdentityRefusal | null>;
  /** Ends every other session, and gives this one another token. */
  changePassword(person: Person, current: string, next: string, visit: Visit): Promise<SignedIn | IdentityRefusal>;
  beginTotp(person: Person, password: string, visit: Visit): Promise<TotpMaterial | IdentityRefusal>;
  /** The first right code: from here on signing in asks for one. */
  confirmTotp(person: Person, code: string, visit: Visit): Promise<SignedIn | IdentityRefusal>;
  disableTotp(person: Person, password: string, visit: Visit): Promise<SignedIn | IdentityRefusal>;
}

export function isRefused(outcome: object): outcome is IdentityRefusal {
  return 'code' in outcome && 'detail' in outcome;
}
