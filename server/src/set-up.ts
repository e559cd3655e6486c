// What an empty database lacks before it can be used: the default workspace, a first key, and the key of the configuration.
// Run once at a start, by whoever is alone with it; serves nothing.

import { randomFillSync } from 'node:crypto';
import { newId, type Store } from './compose.ts';
import { type Config, ConfigurationError } from './config.ts';
import { type ApiKey, hashKeySecret, keyHint, makeKeySecret, refuseKey } from './domain/api-key.ts';
import { GENESIS_HASH } from './domain/event.ts';
import type { Uuid } from './domain/ids.ts';
import { allScopes } from './domain/scopes.ts';
import { setUpWorkspace } from './store/workspaces.ts';

/** Makes the default workspace and the keys where they are missing. Returns the first key's secret when it was made just now. */
export async function setUp(store: Store, config: Config): Promise<string | null> {
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
  });
  if (result.configuredKey !== null && refuseKey(result.configuredKey, now) !== null) {
    throw new ConfigurationError('TRANCHE_API_KEY names a key that was revoked or has expired. Set another one; this one stays invalid.');
  }
  return result.madeFirstKey ? firstSecret : null;
}
