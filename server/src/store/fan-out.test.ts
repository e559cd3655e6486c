// Fan-out against a real database: every event once to everyone who asked for it, whoever else is at work.
// Each test has a workspace of its own; nothing is sent.

import { beforeAll, describe, expect, test } from 'vitest';
import { addEndpoint, addEvents, addWorkspace, newId, onEachDatabase } from '../../test/support/webhook-fixtures.ts';
import type { EventType } from '../domain/event.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Database } from './database.ts';
import { fanOut } from './fan-out.ts';

onEachDatabase('the fan-out', (given, kind) => {
  let database: Database;
  beforeAll(() => {
    database = given();
  });

  const now = new Date('2026-01-01T00:00:00.000Z');
  const run = (workspaceIds: readonly Uuid[] | null, limit = 500) => fanOut(database, { workspaceIds, limit, newId, now });

  /** `endpoint: [sequence, previous sequence]` of what was fanned out, in order. */
  async function deliveriesOf(workspaceId: Uuid, endpointId: Uuid): Promise<[number, number | null][]> {
    const rows = await database.query<{ event_seq: bigint; previous_seq: bigint | null }>(
      'select event_seq, previous_seq from deliveries where workspace_id = $1 and endpoint_id = $2 order by id',
      [workspaceId, endpointId],
    );
    return rows.map((row) => [Number(row.event_seq), row.previous_seq === null ? null : Number(row.previous_seq)]);
  }

  describe('fanOut', () => {
    test('an endpoint without event types gets exactly the four default kinds, each delivery naming the one before', async () => {
      const workspace = await addWorkspace(database);
      const { id } = await addEndpoint(database, workspace);
      const types: EventType[] = [
        'project.created',
        'milestone.created',
        'milestone.submitted',
        'milestone.approved',
        'invoice.issued',
        'payment.released',
        'milestone.changes_requested',
        'milestone.cancelled',
        'project.archived',
      ];
      await addEvents(database, workspace, types);
      expect(await run([workspace])).toEqual({ events: 9, deliveries: 4, unfinished: [], more: false });
      expect(await deliveriesOf(workspace, id)).toEqual([
        [1, null],
        [3, 1],
        [4, 3],
        [6, 4],
      ]);
      await addEvents(database, workspace, ['payment.released']);
      await run([workspace]);
      expect((await deliveriesOf(workspace, id)).at(-1)).toEqual([10, 6]);
    });

    test('an endpoint gets the kinds it names and no other; one that is disabled or deleted gets none', async () => {
      const workspace = await addWorkspace(database);
      const named = await addEndpoint(database, workspace, { eventTypes: ['invoice.issued'] });
      const disabled = await addEndpoint(database, workspace, { status: 'disabled' });
      const deleted = await addEndpoint(database, workspace, { deletedAt: now });
      await addEvents(database, workspace, ['project.created', 'invoice.issued']);
      await run([workspace]);
      expect(await deliveriesOf(workspace, named.id)).toEqual([[2, null]]);
      expect(await deliveriesOf(workspace, disabled.id)).toEqual([]);
      expect(await deliveriesOf(workspace, deleted.id)).toEqual([]);
    });

    test('nothing of before an endpoint existed is sent to it', async () => {
      const workspace = await addWorkspace(database);
      await addEvents(database, workspace, ['project.created', 'project.created']);
      const { id } = await addEndpoint(database, workspace, { afterSeq: 2 });
      await addEvents(database, workspace, ['project.created']);
      await run([workspace]);
      expect(await deliveriesOf(workspace, id)).toEqual([[3, null]]);
    });

    test('a new delivery is due at once', async () => {
      const workspace = await addWorkspace(database);
      await addEndpoint(database, workspace);
      await addEvents(database, workspace, ['project.created']);
      await run([workspace]);
      const rows = await database.query(
        'select status, attempts, next_attempt_at, lease_token, created_at from deliveries where workspace_id = $1',
        [workspace],
      );
      expect(rows).toEqual([{ status: 'pending', attempts: 0, next_attempt_at: now, lease_token: null, created_at: now }]);
    });

    test('a backlog is worked off in bounded passes without a gap or a repetition', async () => {
      const workspace = await addWorkspace(database);
      const { id } = await addEndpoint(database, workspace);
      await addEvents(database, workspace, Array(25).fill('project.created'));
      const passes: number[] = [];
      for (let unfinished: readonly Uuid[] = [workspace]; unfinished.length > 0 && passes.length < 10; ) {
        const result = await run(unfinished, 10);
        passes.push(result.events);
        unfinished = result.unfinished;
      }
      expect(passes).toEqual([10, 10, 5]);
      expect((await deliveriesOf(workspace, id)).map(([seq]) => seq)).toEqual(Array.from({ length: 25 }, (_, i) => i + 1));
    });

    test('an event with more subscribers than a pass has deliveries goes out whole, and those after it wait for the next', async () => {
      const workspace = await addWorkspace(database);
      for (let i = 0; i < 30; i++) await addEndpoint(database, workspace);
      await addEvents(database, workspace, Array(80).fill('project.created'));
      const first = await run([workspace]);
      expect(first).toMatchObject({ events: 66, deliveries: 1980, unfinished: [workspace] });
      expect(await run([workspace])).toMatchObject({ events: 14, deliveries: 420, unfinished: [] });
    });

    test('a workspace with a long backlog and many subscribers does not keep another waiting for a single pass', async () => {
      // Ids are in the order of creation: by id the busy one comes first.
      const [busy, quiet] = [await addWorkspace(database), await addWorkspace(database)];
      for (let i = 0; i < 30; i++) await addEndpoint(database, busy);
      const { id } = await addEndpoint(database, quiet);
      await addEvents(database, busy, Array(80).fill('project.created'));
      await addEvents(database, quiet, Array(10).fill('project.created'));
      expect(await run([busy, quiet])).toMatchObject({ events: 76, deliveries: 1990, unfinished: [busy] });
      expect((await deliveriesOf(quiet, id)).map(([seq]) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      expect(await run([busy, quiet])).toMatchObject({ events: 14, deliveries: 420, unfinished: [] });
    });

    test('workers at the same workspaces at once fan each event out once', async () => {
      const workspaces = [await addWorkspace(database), await addWorkspace(database), await addWorkspace(database)];
      const endpoints = await Promise.all(workspaces.map((workspace) => addEndpoint(database, workspace)));
      for (const workspace of workspaces) await addEvents(database, workspace, Array(40).fill('project.created'));
      for (let round = 0; round < 20; round++) await Promise.all([1, 2, 3, 4].map(() => run(workspaces, 30)));
      for (const [i, workspace] of workspaces.entries()) {
        const sequences = (await deliveriesOf(workspace, endpoints[i]?.id as Uuid)).map(([seq, previous]) => [seq, previous]);
        expect(sequences).toEqual(Array.from({ length: 40 }, (_, n) => [n + 1, n === 0 ? null : n]));
      }
    });

    // The embedded database has one connection, so that nobody can hold a lock against another there.
    if (kind === 'PostgreSQL') {
      test('a workspace that another worker is at is passed by and named as unfinished', async () => {
        const [held, free] = [await addWorkspace(database), await addWorkspace(database)];
        for (const workspace of [held, free]) await addEndpoint(database, workspace);
        for (const workspace of [held, free]) await addEvents(database, workspace, ['project.created']);
        await database.query('insert into webhook_cursors (workspace_id, seq) values ($1, 0)', [held]);
        await database.transaction(async (transaction) => {
          await transaction.query('select 1 from webhook_cursors where workspace_id = $1 for update', [held]);
          expect(await run([held, free])).toMatchObject({ events: 1, unfinished: [held] });
        });
        expect(await run([held, free])).toMatchObject({ events: 1, unfinished: [] });
      });
    }

    test('a workspace without anybody to send to is passed by, and an endpoint made later is sent only what comes later', async () => {
      const workspace = await addWorkspace(database);
      await addEvents(database, workspace, Array(50).fill('project.created'));
      expect(await run([workspace])).toMatchObject({ events: 0, unfinished: [] });
      const { id } = await addEndpoint(database, workspace, { afterSeq: 50 });
      expect(await run(null)).toMatchObject({ events: 0 });
      await addEvents(database, workspace, ['project.created']);
      expect(await run([workspace])).toMatchObject({ events: 1, deliveries: 1 });
      expect((await deliveriesOf(workspace, id)).map(([seq]) => seq)).toEqual([51]);
    });

    test('events that are committed while it runs are never skipped (I-16)', async () => {
      const workspace = await addWorkspace(database);
      const { id } = await addEndpoint(database, workspace);
      const writing = (async () => {
        for (let i = 0; i < 30; i++) await addEvents(database, workspace, ['project.created', 'payment.released']);
      })();
      let isWritten = false;
      void writing.then(() => {
        isWritten = true;
      });
      while (!isWritten) await Promise.all([run([workspace]), run(null)]);
      await run([workspace]);
      expect((await deliveriesOf(workspace, id)).map(([seq]) => seq)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
    });

    test('looking at all workspaces finds those that are behind and leaves the others alone', async () => {
      for (let found = 1; found > 0; ) found = (await run(null)).events;
      const [behind, idle] = [await addWorkspace(database), await addWorkspace(database)];
      await addEndpoint(database, behind);
      await addEvents(database, behind, ['project.created']);
      expect(await run(null)).toEqual({ events: 1, deliveries: 1, unfinished: [], more: false });
      expect(await run(null)).toEqual({ events: 0, deliveries: 0, unfinished: [], more: false });
      expect(await database.query('select 1 from webhook_cursors where workspace_id = $1', [idle])).toEqual([]);
    });
  });
});
