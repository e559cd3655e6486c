// How long deliveries and attempts are kept: as configured, never shorter for what is pending, and never at anybody's cost.
// On both databases, with many rows and the real statements.

import { expect, test } from 'vitest';
import { createIdGenerator } from '../src/domain/ids.ts';
import { DELIVERY_BITE, KEEP_FOR_EVER, pruneDelivered, retentionOf, startMaintenance } from '../src/operations/maintenance.ts';
import type { Database } from '../src/store/database.ts';
import { addDeliveries } from './support/delivery-rows.ts';
import { addEndpoint, addWorkspace, onEachDatabase, until } from './support/webhook-fixtures.ts';

const DAY_MS = 24 * 60 * 60_000;
const now = new Date('2026-11-20T12:00:00.000Z');
const daysAgo = (days: number): Date => new Date(now.getTime() - days * DAY_MS);

async function place(database: Database): Promise<{ workspaceId: string; endpointId: string }> {
  const workspaceId = await addWorkspace(database);
  return { workspaceId, endpointId: (await addEndpoint(database, workspaceId)).id };
}

async function left(database: Database, workspaceId: string): Promise<Record<string, number>> {
  const [row] = await database.query<{ deliveries: number; attempts: number; events: number }>(
    `select (select count(*)::integer from deliveries where workspace_id = $1) as deliveries,
       (select count(*)::integer from delivery_attempts where workspace_id = $1) as attempts,
       (select count(*)::integer from events where workspace_id = $1) as events`,
    [workspaceId],
  );
  return { ...row };
}

test('retention is given in days; 0 keeps for ever, and attempts never stay longer than their delivery', () => {
  expect(retentionOf(90, undefined)).toEqual({ deliveriesMs: 90 * DAY_MS, attemptsMs: null });
  expect(retentionOf(90, 14)).toEqual({ deliveriesMs: 90 * DAY_MS, attemptsMs: 14 * DAY_MS });
  expect(retentionOf(10, 14)).toEqual({ deliveriesMs: 10 * DAY_MS, attemptsMs: null });
  expect(retentionOf(0, 14)).toEqual({ deliveriesMs: null, attemptsMs: 14 * DAY_MS });
  expect(retentionOf(0, undefined)).toEqual(KEEP_FOR_EVER);
});

