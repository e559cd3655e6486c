// What an empty database lacks before it can be used: the default workspace, a first key, and the key of the configuration.
// Run once at a start, by whoever is alone with it; serves nothing.

import { randomFillSync } from 'node:crypto';
import { type Config, ConfigurationError } from './config.ts';
import { type ApiKey, hashKeySecret, keyHint, makeKeySecret, refuseKey } from './domain/api-key.ts';
import { GENESIS_HASH } from './domain/event.ts';
import type { Uuid } from './domain/ids.ts';
import { hashToken, makeLinkToken } from './domain/link-token.ts';
import { allScopes } from './domain/scopes.ts';
import { newId, type Store } from './open-store.ts';
import { hasMembers } from './store/members.ts';
import { addSetupToken } from './store/people.ts';
import { setUpWorkspace } from './store/workspaces.ts';

/** What is shown once, at the start that made it. */
export interface Made {
  /** Of the first key; null unless it was made just now. */
  readonly firstSecret: string | null;
  /** With which the first person signs up; null once somebody has. */
  readonly setupToken: string | null;
}

/** Makes the default workspace and the keys where they are missing, and a token for the first person. */
export async function setUp(store: Store, config: Config): Promise<Made> {
  const now = new Date();
  const firstSecret = makeKeySecret((bytes) => randomFillSync(bytes));
  const key = (workspaceId: Uuid, name: string, secret: string): ApiKey => ({
    id: newId(),
    workspaceId,
    name,
    hash: hashKeySecret(secret),
    hint: keyHint(secret),
    scopes: allScopes,
    expiresAt: null,
    revokedAt: null,
    createdAt: now,
  });
  const configured = config.TRANCHE_API_KEY;
  const result = await setUpWorkspace(store.database, {
    workspace: { id: newId(), name: 'Default', defaultCurrency: 'USD', createdAt: now },
    genesisHash: GENESIS_HASH,
    firstKey: (workspaceId) => key(workspaceId, 'First key', firstSecret),
    configuredKey: configured === undefined ? null : (workspaceId) => key(workspaceId, 'TRANCHE_API_KEY', configured),
    newId,
  });
  // With its workspace everything ends that was configured for it, and the server goes on for the others.
  if (result.configuredKey !== null && !result.isClosed && refuseKey(result.configuredKey, now) !== null) {
    throw new ConfigurationError('TRANCHE_API_KEY names a key that was revoked or has expired. Set another one; this one stays invalid.');
  }
  return { firstSecret: result.madeFirstKey ? firstSecret : null, setupToken: await setUpFirstPerson(store) };
}

/**
 * The token with which the first person signs up; null once somebody has. It is made at each start and kept as a hash. With the embedded
 * database one from an earlier start is worth nothing any more; of several processes on PostgreSQL each has its own.
 */
async function setUpFirstPerson({ database }: Store): Promise<string | null> {
  if (await hasMembers(database)) return null;
  const token = makeLinkToken('setup', (bytes) => randomFillSync(bytes));
  await addSetupToken(database, hashToken(token), new Date(), database.kind === 'pglite');
  return token;
}
