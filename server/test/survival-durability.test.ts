// On the embedded database every answered write was on disk before its answer left: counted through the whole service, over HTTP.
// A kill alone cannot show it, since the kernel keeps what a dead process has written.

import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { composeService } from '../src/compose.ts';
import { readConfig } from '../src/config.ts';
import { type ApiKey, hashKeySecret } from '../src/domain/api-key.ts';
import { GENESIS_HASH } from '../src/domain/event.ts';
import type { Uuid } from '../src/domain/ids.ts';
import { allScopes } from '../src/domain/scopes.ts';
import { assembleStore, newId } from '../src/open-store.ts';
import { createCipher } from '../src/store/cipher.ts';
import { openPglite } from '../src/store/pglite.ts';
import { setUpWorkspace } from '../src/store/workspaces.ts';
import { dataDirectory, someKey } from './support/server-process.ts';

/** `fsync`; `commit`, told by the lane before it answers; and `answer …`, when the head of the answer to a write leaves. */
type Moment = 'fsync' | 'commit' | `answer ${string}`;

async function openService(moments: Moment[]) {
  const log = pino({ level: 'silent' });
  const database = await openPglite({ dataDir: await dataDirectory(), log, onFsync: () => moments.push('fsync') });
  const secret = someKey();
  const now = new Date();
  const firstKey = (workspaceId: Uuid): ApiKey => ({
    ...{ id: newId(), workspaceId, name: 'k', hash: hashKeySecret(secret), hint: '', scopes: allScopes },
    ...{ expiresAt: null, revokedAt: null, createdAt: now },
  });
  const workspace = { id: newId(), name: 'w', defaultCurrency: 'USD', createdAt: now };
  await setUpWorkspace(database, { workspace, genesisHash: GENESIS_HASH, firstKey, configuredKey: null, newId });
  const store = assembleStore(database, createCipher(randomBytes(32)), { LANES: 1 }, log);
  store.onCommitted.push(() => moments.push('commit'));
  const config = {
    ...readConfig({}),
    RATE_LIMIT_PER_MINUTE: 1_000_000,
    WEBHOOK_CONCURRENCY: 5,
    WEBHOOK_NETWORK: 'any' as const,
    HOST: '127.0.0.1',
  };
  const service = composeService(store, config, '0.0.0-test', log);
  service.app.server.prependListener('request', (request, response) => {
    const writeHead = response.writeHead.bind(response) as (...of: unknown[]) => typeof response;
    response.writeHead = ((...of: unknown[]) => {
      moments.push(`answer ${String(request.headers['x-write'])}`);
      return writeHead(...of);
    }) as typeof response.writeHead;
  });
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => service.stop());
  const url = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}/v1/projects`;
  const create = async (write: string): Promise<void> => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'x-write': write };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ name: write, client_id: 'c' }) });
    expect([answer.status, await answer.json()]).toEqual([201, expect.objectContaining({ name: write })]);
  };
  return { database, create };
}

test('every answered write was fsynced before its answer left, alone and in batches', async () => {
  const moments: Moment[] = [];
  const { database, create } = await openService(moments);
  moments.length = 0;
  for (let i = 0; i < 10; i++) await create(`alone-${i}`);
  for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 150 }, (_, i) => create(`together-${round}-${i}`)));

  // Writes of one transaction share its id, and ids grow from commit to commit.
  const rows = await database.query<{ name: string; xid: bigint }>('select name, xmin::text::bigint as xid from projects');
  const xids = [...new Set(rows.map(({ xid }) => xid))].sort((a, b) => Number(a - b));
  expect(rows).toHaveLength(460);
  expect(xids.length).toBeGreaterThan(12);
  expect(xids.length).toBeLessThan(rows.length);

  const commits = moments.flatMap((moment, at) => (moment === 'commit' ? [at] : []));
  expect(commits).toHaveLength(xids.length);
  for (const [i, at] of commits.entries()) expect(moments.slice(i === 0 ? 0 : commits[i - 1], at)).toContain('fsync');
  for (const { name, xid } of rows) {
    expect(moments.indexOf(`answer ${name}`)).toBeGreaterThan(commits[xids.indexOf(xid)] as number);
  }
});