onEachDatabase('retention', (database, kind) => {
  test('deletes what ended before its time, over all workspaces, with its attempts; events, younger and pending ones stay (I-21)', async () => {
    const [one, two] = [await place(database()), await place(database())];
    await addDeliveries(database(), { ...one, count: 3 * DELIVERY_BITE + 7, status: 'succeeded', createdAt: daysAgo(120), attempts: 2 });
    await addDeliveries(database(), { ...one, count: 5, status: 'pending', createdAt: daysAgo(119), attempts: 3, at: daysAgo(118) });
    await addDeliveries(database(), { ...one, count: 4, status: 'failed', createdAt: daysAgo(93), at: daysAgo(89), attempts: 10 });
    await addDeliveries(database(), { ...one, count: 6, status: 'succeeded', createdAt: daysAgo(3), attempts: 1 });
    await addDeliveries(database(), { ...two, count: 11, status: 'cancelled', createdAt: daysAgo(91) });
    const counted: Record<string, number> = {};
    const onPruned = (kind: string, rows: number): void => void (counted[kind] = (counted[kind] ?? 0) + rows);
    const retention = retentionOf(90, undefined);
    expect(await pruneDelivered({ database: database(), retention, onPruned }, now)).toEqual({ deliveries: 618, attempts: 1_214 });
    expect(counted).toEqual({ deliveries: 618, attempts: 1_214 });
    expect(await left(database(), one.workspaceId)).toEqual({ deliveries: 15, attempts: 61, events: 622 });
    expect(await left(database(), two.workspaceId)).toEqual({ deliveries: 0, attempts: 0, events: 11 });
    expect(await pruneDelivered({ database: database(), retention }, now)).toEqual({ deliveries: 0, attempts: 0 });
  });

  test('deletes repairs that ended before the time of their deliveries; those that are open, or ended later, stay', async () => {
    const { workspaceId } = await place(database());
    const idAt = (time: Date): string =>
      createIdGenerator(
        () => time.getTime(),
        (bytes) => void bytes.fill(1),
      )();
    const add = (id: string, status: string, days: number | null): Promise<unknown> =>
      database().query(
        `insert into webhook_repairs (workspace_id, id, action, statuses, dry_run, status, through_seq, rest_until, created_at, completed_at)
         values ($1, $2, 'replay', '{failed}', false, $3, 0, $4, $4, $5)`,
        [workspaceId, id, status, daysAgo(120), days === null ? null : daysAgo(days)],
      );
    await add(idAt(daysAgo(120)), 'completed', 119);
    await add(idAt(daysAgo(119)), 'stopped', 118);
    await add(idAt(daysAgo(118)), 'running', null);
    await add(idAt(daysAgo(117)), 'completed', 10);
    await pruneDelivered({ database: database(), retention: retentionOf(90, undefined) }, now);
    const rows = await database().query('select status from webhook_repairs where workspace_id = $1 order by id', [workspaceId]);
    expect(rows).toEqual([{ status: 'running' }, { status: 'completed' }]);
  });

  test('attempts can go sooner than their deliveries, but those of pending ones stay (I-21)', async () => {
    const here = await place(database());
    await addDeliveries(database(), { ...here, count: 450, status: 'succeeded', createdAt: daysAgo(20), attempts: 2 });
    await addDeliveries(database(), { ...here, count: 3, status: 'pending', createdAt: daysAgo(20), at: daysAgo(-1), attempts: 2 });
    await addDeliveries(database(), { ...here, count: 2, status: 'failed', createdAt: daysAgo(13), attempts: 4 });
    const retention = retentionOf(90, 14);
    expect(await pruneDelivered({ database: database(), retention }, now)).toMatchObject({ deliveries: 0 });
    await pruneDelivered({ database: database(), retention }, now);
    expect(await left(database(), here.workspaceId)).toEqual({ deliveries: 455, attempts: 14, events: 455 });
  });

  test('finds what ended behind thousands that are still pending', async () => {
    const here = await place(database());
    await addDeliveries(database(), { ...here, count: 4_500, status: 'pending', createdAt: daysAgo(200), at: daysAgo(-1) });
    await addDeliveries(database(), { ...here, count: 30, status: 'failed', createdAt: daysAgo(199), attempts: 1 });
    const retention = retentionOf(90, undefined);
    expect(await pruneDelivered({ database: database(), retention }, now)).toEqual({ deliveries: 30, attempts: 30 });
    expect(await left(database(), here.workspaceId)).toEqual({ deliveries: 4_500, attempts: 0, events: 4_530 });
  });

  test('nothing is deleted when it is kept for ever', async () => {
    const here = await place(database());
    await addDeliveries(database(), { ...here, count: 3, status: 'succeeded', createdAt: daysAgo(4_000), attempts: 1 });
    expect(await pruneDelivered({ database: database(), retention: KEEP_FOR_EVER }, now)).toEqual({ deliveries: 0, attempts: 0 });
    expect(await left(database(), here.workspaceId)).toEqual({ deliveries: 3, attempts: 3, events: 3 });
  });

  test('a stop ends it between two bites, and the next start goes on where it was', async () => {
    const here = await place(database());
    await addDeliveries(database(), { ...here, count: 5 * DELIVERY_BITE, status: 'succeeded', createdAt: daysAgo(100), attempts: 1 });
    const retention = retentionOf(90, undefined);
    const options = { database: database(), clock: () => now, log: { warn: () => undefined }, retention };
    let bites = 0;
    const stop = startMaintenance({ ...options, onPruned: () => void (bites += 1) });
    await until(() => bites >= 2);
    await stop();
    const { deliveries = 0 } = await left(database(), here.workspaceId);
    expect(deliveries).toBeGreaterThan(0);
    expect(deliveries % DELIVERY_BITE).toBe(0);
    const stopAgain = startMaintenance(options);
    await until(async () => (await left(database(), here.workspaceId)).deliveries === 0);
    await stopAgain();
    expect(await left(database(), here.workspaceId)).toEqual({ deliveries: 0, attempts: 0, events: 1_000 });
  });

  // The embedded database has one connection, so there nobody can hold anything meanwhile.
  if (kind === 'PostgreSQL') {
    test('passes by what somebody holds instead of waiting for it', async () => {
      const here = await place(database());
      await addDeliveries(database(), { ...here, count: 10, status: 'failed', createdAt: daysAgo(100), attempts: 1 });
      const retention = retentionOf(90, undefined);
      await database().transaction(async (holder) => {
        await holder.query('select from deliveries where workspace_id = $1 order by id limit 1 for update', [here.workspaceId]);
        expect(await pruneDelivered({ database: database(), retention }, now)).toEqual({ deliveries: 9, attempts: 9 });
      });
      expect(await pruneDelivered({ database: database(), retention }, now)).toEqual({ deliveries: 1, attempts: 1 });
    });
  }
});
