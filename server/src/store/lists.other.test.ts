// The lists that are not like the others: events by sequence, endpoints without the deleted ones, deliveries with their event, attempts by
// number, keys with their last use. Each test has a workspace of its own.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OpenDatabase, testDatabases } from '../../test/support/databases.ts';
import { addEndpoint, addEvents, addWorkspace, newId } from '../../test/support/webhook-fixtures.ts';
import type { EventType } from '../domain/event.ts';
import type { Uuid } from '../domain/ids.ts';
import { listApiKeys } from './api-keys.ts';
import { createByIdReader } from './by-id.ts';
import type { Database } from './database.ts';
import { deliverySource, listAttempts } from './deliveries.ts';
import { listDeliveries } from './delivery-lists.ts';
import { type EventChoice, eventSource, LOOKED_THROUGH_EVENTS, listEvents, searchEvents } from './events.ts';
import { listWebhookEndpoints } from './webhook-endpoints.ts';

let database: Database;

for (const kind of testDatabases) {
  describe.skipIf(!kind.available)(`on the ${kind.name} database`, () => {
    let opened: OpenDatabase;
    beforeAll(async () => {
      opened = await kind.open();
      database = opened.database;
    });
    afterAll(() => opened.close());

    test('events come in sequence, from any number on', async () => {
      const workspaceId = await addWorkspace(database);
      await addEvents(database, workspaceId, Array(7).fill('project.created'));
      const first = await listEvents(database, workspaceId, 0, 3);
      expect([first.records.map((event) => event.seq), first.hasMore]).toEqual([[1, 2, 3], true]);
      const last = await listEvents(database, workspaceId, 4, 3);
      expect([last.records.map((event) => event.seq), last.hasMore]).toEqual([[5, 6, 7], false]);
      expect(await listEvents(database, workspaceId, Number.MAX_SAFE_INTEGER, 3)).toEqual({ records: [], hasMore: false });
      const id = last.records[0]?.id as Uuid;
      expect(await createByIdReader(database, eventSource)(workspaceId, id)).toEqual(last.records[0]);
    });

    test('the log is read backwards and in stretches, each event once', async () => {
      const workspaceId = await addWorkspace(database);
      await addEvents(database, workspaceId, Array(7).fill('project.created'));
      const seqs = async (choice: Partial<EventChoice>, limit = 3): Promise<[number[], number | null]> => {
        const { records, next } = await searchEvents(database, workspaceId, { afterSeq: 0, order: 'desc', ...choice }, limit);
        return [records.map((event) => event.seq), next];
      };
      expect(await seqs({})).toEqual([[7, 6, 5], 5]);
      expect(await seqs({ beforeSeq: 5 })).toEqual([[4, 3, 2], 2]);
      expect(await seqs({ beforeSeq: 2 })).toEqual([[1], null]);
      expect(await seqs({ beforeSeq: 1 })).toEqual([[], null]);
      expect(await seqs({ beforeSeq: 0 })).toEqual([[], null]);
      expect(await seqs({ beforeSeq: Number.MAX_SAFE_INTEGER, afterSeq: 4 })).toEqual([[7, 6, 5], null]);
      expect(await seqs({ order: 'asc', afterSeq: 2, beforeSeq: 6 })).toEqual([[3, 4, 5], null]);
      expect(await seqs({ order: 'asc', afterSeq: 2, beforeSeq: 7 })).toEqual([[3, 4, 5], 5]);
      expect(await seqs({ afterSeq: 9 })).toEqual([[], null]);
    });

    test('events of kinds and of a project are found in both directions, a bounded stretch of the log at a time', async () => {
      const workspaceId = await addWorkspace(database);
      const count = LOOKED_THROUGH_EVENTS * 2 + 10;
      const kinds = Array.from({ length: count }, (_, n) => (n % 5_000 === 1 ? 'payment.released' : 'milestone.created'));
      const projectId = newId();
      const projectOf = (n: number): Uuid => (n === 10_002 || n === 10_004 ? projectId : newId());
      await addEvents(database, workspaceId, kinds as EventType[], projectOf);
      const types = new Set(['payment.released'] as const);
      const walk = async (order: 'asc' | 'desc', more: Partial<EventChoice>): Promise<{ found: number[]; pages: number }> => {
        const found: number[] = [];
        for (let pages = 1, at: number | null = null; ; pages++) {
          const place = at === null ? {} : order === 'asc' ? { afterSeq: at } : { beforeSeq: at };
          const page = await searchEvents(database, workspaceId, { afterSeq: 0, order, ...more, ...place }, 2);
          found.push(...page.records.map((event) => event.seq));
          if (page.next === null) return { found, pages };
          at = page.next;
        }
      };
      expect(await walk('desc', { types })).toEqual({ found: [10_002, 5_002, 2], pages: 3 });
      expect(await walk('asc', { types })).toEqual({ found: [2, 5_002, 10_002], pages: 3 });
      expect((await walk('desc', { projectId })).found).toEqual([10_005, 10_003]);
      expect((await walk('asc', { projectId })).found).toEqual([10_003, 10_005]);
      expect((await walk('desc', { projectId, types })).found).toEqual([]);
    });

    test('deleted endpoints are not listed', async () => {
      const workspaceId = await addWorkspace(database);
      const { id } = await addEndpoint(database, workspaceId);
      await addEndpoint(database, workspaceId, { deletedAt: new Date() });
      const { records } = await listWebhookEndpoints(database, workspaceId, {}, { limit: 10 });
      expect(records.map((record) => record.id)).toEqual([id]);
    });

    test('deliveries carry the id and type of their event, attempts are listed latest first', async () => {
      const workspaceId = await addWorkspace(database);
      const { id: endpointId } = await addEndpoint(database, workspaceId);
      await addEvents(database, workspaceId, ['project.created', 'payment.released']);
      const now = new Date();
      const ids = [newId(), newId()];
      for (const [i, id] of ids.entries()) {
        await database.query(
          `insert into deliveries (workspace_id, id, endpoint_id, event_seq, status, attempts, next_attempt_at, created_at, completed_at)
           values ($1, $2, $3, $4, $5, 3, null, $6, $6)`,
          [workspaceId, id, endpointId, i + 1, i === 0 ? 'failed' : 'succeeded', now],
        );
      }
      for (const number of [1, 2, 3]) {
        await database.query(
          `insert into delivery_attempts (workspace_id, delivery_id, number, started_at, duration_ms, status_code, error, response_body)
           values ($1, $2, $3, $4, 5, null, 'timeout', null)`,
          [workspaceId, ids[0], number, now],
        );
      }
      const events = await listEvents(database, workspaceId, 0, 10);
      const all = await listDeliveries(database, workspaceId, { endpointId }, { limit: 10 });
      expect(all.records.map((record) => [record.id, record.eventId, record.eventType, record.eventSeq])).toEqual([
        [ids[1], events.records[1]?.id, 'payment.released', 2],
        [ids[0], events.records[0]?.id, 'project.created', 1],
      ]);
      const failed = await listDeliveries(database, workspaceId, { endpointId, status: 'failed' }, { limit: 10 });
      expect(failed.records).toEqual([all.records[1]]);
      expect(await createByIdReader(database, deliverySource)(workspaceId, ids[0] as Uuid)).toEqual(all.records[1]);
      const numbers = async (limit: number, before?: number) => {
        const page = await listAttempts(database, workspaceId, ids[0] as Uuid, { limit, before });
        return [page.records.map((attempt) => attempt.number), page.hasMore];
      };
      expect(await numbers(2)).toEqual([[3, 2], true]);
      expect(await numbers(2, 2)).toEqual([[1], false]);
    });

    test('a page of deliveries towards the newer ones finds the next match however far it lies beyond what one walk looks at', async () => {
      const workspaceId = await addWorkspace(database);
      const { id: endpointId } = await addEndpoint(database, workspaceId);
      const count = 9;
      await addEvents(database, workspaceId, Array(count).fill('project.created'));
      const ids = Array.from({ length: count }, () => newId());
      for (const [at, id] of ids.entries()) {
        await database.query(
          `insert into deliveries (workspace_id, id, endpoint_id, event_seq, status, completed_at, created_at, next_attempt_at)
           values ($1, $2, $3, $4, $5, now(), now(), null)`,
          [workspaceId, id, endpointId, at + 1, at === count - 1 ? 'failed' : 'succeeded'],
        );
      }
      const page = await listDeliveries(database, workspaceId, { status: 'failed' }, { limit: 5, endingBefore: ids[0] }, 2);
      expect(page.records.map(({ id }) => id)).toEqual([ids[count - 1]]);
      const none = await listDeliveries(database, workspaceId, { status: 'cancelled' }, { limit: 5, endingBefore: ids[0] }, 2);
      expect([none.records, none.hasMore]).toEqual([[], false]);
    });

    test('a key is listed with its last use', async () => {
      const workspaceId = await addWorkspace(database);
      const usedAt = new Date('2026-03-02T09:30:00.000Z');
      const ids = [newId(), newId()];
      for (const id of ids) {
        await database.query(
          `insert into api_keys (workspace_id, id, name, hash, hint, scopes, created_at) values ($1, $2, 'k', $3, 'tr_live_', '{projects:read}', now())`,
          [workspaceId, id, Buffer.from(id)],
        );
      }
      await database.query('insert into api_key_uses values ($1, $2, $3)', [workspaceId, ids[0], usedAt]);
      const { records } = await listApiKeys(database, workspaceId, {}, { limit: 10 });
      expect(records.map(({ id, key, lastUsedAt }) => [id, key.scopes, lastUsedAt])).toEqual([
        [ids[1], ['projects:read'], null],
        [ids[0], ['projects:read'], usedAt],
      ]);
    });
  });
}
