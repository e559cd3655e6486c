// What a serving process clears away by itself: answers stored for idempotency keys, after thirty days and not before, in small bites.
// On both databases, with the real statements.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { IDEMPOTENCY_RETENTION_MS, KEEP_FOR_EVER, pruneOnce, startMaintenance } from '../src/operations/maintenance.ts';
import type { Database } from '../src/store/database.ts';
import { type OpenDatabase, testDatabases } from './support/databases.ts';
import { addWorkspace } from './support/store-rows.ts';
import { until } from './support/webhook-fixtures.ts';

const now = new Date('2026-06-30T12:00:00.000Z');
const ago = (ms: number): Date => new Date(now.getTime() - ms);

/** The same database; each statement's number of rows is noted. */
function counting(database: Database, bites: number[]): Database {
  const query: Database['query'] = async <Row>(text: string, parameters?: readonly unknown[]) => {
    const rows = await database.query<Row>(text, parameters);
    bites.push(rows.length);
    return rows;
  };
  return new Proxy(database, { get: (target, name) => (name === 'query' ? query : Reflect.get(target, name)) });
}

for (const kind of testDatabases) {
  describe.skipIf(!kind.available)(`maintenance, ${kind.name}${kind.available ? '' : ` (skipped: ${kind.reason})`}`, () => {
    let opened: OpenDatabase;
    beforeAll(async () => {
      opened = await kind.open();
    });
    afterAll(() => opened.close());

    const keep = async (workspaceId: string, prefix: string, count: number, createdAt: Date): Promise<void> => {
      await opened.database.query(
        `insert into idempotency_keys (workspace_id, key, fingerprint, status, headers, body, sealed, created_at)
         select $1, $2 || i, '', 200, '{}', '{}', false, $3 from generate_series(1, $4::integer) i`,
        [workspaceId, prefix, createdAt, count],
      );
    };
    const left = async (): Promise<Record<string, unknown>[]> =>
      opened.database.query(`select rtrim(key, '0123456789') as kind, count(*)::integer as n from idempotency_keys group by 1 order by 1`);

    test('prunes idempotency keys past 30 days in bites of at most 500, over all workspaces, and keeps the younger ones', async () => {
      const [one, two] = [await addWorkspace(opened.database), await addWorkspace(opened.database)];
      await keep(one, 'old-', 1_200, ago(IDEMPOTENCY_RETENTION_MS + 1));
      await keep(two, 'ancient-', 50, ago(5 * IDEMPOTENCY_RETENTION_MS));
      await keep(two, 'due-', 7, ago(IDEMPOTENCY_RETENTION_MS));
      await keep(one, 'young-', 20, ago(60_000));
      const bites: number[] = [];
      expect(await pruneOnce(counting(opened.database, bites), now)).toBe(1_250);
      expect(bites).toEqual([500, 500, 250]);
      expect(await left()).toEqual([
        { kind: 'due-', n: 7 },
        { kind: 'young-', n: 20 },
      ]);
      expect(await pruneOnce(opened.database, now)).toBe(0);
    });

    test('begins at the start of a server, ends at its stop between two bites, and a failure is no more than a warning', async () => {
      const workspace = await addWorkspace(opened.database);
      await keep(workspace, 'old-', 1_600, ago(2 * IDEMPOTENCY_RETENTION_MS));
      const bites: number[] = [];
      const warnings: string[] = [];
      const log = { warn: (_fields: object, message: string) => void warnings.push(message) };
      const stop = startMaintenance({ database: counting(opened.database, bites), clock: () => now, log, retention: KEEP_FOR_EVER });
      await until(() => bites.length > 0);
      await stop();
      const done = bites.length;
      expect(done).toBeLessThan(4);
      await opened.database.query('select 1');
      expect(bites).toHaveLength(done);
      const failing = new Proxy(opened.database, {
        get: (target, name) => (name === 'query' ? () => Promise.reject(new Error('gone')) : Reflect.get(target, name)),
      });
      const stopFailing = startMaintenance({ database: failing, clock: () => now, log, retention: KEEP_FOR_EVER });
      await until(() => warnings.length > 0);
      await stopFailing();
      expect(warnings).toEqual(['pruning failed; it is tried again within the hour']);
    });
  });
}
