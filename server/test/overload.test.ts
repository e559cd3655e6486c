// More writes than can be carried out: the surplus is refused at once and truly, what was accepted is done, and others are not held up.
// Another connection holds a workspace's lock, as a process that has stopped in the middle of a commit would.

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { laneLimits } from '../src/commands/lane.ts';
import type { Uuid } from '../src/domain/ids.ts';
import { type CallResult, openTestApp, type TestApp } from './support/app.ts';
import { testDatabases } from './support/databases.ts';
import { holdHead } from './support/hold-head.ts';
import { until } from './support/webhook-fixtures.ts';

const postgres = testDatabases.find(({ name }) => name === 'PostgreSQL');
const available = postgres?.available === true;

const project = (clientId: string, filler = ''): object => ({ name: 'p', client_id: clientId, metadata: filler === '' ? {} : { filler } });

/** Sends so many writes at once; `refused` fills up while the others wait. */
function send(app: TestApp, count: number, key: string, body: (i: number) => object) {
  const answers: CallResult[] = [];
  const all = Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const answer = await app.call('POST', '/v1/projects', { key, body: body(i) });
      answers.push(answer);
    }),
  );
  return { answers, all };
}

describe.skipIf(!available)(`a workspace whose lock another process holds${available ? '' : ` (skipped: ${postgres?.reason})`}`, () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp({ database: 'PostgreSQL' });
  });
  afterAll(() => app.stop());

  test('does not hold up another workspace, and its own writes are carried out once the lock is free', async () => {
    const [locked, other] = [await app.addWorkspace(), await app.addWorkspace()];
    const held = await holdHead(app, locked.id);
    const waiting = send(app, 20, locked.key, (i) => project(`c${i}`));
    // One after the other, so that several batches run while the lock is held and waited for.
    const begun = performance.now();
    for (let i = 0; i < 50; i++) await app.ok('POST', '/v1/projects', { key: other.key, body: project(`c${i}`) });
    expect(performance.now() - begun).toBeLessThan(4_000);
    expect(waiting.answers).toEqual([]);
    await held.release();
    await waiting.all;
    expect(new Set(waiting.answers.map((answer) => answer.status))).toEqual(new Set([201]));
    expect((await app.ok('GET', '/v1/projects?limit=100', { key: locked.key })).data).toHaveLength(20);
    expect(await app.faults()).toEqual([]);
  });

  test('several such workspaces hold up nobody either', async () => {
    const many = await Promise.all(Array.from({ length: 6 }, () => app.addWorkspace()));
    const [first, second, ...free] = many as [{ id: Uuid; key: string }, { id: Uuid; key: string }, ...{ id: Uuid; key: string }[]];
    const locks = [await holdHead(app, first.id), await holdHead(app, second.id)];
    const waiting = [first, second].map(({ key }) => send(app, 5, key, (i) => project(`c${i}`)));
    for (let i = 0; i < 10; i++) await Promise.all(free.map(({ key }) => app.ok('POST', '/v1/projects', { key, body: project(`c${i}`) })));
    expect(waiting.flatMap(({ answers }) => answers)).toEqual([]);
    for (const lock of locks) await lock.release();
    await Promise.all(waiting.map(({ all }) => all));
    expect(new Set(waiting.flatMap(({ answers }) => answers).map((answer) => answer.status))).toEqual(new Set([201]));
  });

  test('queues so many writes and refuses the surplus at once; a full workspace leaves room for the others', async () => {
    const [locked, other] = [await app.addWorkspace(), await app.addWorkspace()];
    const surplus = 300;
    const held = await holdHead(app, locked.id);
    const room = laneLimits.queuedOfWorkspace + laneLimits.batchCommands;
    const { answers, all } = send(app, room + surplus, locked.key, (i) => project(`c${i}`));
    await until(() => answers.length >= surplus);
    await app.ok('POST', '/v1/projects', { key: other.key, body: project('meanwhile') });
    for (const answer of answers) {
      expect([answer.status, answer.body.code]).toEqual([503, 'overloaded']);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    }
    const refused = answers.length;
    await held.release();
    await all;
    const accepted = answers.slice(refused);
    expect(new Set(accepted.map((answer) => answer.status))).toEqual(new Set([201]));
    // The batch that is waiting for the lock has left the queue, so it comes on top, if it had been taken by then.
    expect(accepted.length).toBeGreaterThanOrEqual(laneLimits.queuedOfWorkspace);
    expect(accepted.length).toBeLessThanOrEqual(room);
    const rows = await app.database.query<{ n: bigint }>('select count(*) as n from projects where workspace_id = $1', [locked.id]);
    expect(rows).toEqual([{ n: BigInt(accepted.length) }]);
    expect(await app.faults()).toEqual([]);
  });

  test('queues a bounded number of bytes, however large the bodies, and leaves room for the others', async () => {
    const [locked, other] = [await app.addWorkspace(), await app.addWorkspace()];
    const held = await holdHead(app, locked.id);
    const large = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`key${i}`, 'x'.repeat(500)]));
    const milestones = Array.from({ length: 40 }, (_, i) => ({ title: `m${i}`, amount: 1, metadata: large }));
    const bytes = JSON.stringify(milestones).length;
    const count = Math.ceil((1.5 * laneLimits.queuedBytesOfWorkspace) / bytes);
    expect(bytes).toBeGreaterThan(500_000);
    const body = (i: number) => ({ name: 'p', client_id: `c${i}`, milestones });
    const { answers, all } = send(app, count, locked.key, body);
    await until(() => answers.length >= count / 4);
    // The first batch has left the queue and waits for the lock; the room that it left is filled up again.
    const waiters = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await until(async () => (await app.database.query(waiters)).length > 0);
    const more = send(app, 10, locked.key, body);
    await until(() => more.answers.length >= 3);
    await app.ok('POST', '/v1/projects', { key: other.key, body: project('meanwhile') });
    expect(new Set([...answers, ...more.answers].map((answer) => answer.status))).toEqual(new Set([503]));
    const refused = answers.length;
    await held.release();
    await Promise.all([all, more.all]);
    expect(new Set(answers.slice(refused).map((answer) => answer.status))).toEqual(new Set([201]));
    expect((count - refused) * bytes).toBeLessThan(laneLimits.queuedBytesOfWorkspace + laneLimits.batchBytes + 2 * bytes);
  });

  test('that stays locked: its writes are refused as 503 with nothing changed, and the next ones work', async () => {
    const locked = await app.addWorkspace();
    const held = await holdHead(app, locked.id);
    const headers = { 'idempotency-key': 'locked-out' };
    const answer = await app.call('POST', '/v1/projects', { key: locked.key, body: project('c'), headers });
    expect([answer.status, answer.body.code]).toEqual([503, 'overloaded']);
    await held.release();
    expect((await app.ok('GET', '/v1/projects', { key: locked.key })).data).toEqual([]);
    const again = await app.call('POST', '/v1/projects', { key: locked.key, body: project('c'), headers });
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([201, undefined]);
  });
});

