// What an operator sees of the queue: how much waits, for how long and where; that it is said when webhooks are late, and costs little.
// On both databases, with rows made by hand.

import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createBacklogWatch } from '../src/operations/backlog-watch.ts';
import type { Database } from '../src/store/database.ts';
import { MAX_COUNTED, readBacklog } from '../src/store/delivery-backlog.ts';
import { addDeliveries } from './support/delivery-rows.ts';
import { addEndpoint, addEvents, addWorkspace, newId, onEachDatabase } from './support/webhook-fixtures.ts';

const now = new Date('2026-11-20T12:00:00.000Z');
const secondsAgo = (seconds: number): Date => new Date(now.getTime() - seconds * 1000);

async function place(database: Database, fields: object = {}): Promise<{ workspaceId: string; endpointId: string }> {
  const workspaceId = await addWorkspace(database);
  return { workspaceId, endpointId: (await addEndpoint(database, workspaceId, fields)).id };
}

const clear = (database: Database): Promise<unknown> =>
  database.query(`update deliveries set status = 'cancelled', next_attempt_at = null, lease_token = null where status = 'pending'`);

onEachDatabase('the backlog', (database, kind) => {
  const read = () => readBacklog(database(), now, secondsAgo(300));

  test('is empty at first', async () => {
    expect(await read()).toMatchObject({ pending: 0, isEstimate: false, oldestDueAt: null, dueEndpoints: 0, lateEndpoints: 0 });
  });

  test('counts what is pending, and finds the oldest that is due among first attempts, retries, ended leases and heads of an order', async () => {
    const here = { ...(await place(database())), status: 'pending', createdAt: secondsAgo(9_000) } as const;
    const other = { ...(await place(database())), status: 'pending', createdAt: secondsAgo(9_000) } as const;
    await addDeliveries(database(), { ...here, count: 3, at: secondsAgo(20) });
    await addDeliveries(database(), { ...here, count: 2, at: secondsAgo(-60) });
    await addDeliveries(database(), { ...here, count: 1, at: secondsAgo(-30), leased: true });
    expect(await read()).toMatchObject({ pending: 6, dueEndpoints: 1, lateEndpoints: 0, oldestDueAt: secondsAgo(20) });
    await addDeliveries(database(), { ...other, count: 1, at: secondsAgo(301) });
    expect(await read()).toMatchObject({
      pending: 7,
      dueEndpoints: 2,
      lateEndpoints: 1,
      oldestDueAt: secondsAgo(301),
      oldestEndpointId: other.endpointId,
    });
    await addDeliveries(database(), { ...here, count: 1, at: secondsAgo(400), leased: true });
    expect(await read()).toMatchObject({ oldestDueAt: secondsAgo(400), oldestEndpointId: here.endpointId });
    // Of an order only the first counts: here one that is due, and one that waits for its retry with another behind it.
    await addDeliveries(database(), { ...other, count: 1, at: secondsAgo(500), orderKey: newId() });
    const held = newId();
    await addDeliveries(database(), { ...other, count: 1, at: secondsAgo(-5), orderKey: held });
    await addDeliveries(database(), { ...other, count: 1, at: secondsAgo(800), orderKey: held });
    expect(await read()).toMatchObject({ pending: 11, lateEndpoints: 2, oldestDueAt: secondsAgo(500) });
    await clear(database());
  });

  test('endpoints that are disabled, deleted or held back by their breaker are not late; breakers are counted by state', async () => {
    const before = await read();
    const rows = { status: 'pending', createdAt: secondsAgo(9_000), at: secondsAgo(1_000), count: 1 } as const;
    const disabled = await place(database(), { status: 'disabled' });
    const deleted = await place(database(), { deletedAt: now });
    const open = await place(database());
    const paused = await place(database());
    for (const each of [disabled, deleted, open, paused]) await addDeliveries(database(), { ...rows, ...each });
    await database().query(`update webhook_flows set breaker = 'open', probe_at = $2 where endpoint_id = $1`, [
      open.endpointId,
      secondsAgo(-9),
    ]);
    await database().query('update webhook_flows set resume_at = $2 where endpoint_id = $1', [paused.endpointId, secondsAgo(-9)]);
    const after = await read();
    expect(after).toMatchObject({ pending: 4, dueEndpoints: 0, oldestDueAt: null });
    expect(after.breakers).toEqual({ closed: before.breakers.closed + 1, open: 1, half_open: 0 });
    // Its probe is due: somebody has to send it.
    await database().query('update webhook_flows set probe_at = $2 where endpoint_id = $1', [open.endpointId, secondsAgo(1)]);
    expect(await read()).toMatchObject({ dueEndpoints: 1, oldestEndpointId: open.endpointId });
    await clear(database());
  });

  test('counts the events that nobody has fanned out, which are late as well, but not those of workspaces without endpoints', async () => {
    const lonely = await addWorkspace(database());
    await addEvents(database(), lonely, ['project.created']);
    expect(await read()).toMatchObject({ unspread: 0, oldestUnspreadAt: null });
    const here = await place(database());
    await addEvents(database(), here.workspaceId, ['project.created', 'project.created', 'project.created']);
    await database().query('insert into webhook_cursors (workspace_id, seq) values ($1, 1)', [here.workspaceId]);
    const { unspread, oldestUnspreadAt } = await read();
    expect(unspread).toBe(2);
    expect(oldestUnspreadAt?.getTime()).toBeGreaterThan(Date.now() - 60_000);
    await database().query('update webhook_cursors set seq = 3 where workspace_id = $1', [here.workspaceId]);
    expect(await read()).toMatchObject({ unspread: 0, oldestUnspreadAt: null });
  });

  test('is an estimate past its bound, and reading it stays cheap', async () => {
    const here = await place(database());
    await addDeliveries(database(), { ...here, count: 3 * MAX_COUNTED, status: 'pending', createdAt: secondsAgo(60) });
    expect((await read()).pending).toBe(MAX_COUNTED + 1);
    await database().query('analyze deliveries');
    const { pending, isEstimate } = await read();
    expect(isEstimate).toBe(true);
    expect(pending / (3 * MAX_COUNTED)).toBeGreaterThan(0.8);
    expect(pending / (3 * MAX_COUNTED)).toBeLessThan(1.2);
    await clear(database());
  });

  test('the watch warns when webhooks are late, not more than once a minute, and takes it back when they are not', async () => {
    const here = await place(database());
    await addDeliveries(database(), { ...here, count: 2, status: 'pending', createdAt: secondsAgo(500) });
    let time = now.getTime();
    const said: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void said.push((JSON.parse(line) as { msg: string }).msg) });
    const watch = createBacklogWatch({
      database: database(),
      now: async () => new Date(time),
      uptimeMs: () => time,
      log,
      lateAfterMs: 300_000,
      lookEveryMs: 3_600_000,
    });
    expect(watch.trouble()).toBeNull();
    for (let round = 0; round < 13; round += 1) {
      await watch.round();
      time += 10_000;
    }
    const words =
      'the webhook that has been due for longest has waited 500 s; 1 of 1 endpoints with some due are late, 0 events wait for fan-out';
    // The embedded database has one process, which knows of itself.
    const cause = kind === 'embedded' ? '' : '; no worker is running';
    expect(said).toHaveLength(3);
    expect(said[0]).toBe(`webhooks are late: ${words}${cause}`);
    expect(watch.trouble()).toContain('has waited 620 s');
    await clear(database());
    await watch.round();
    expect(watch.trouble()).toBeNull();
    expect(said).toHaveLength(3);
  });
});
