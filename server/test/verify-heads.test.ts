// `tranche verify` and the heads that an operator noted earlier, and logs that are longer than a page.
// The damage is done as only a superuser can, with the database's own guards taken down, and rolled back after each look.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chainHash, GENESIS_HASH } from '../src/domain/event.ts';
import { encodeId, type Uuid } from '../src/domain/ids.ts';
import { verifyBooks, type WorkspaceReport } from '../src/operations/verify.ts';
import type { Queryable } from '../src/store/database.ts';
import { eventTable } from '../src/store/events.ts';
import { insertRows } from '../src/store/tables.ts';
import { openTestApp, type TestApp } from './support/app.ts';
import { testDatabases } from './support/databases.ts';
import { newId } from './support/webhook-fixtures.ts';

for (const kind of testDatabases) {
  describe.skipIf(!kind.available)(`verify and noted heads, ${kind.name}${kind.available ? '' : ` (skipped: ${kind.reason})`}`, () => {
    let app: TestApp;
    const verify = (expect: readonly string[] = [], database: Queryable = app.database) => verifyBooks(database, expect, () => undefined);

    beforeAll(async () => {
      app = await openTestApp({ database: kind.name });
    });
    afterAll(() => app.stop());

    /** Carries the damage out, looks at the workspace, and takes the damage back. */
    async function faultsAfter(id: Uuid, sql: readonly string[], expected: readonly string[] = []): Promise<readonly string[]> {
      let report: WorkspaceReport | undefined;
      const rolledBack = new Error('rolled back');
      const looking = app.database.transaction(async (transaction) => {
        await transaction.query('alter table events disable trigger user');
        for (const text of sql) await transaction.query(text.replaceAll('$w', `'${id}'`));
        report = (await verify(expected, transaction)).find(({ workspace }) => workspace === encodeId('workspace', id));
        throw rolledBack;
      });
      await expect(looking).rejects.toBe(rolledBack);
      return report?.faults ?? [];
    }

    test('a tail cut together with its head passes unnoticed only to who noted no head', async () => {
      const add = () => app.ok('POST', '/v1/projects', { body: { name: 'p', client_id: 'c' } });
      for (let i = 0; i < 3; i++) await add();
      const before = (await verify())[0]?.head as string;
      await add();
      const after = (await verify())[0]?.head as string;
      const [seq, hash] = before.split(':');
      const cut = [
        `delete from events where workspace_id = $w and seq > ${seq}`,
        `update workspace_heads set event_seq = ${seq}, event_hash = '\\x${hash}' where workspace_id = $w`,
      ];
      expect(await faultsAfter(app.workspaceId, cut)).toEqual([]);
      expect(await faultsAfter(app.workspaceId, cut, [before])).toEqual([]);
      expect(await faultsAfter(app.workspaceId, cut, [after])).toEqual([
        `event ${after.split(':')[0]}, noted earlier, is not in the log: its tail was cut`,
      ]);
      expect((await verify([`3:${'0'.repeat(64)}`]))[0]?.faults).toEqual(['event 3 has another hash than the one noted earlier']);
    });

    test('pages meet without a gap: a hole, a double and an alteration on either side of a page are found', async () => {
      const id = (await app.addWorkspace()).id;
      let hash: Buffer = GENESIS_HASH;
      const events = Array.from({ length: 2_001 }, (_, i) => {
        const projectId = newId();
        const body = JSON.stringify({ event: 'project.created', data: { projectId: encodeId('project', projectId) } });
        const event = {
          workspaceId: id,
          seq: i + 1,
          id: newId(),
          type: 'project.created' as const,
          projectId,
          body,
          createdAt: new Date(),
        };
        hash = chainHash(hash, event);
        return { ...event, hash };
      });
      await insertRows(app.database, eventTable, events);
      await app.database.query('update workspace_heads set event_seq = $2, event_hash = $3 where workspace_id = $1', [id, 2_001, hash]);
      // Others have their turn between the pages, on the embedded database too, which answers without waiting for anything.
      let turns = 0;
      let timer = setImmediate(function count() {
        turns += 1;
        timer = setImmediate(count);
      });
      expect((await verify()).map((report) => report.faultsInAll)).toEqual([0, 0]);
      clearImmediate(timer);
      expect(turns).toBeGreaterThanOrEqual(4);
      for (const seq of [1_000, 1_001, 2_000, 2_001]) {
        const [fault] = await faultsAfter(id, [`delete from events where workspace_id = $w and seq = ${seq}`]);
        expect(fault).toMatch(seq === 2_001 ? /^the log ends at event 2000/ : new RegExp(`^event ${seq} is missing`));
      }
    });

    test('a noted head that cannot be looked for is refused, not passed over', async () => {
      const head = (await verify())[0]?.head as string;
      await expect(verify([head])).rejects.toThrow('There are 2 workspaces; say which one is meant');
      const gone = encodeId('workspace', newId());
      await expect(verify([`${gone}:${head}`])).rejects.toThrow(`${gone}, of which a head was noted, is not in this database`);
      await expect(verify(['nonsense'])).rejects.toThrow('--expect takes seq:hash');
    });
  });
}