describe.skipIf(!available)(`a lane that commits slowly${available ? '' : ` (skipped: ${postgres?.reason})`}`, () => {
  test('refuses the workspace that asks too much, and not the one that asks now and then', async () => {
    const app = await openTestApp({ database: 'PostgreSQL', environment: { OVERLOAD_WAIT_MS: '50' } });
    onTestFinished(() => app.stop());
    const [noisy, quiet] = [await app.addWorkspace(), await app.addWorkspace()];
    // Each batch that makes projects takes a quarter of a second, on any machine.
    await app.database.query(
      `create function be_slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.25); return null; end $$`,
    );
    await app.database.query('create trigger slow after insert on projects for each statement execute function be_slow()');
    const sent: { key: string; answer: Promise<CallResult> }[] = [];
    const create = (key: string): void => void sent.push({ key, answer: app.call('POST', '/v1/projects', { key, body: project('c') }) });
    for (let round = 0; round < 60; round++) {
      // A batch takes 256 in a quarter of a second; this is twice as much.
      for (let i = 0; i < 40; i++) create(noisy.key);
      if (round % 4 === 0) create(quiet.key);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const statuses = async (key: string): Promise<number[]> =>
      Promise.all(sent.filter((one) => one.key === key).map(async ({ answer }) => (await answer).status));
    expect(new Set(await statuses(quiet.key))).toEqual(new Set([201]));
    const ofNoisy = await statuses(noisy.key);
    expect(ofNoisy.filter((status) => status === 503).length).toBeGreaterThan(100);
    expect(ofNoisy.filter((status) => status === 201).length).toBeGreaterThan(256);
    expect(new Set(ofNoisy)).toEqual(new Set([201, 503]));
    expect(await app.faults()).toEqual([]);
  });
});
