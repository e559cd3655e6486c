// Keys found by the hash of their secret, and their last uses, on both databases.

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { addWorkspace, onEachDatabase } from '../../test/support/webhook-fixtures.ts';
import { type ApiKey, hashKeySecret } from '../domain/api-key.ts';
import { apiKeyTable, findKeysByHash, touchKeys } from './api-keys.ts';
import { insertRows } from './tables.ts';

onEachDatabase('api keys', (database) => {
  async function addKey(secret: string, change: Partial<ApiKey> = {}): Promise<ApiKey> {
    const key: ApiKey = {
      workspaceId: await addWorkspace(database()),
      id: randomUUID(),
      name: 'Test',
      hash: hashKeySecret(secret),
      hint: 'tr_l',
      scopes: ['projects:read', 'events:read'],
      expiresAt: null,
      revokedAt: null,
      createdAt: new Date('2026-03-02T09:30:00.123Z'),
      ...change,
    };
    await insertRows(database(), apiKeyTable, [key]);
    return key;
  }

  test('are found by hash over all workspaces, whole and whatever their state', async () => {
    const [a, b] = [randomUUID(), randomUUID()];
    const keys = [
      await addKey(a, { expiresAt: new Date('2027-01-01T00:00:00Z') }),
      await addKey(b, { revokedAt: new Date('2026-04-01T00:00:00Z') }),
    ];
    const found = await findKeysByHash(database(), [a, 'unknown', b].map(hashKeySecret));
    expect(found.sort((x, y) => (x.hash.equals(keys[0]?.hash as Buffer) ? -1 : y === x ? 0 : 1))).toEqual(keys);
    expect(await findKeysByHash(database(), [])).toEqual([]);
  });

  test('remember their last use, which never moves backwards', async () => {
    const key = await addKey(randomUUID());
    const touch = (at: string) => touchKeys(database(), [{ workspaceId: key.workspaceId, keyId: key.id, usedAt: new Date(at) }]);
    for (const at of ['2026-03-02T10:00:00.000Z', '2026-03-02T12:00:00.000Z', '2026-03-02T11:00:00.000Z']) await touch(at);
    const rows = await database().query('select used_at from api_key_uses where key_id = $1', [key.id]);
    expect(rows).toEqual([{ used_at: new Date('2026-03-02T12:00:00.000Z') }]);
  });
});
