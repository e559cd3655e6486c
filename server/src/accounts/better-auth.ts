// better-auth, set up over our own tables and cookies. It is never mounted: identity calls the few of its endpoints that it uses.
// Its own limits, origin checks, telemetry and logs are off: ours stand before it, and an address or a token must not get into a log.

import { createAdapterFactory } from 'better-auth/adapters';
import { betterAuth } from 'better-auth/minimal';
import { twoFactor } from 'better-auth/plugins/two-factor';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../domain/person.ts';
import type { Database } from '../store/database.ts';
import { createIdentityRows, type IdentityCondition, type IdentityRow } from '../store/identity-rows.ts';
import type { createPasswordWork } from './password-work.ts';

/** A session ends after so long, however it is used. */
export const SESSION_LIFETIME_S = 30 * 24 * 60 * 60;
/** How long a sign-in waits for its code. */
export const CHALLENGE_LIFETIME_S = 10 * 60;
/** The header in which identity is told where a request comes from; nothing that a client sends reaches it. */
export const ADDRESS_HEADER = 'x-tranche-address';

export interface BetterAuthOptions {
  readonly database: Database;
  readonly newId: () => string;
  /** Signs cookies and encrypts the second factor. */
  readonly secret: string;
  readonly passwords: ReturnType<typeof createPasswordWork>;
  readonly cookieNames: { readonly session: string; readonly challenge: string };
  /** Whether cookies are kept to https. */
  readonly secure: boolean;
}

/** The rows of identity in the form that better-auth asks for them. */
function adapterOver(database: Database) {
  const rows = createIdentityRows(database);
  return createAdapterFactory({
    config: { adapterId: 'tranche', supportsUUIDs: true, supportsDates: true, supportsBooleans: true, transaction: false },
    adapter: () => ({
      create: async ({ model, data }) => (await rows.create(model, data)) as typeof data,
      findOne: async <T>({ model, where }: { model: string; where: Conditions }) =>
        ((await rows.find(model, where, 1))[0] ?? null) as T | null,
      findMany: async <T>({ model, where = [], limit, sortBy }: Parameters<Finder>[0]) =>
        (await rows.find(model, where, limit, sortBy)) as T[],
      update: async <T>({ model, where, update }: { model: string; where: Conditions; update: T }) =>
        ((await rows.update(model, where, update as IdentityRow))[0] ?? null) as T | null,
      updateMany: async ({ model, where, update }) => (await rows.update(model, where, update)).length,
      delete: async ({ model, where }) => void (await rows.remove(model, where)),
      deleteMany: async ({ model, where }) => (await rows.remove(model, where)).length,
      consumeOne: async <T>({ model, where }: { model: string; where: Conditions }) =>
        ((await rows.remove(model, where))[0] ?? null) as T | null,
      incrementOne: async <T>({ model, where, increment, set }: Incrementing) =>
        ((await rows.increment(model, where, increment, set))[0] ?? null) as T | null,
      count: ({ model, where = [] }) => rows.count(model, where),
    }),
  });
}

type Conditions = readonly IdentityCondition[];
type Finder = (request: {
  model: string;
  where?: Conditions | undefined;
  limit: number;
  sortBy?: { field: string; direction: 'asc' | 'desc' } | undefined;
}) => Promise<unknown>;
interface Incrementing {
  readonly model: string;
  readonly where: Conditions;
  readonly increment: Record<string, number>;
  readonly set?: Record<string, unknown> | undefined;
}

export function createBetterAuth({ database, newId, secret, passwords, cookieNames, secure }: BetterAuthOptions) {
  const attributes = { httpOnly: true, sameSite: 'strict', secure, path: '/' } as const;
  return betterAuth({
    appName: 'Tranche',
    // Links and redirects of its own are never made; an address keeps it from guessing one.
    baseURL: 'http://tranche.invalid',
    secret,
    database: adapterOver(database),
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: MIN_PASSWORD_LENGTH,
      // The library counts UTF-16 units, of which a character may take two; our own rule has counted characters before.
      maxPasswordLength: 2 * MAX_PASSWORD_LENGTH,
      password: passwords,
    },
    session: { expiresIn: SESSION_LIFETIME_S, disableSessionRefresh: true, freshAge: 0, cookieCache: { enabled: false } },
    verification: { storeIdentifier: 'hashed' },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
    advanced: {
      useSecureCookies: false,
      disableCSRFCheck: true,
      disableOriginCheck: true,
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER], ipv6Subnet: 128 },
      database: { generateId: () => newId() },
      cookies: {
        session_token: { name: cookieNames.session, attributes },
        two_factor: { name: cookieNames.challenge, attributes },
      },
    },
    plugins: [
      twoFactor({
        issuer: 'Tranche',
        twoFactorCookieMaxAge: CHALLENGE_LIFETIME_S,
        // Judged on what was read before, and so more than its number at once; ours counts before anything is compared.
        accountLockout: { enabled: false },
        backupCodeOptions: { storeBackupCodes: 'encrypted' },
      }),
    ],
  });
}

export type BetterAuth = ReturnType<typeof createBetterAuth>;
