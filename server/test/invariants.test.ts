// Rules of docs/invariants.md that no other test proves by itself: through the real lane, on a fresh database.
// Knows nothing of HTTP beyond what brings a record into being.

import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Command, Envelope, StoredAnswer } from '../src/commands/command.ts';
import { createMilestone } from '../src/commands/create-milestone.ts';
import { decodeId, type Uuid } from '../src/domain/ids.ts';
import type { Milestone, MilestoneDraft } from '../src/domain/milestone.ts';
import { bringMilestone, openTestApp, type TestApp } from './support/app.ts';
import { sqlstateOf } from './support/store-rows.ts';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.stop());

const draft = (title: string, amountMinor: bigint): MilestoneDraft => ({
  title,
  description: null,
  amountMinor,
  currency: null,
  payeeId: null,
  dueDate: null,
  metadata: {},
});

/** A new milestone, as a route would ask the lane for it. */
function adding(projectId: string, title: string, amountMinor: bigint, keyId: Uuid | null = null): Command<Milestone> {
  const render = (milestone: Milestone): StoredAnswer => ({ status: 201, headers: {}, body: milestone.id });
  const envelope: Envelope<Milestone> = {
    workspaceId: app.workspaceId,
    keyId,
    member: null,
    stamp: null,
    idempotency: null,
    bytes: 0,
    render,
  };
  return createMilestone(envelope, decodeId('project', projectId) as Uuid, draft(title, amountMinor));
}

const titlesOf = async (projectId: string): Promise<string[]> => {
  const list = await app.ok('GET', `/v1/projects/${projectId}/milestones?limit=100`);
  return list.data.map((milestone: { title: string }) => milestone.title).sort();
};

test('the database itself refuses a second payment of a milestone and a second invoice of a number (I-1, I-4)', async () => {
  await bringMilestone(app, 'approved');
  for (const table of ['payments', 'invoices']) {
    const columns = await app.database.query<{ name: string }>(
      `select column_name::text as name from information_schema.columns where table_schema = 'public' and table_name = $1`,
      [table],
    );
    const names = columns.map(({ name }) => name);
    const values = names.map((name) => (name === 'id' ? `'${randomUUID()}'` : name));
    const again = `insert into ${table} (${names.join(', ')}) select ${values.join(', ')} from ${table}`;
    expect(await sqlstateOf(app.database.query(again))).toBe('23505');
  }
});

test('once a key is revoked no write with it commits, even one that was let in before and waits in the lane (I-12)', async () => {
  const { project } = await bringMilestone(app, 'pending');
  const key = await app.ok('POST', '/v1/api_keys', { body: { name: 'soon gone', scopes: ['milestones:write', 'milestones:read'] } });
  const write = (title: string) =>
    app.call('POST', `/v1/projects/${project.id}/milestones`, { key: key.secret, body: { title, amount: 1 } });
  expect((await write('before')).status).toBe(201);

  const keyId = decodeId('api_key', key.id) as Uuid;
  const [early, revocation, ...late] = await Promise.all([
    app.store.lane.submit(adding(project.id, 'just before', 1n, keyId)),
    app.call('DELETE', `/v1/api_keys/${key.id}`),
    // Past every cache and check of the routes: what a slow request on another process would hand to the lane.
    ...Array.from({ length: 3 }, (_, i) => revokedThen(() => app.store.lane.submit(adding(project.id, `late ${i}`, 1n, keyId)))),
  ]);
  expect(early).toMatchObject({ status: 201 });
  expect(revocation.status).toBe(200);
  for (const outcome of late) expect(outcome).toMatchObject({ code: 'api_key_revoked' });
  expect((await write('after')).body.code).toBe('api_key_revoked');
  expect(await titlesOf(project.id)).toEqual(['Design', 'before', 'just before']);

  /** Submits once the database holds the revocation. */
  async function revokedThen<T>(submit: () => Promise<T>): Promise<T> {
    for (let looks = 0; looks < 10_000; looks++) {
      const rows = await app.database.query('select 1 from api_keys where id = $1 and revoked_at is not null', [keyId]);
      if (rows.length > 0) return submit();
      await setImmediate();
    }
    throw new Error('the key was not revoked');
  }
});

test('a command whose data the database refuses fails alone: those that shared its batch commit, and the numbers stay gapless (I-18)', async () => {
  const { project } = await bringMilestone(app, 'pending');
  const amounts = [5n, 6n, 0n, 7n, 8n, 9n, 0n, 10n];
  // Taken together by the lane: all are submitted in one turn. An amount of 0 passes no route, and the database's own check refuses it.
  const settled = await Promise.allSettled(amounts.map((amount, i) => app.store.lane.submit(adding(project.id, `m${i}`, amount))));
  expect(settled.map(({ status }) => status)).toEqual(amounts.map((amount) => (amount === 0n ? 'rejected' : 'fulfilled')));
  expect(await titlesOf(project.id)).toEqual(['Design', 'm0', 'm1', 'm3', 'm4', 'm5', 'm7']);
  expect(await app.faults()).toEqual([]);
});

test('a command that throws fails alone and writes nothing (I-18)', async () => {
  const { project } = await bringMilestone(app, 'pending');
  const good = adding(project.id, 'good', 1n);
  const broken: Command<Milestone> = {
    ...adding(project.id, 'broken', 1n),
    render: () => {
      throw new Error('a defect');
    },
  };
  const settled = await Promise.allSettled([app.store.lane.submit(broken), app.store.lane.submit(good)]);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(await titlesOf(project.id)).toEqual(['Design', 'good']);
  expect(await app.faults()).toEqual([]);
});
