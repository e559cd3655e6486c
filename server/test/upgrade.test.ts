// A database of the first release, brought up to date: nothing that was stored is lost or means something else.
// Writes rows as that release did, in its own SQL, which is why nothing here comes from the tables of today.

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { GENESIS_HASH } from '../src/domain/event.ts';
import type { Database } from '../src/store/database.ts';
import { listAttempts } from '../src/store/deliveries.ts';
import { readMigrations } from '../src/store/migrations.ts';
import { findWebhookEndpoints } from '../src/store/webhook-endpoints.ts';
import { testDatabases } from './support/databases.ts';

const NOW = new Date('2026-03-02T09:30:00.000Z');

async function fillFirstRelease(database: Database): Promise<{ workspace: string; endpoint: string; delivery: string }> {
  const [workspace, endpoint, delivery] = [randomUUID(), randomUUID(), randomUUID()];
  await database.query(`insert into workspaces (id, name, default_currency, created_at) values ($1, 'Test', 'USD', $2)`, [workspace, NOW]);
  await database.query(
    `insert into webhook_endpoints (workspace_id, id, url, status, secrets, after_seq, version, created_at, updated_at)
     values ($1, $2, 'https://example.com/hook', 'enabled', '[{"sealed": "v1.x", "expires_at": null}]', 0, 1, $3, $3)`,
    [workspace, endpoint, NOW],
  );
  await database.query(
    `insert into events (workspace_id, seq, id, type, project_id, body, hash, created_at) values ($1, 1, $2, 'project.created', $2, '{}', $3, $4)`,
    [workspace, randomUUID(), GENESIS_HASH, NOW],
  );
  await database.query(
    `insert into deliveries (workspace_id, id, endpoint_id, event_seq, status, attempts, created_at, completed_at)
     values ($1, $2, $3, 1, 'succeeded', 2, $4, $4)`,
    [workspace, delivery, endpoint, NOW],
  );
  await database.query(
    `insert into delivery_attempts (workspace_id, delivery_id, number, started_at, duration_ms, status_code, error, response_body)
     values ($1, $2, 1, $3, 15000, null, 'timeout: no answer arrived: in time', null), ($1, $2, 2, $3, 12, 200, null, 'ok')`,
    [workspace, delivery, NOW],
  );
  return { workspace, endpoint, delivery };
}

describe.each(testDatabases)('from the first release, $name', (kind) => {
  test.skipIf(!kind.available)('endpoints sign as they did, and attempts keep their reason, as a word and as a sentence', async () => {
    const opened = await kind.open();
    try {
      const { database } = opened;
      await database.query('drop schema public cascade');
      await database.query('create schema public');
      const migrations = await readMigrations();
      await database.migrate(migrations.slice(0, 1));
      const { workspace, endpoint, delivery } = await fillFirstRelease(database);
      expect(await database.migrate(migrations)).toEqual(migrations.slice(1).map(({ name }) => name));

      expect((await findWebhookEndpoints(database, [endpoint]))[0]).toMatchObject({
        workspaceId: workspace,
        secrets: [{ sealed: 'v1.x', expiresAt: null }],
        signatureSchemes: ['v1'],
        signingKeys: [],
        headers: [],
      });
      expect((await listAttempts(database, workspace, delivery, { limit: 10 })).records).toMatchObject([
        { number: 2, statusCode: 200, errorKind: null, error: null, responseBody: 'ok', responseHeaders: null, responseTruncated: false },
        { number: 1, statusCode: null, errorKind: 'timeout', error: 'no answer arrived: in time', remoteAddress: null },
      ]);
    } finally {
      await opened.close();
    }
  });
});
