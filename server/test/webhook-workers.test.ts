// Workers beside each other and in trouble: crashes, late results, hanging receivers, errors of the database, stopping.
// Waits for conditions, never for the clock; where time must pass, the worker's clock is moved.

import { describe, expect, test } from 'vitest';
import type { Uuid } from '../src/domain/ids.ts';
import { fanOut } from '../src/store/fan-out.ts';
import type { Send } from '../src/webhooks/safe-fetch.ts';
import { EVENTS_CHANNEL } from '../src/webhooks/spread.ts';
import {
  addEndpoint,
  addEvents,
  addWorkspace,
  deliveriesOf,
  inFlightOf,
  intercepted,
  newId,
  onEachDatabase,
  openReceiver,
  startWorker,
  until,
} from './support/webhook-fixtures.ts';

onEachDatabase('webhook workers', (database) => {
  describe('several receivers and several workers', () => {
    test('a receiver that hangs does not hold up the deliveries of another', async () => {
      const workspace = await addWorkspace(database());
      const [hanging, healthy] = [await openReceiver(() => {}), await openReceiver()];
      await addEndpoint(database(), workspace, { url: hanging.url, maxConcurrency: 2 });
      await addEndpoint(database(), workspace, { url: healthy.url });
      await addEvents(database(), workspace, Array(30).fill('project.created'));
      const worker = await startWorker(database(), { concurrency: 4, drainMs: 1 });
      await until(() => healthy.received.length === 30);
      expect(hanging.received.length).toBeLessThanOrEqual(2);
      expect(worker.status().inFlight).toBeGreaterThanOrEqual(1);
    });

    test('an endpoint with a rate cap is sent as much as the cap allows, without anybody ringing', async () => {
      const workspace = await addWorkspace(database());
      const receiver = await openReceiver();
      await addEndpoint(database(), workspace, { url: receiver.url, rateLimitPerSecond: 20 });
      await addEvents(database(), workspace, Array(40).fill('project.created'));
      const worker = await startWorker(database());
      const startedAt = performance.now();
      // At one look a second it would take forty.
      await until(() => receiver.received.length === 40);
      expect(performance.now() - startedAt).toBeGreaterThan(1_500);
      await worker.idle();
    });

    test('of many endpoints in order, and many projects of one that wait, none is overlooked (I-16)', async () => {
      const [workspace, others] = [await addWorkspace(database()), await addWorkspace(database())];
      const receiver = await openReceiver();
      const endpoint = await addEndpoint(database(), workspace, { url: receiver.url, ordering: 'project' });
      await addEvents(database(), workspace, Array(501).fill('project.created'));
      for (let i = 0; i < 60; i++) await addEndpoint(database(), others, { ordering: 'project' });
      await addEvents(database(), others, ['project.created']);
      for (const workspaceId of [workspace, others]) {
        await fanOut(database(), { workspaceIds: [workspaceId], limit: 501, newId, now: new Date() });
      }
      await database().query(
        `update deliveries set is_repeat = true, tries = 1, attempts = 1, next_attempt_at = now() + interval '1 hour' where workspace_id = any($1)`,
        [[workspace, others]],
      );
      // It is the last in the order of projects.
      await addEvents(database(), workspace, ['project.created'], () => 'ffffffff-ffff-7fff-bfff-ffffffffffff');
      const worker = await startWorker(database(), { pollMs: 20 });
      await until(() => receiver.received.length === 1);
      await worker.idle();
      expect(await deliveriesOf(database(), endpoint.id)).toHaveLength(502);
    });

    test.each(['none', 'project'] as const)('a rate cap is used without anybody ringing (ordering: %s)', async (ordering) => {
      const workspace = await addWorkspace(database());
      const receiver = await openReceiver();
      await addEndpoint(database(), workspace, { url: receiver.url, rateLimitPerSecond: 20, ordering });
      await addEvents(database(), workspace, Array(15).fill('project.created'));
      const worker = await startWorker(database(), { pollMs: 3_600_000 });
      await until(() => receiver.received.length === 15);
      await worker.idle();
    });

    test.each([
      'none',
      'project',
    ] as const)('what waits for a moment is sent at that moment, without anybody ringing (ordering: %s)', async (ordering) => {
      const workspace = await addWorkspace(database());
      const waiting = ['paused', 'open', 'retried'] as const;
      const receivers = await Promise.all(waiting.map(() => openReceiver()));
      const endpoints: Uuid[] = [];
      for (const { url } of receivers) endpoints.push((await addEndpoint(database(), workspace, { url, ordering })).id);
      await addEvents(database(), workspace, ['project.created']);
      await fanOut(database(), { workspaceIds: [workspace], limit: 1, newId, now: new Date() });
      const [paused, open, retried] = endpoints;
      const soon = new Date(Date.now() + 500);
      await database().query('update webhook_flows set resume_at = $2 where endpoint_id = $1', [paused, soon]);
      await database().query(`update webhook_flows set breaker = 'open', probe_at = $2 where endpoint_id = $1`, [open, soon]);
      await database().query('update deliveries set is_repeat = true, next_attempt_at = $2 where endpoint_id = $1', [retried, soon]);
      const worker = await startWorker(database(), { pollMs: 3_600_000 });
      await worker.idle();
      await until(() => receivers.every(({ received }) => received.length === 1));
      expect(worker.now().getTime()).toBeGreaterThanOrEqual(soon.getTime());
      await worker.idle();
    });

    test('two workers on one database deliver each event once', async () => {
      const workspace = await addWorkspace(database());
      const receivers = [await openReceiver(), await openReceiver()];
      for (const receiver of receivers) await addEndpoint(database(), workspace, { url: receiver.url });
      const workers = [await startWorker(database()), await startWorker(database())];
      for (let i = 0; i < 10; i++) {
        await addEvents(database(), workspace, Array(10).fill('project.created'));
        await database().notify(EVENTS_CHANNEL, workspace);
      }
      await until(() => receivers.every((receiver) => receiver.received.length >= 100));
      await Promise.all(workers.map((worker) => worker.idle()));
      for (const receiver of receivers) {
        const sequences = receiver.received.map(({ headers }) => Number(headers['tranche-seq'])).sort((a, b) => a - b);
        expect(sequences).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
      }
    });

    test('what a worker had in hand when it was stopped is sent by another at once, with the same id (I-16)', async () => {
      const workspace = await addWorkspace(database());
      const receiver = await openReceiver();
      const { id } = await addEndpoint(database(), workspace, { url: receiver.url });
      await addEvents(database(), workspace, ['project.created']);
      const leaving = await startWorker(database(), { send: () => new Promise<never>(() => {}), drainMs: 1 });
      await until(() => leaving.status().inFlight === 1);
      await leaving.stop();
      const worker = await startWorker(database());
      await worker.idle();
      expect(receiver.received.map(({ headers }) => headers['tranche-attempt'])).toEqual(['1']);
      expect(await deliveriesOf(database(), id)).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
      expect(await inFlightOf(database(), id)).toBe(0);
    });

    test('a lease that ended without a result is taken over, and a result that comes after that is dropped', async () => {
      const workspace = await addWorkspace(database());
      const { id } = await addEndpoint(database(), workspace);
      await addEvents(database(), workspace, ['project.created']);
      const answers: (() => void)[] = [];
      const send: Send = () =>
        new Promise((resolve) => {
          answers.push(() =>
            resolve({ kind: 'answered', statusCode: 500, retryAfter: null, headers: {}, body: '', truncated: false, remoteAddress: null }),
          );
        });
      const late = await startWorker(database(), { send, drainMs: 1, careMs: 3_600_000 });
      await until(() => answers.length === 1);
      const taking = await startWorker(database(), { send, drainMs: 1, careMs: 10, deadAfterMs: 20 });
      taking.advance(21_000);
      await until(() => answers.length === 2);
      answers[0]?.();
      await late.idle();
      expect(late.errors).toEqual(['webhook results came after their lease was lost']);
      expect(await deliveriesOf(database(), id)).toEqual([{ status: 'pending', attempts: 0, log: null }]);
      answers[1]?.();
      await until(async () => (await deliveriesOf(database(), id))[0]?.attempts === 1);
      expect(await inFlightOf(database(), id)).toBe(0);
    });

    test('a delivery whose process ends each time is not sent for ever: after three leases it counts as a failed attempt', async () => {
      const workspace = await addWorkspace(database());
      const { id } = await addEndpoint(database(), workspace);
      await addEvents(database(), workspace, ['project.created']);
      for (let lease = 1; lease <= 3; lease++) {
        let sent = 0;
        const killed = await startWorker(database(), {
          send: () => new Promise<never>(() => void (sent += 1)),
          drainMs: 1,
          careMs: 3_600_000,
          // It leaves its leases behind, as a killed one does.
          database: intercepted(database(), (text) => (text.includes('lease_owner = $1') ? new Error('killed') : null)),
        });
        await until(() => sent === 1);
        await killed.stop();
        const taking = await startWorker(database(), {
          send: () => new Promise<never>(() => {}),
          drainMs: 1,
          careMs: 10,
          deadAfterMs: 20,
          concurrency: 0,
        });
        taking.advance(21_000);
        await until(() => taking.errors.includes('webhooks of a worker that is gone are taken over'));
        await taking.stop();
      }
      expect(await deliveriesOf(database(), id)).toMatchObject([
        { status: 'pending', attempts: 1, log: [{ status_code: null, error: expect.stringMatching(/^nothing came of 3 tries/) }] },
      ]);
      expect(await inFlightOf(database(), id)).toBe(0);
    });
  });

  describe('the worker itself', () => {
    test('stop lets the attempts under way finish, records them, and claims no more', async () => {
      const workspace = await addWorkspace(database());
      const answers: (() => void)[] = [];
      const receiver = await openReceiver((response) => void answers.push(() => response.end()));
      const { id } = await addEndpoint(database(), workspace, { url: receiver.url, maxConcurrency: 2 });
      await addEvents(database(), workspace, ['project.created', 'project.created', 'project.created']);
      const worker = await startWorker(database());
      await until(() => answers.length === 2);
      const waiting = worker.idle();
      const stopped = worker.stop();
      await expect(waiting).rejects.toThrow(/stopped/);
      for (const answer of answers) answer();
      await stopped;
      expect((await deliveriesOf(database(), id)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'pending']);
      expect(receiver.received).toHaveLength(2);
      await expect(worker.idle()).rejects.toThrow(/stopped/);
    });

    test('an error of the database is logged and shown, and the work goes on after a pause', async () => {
      const workspace = await addWorkspace(database());
      const receiver = await openReceiver();
      const { id } = await addEndpoint(database(), workspace, { url: receiver.url });
      const failing = new Set(['free as (', 'insert into delivery_attempts']);
      const shaky = intercepted(database(), (text) => {
        const found = [...failing].find((part) => text.includes(part));
        return found !== undefined && failing.delete(found) ? new Error('gone away') : null;
      });
      await addEvents(database(), workspace, ['project.created']);
      const worker = await startWorker(database(), { database: shaky, errorPauseMs: 50 });
      await until(() => worker.status().lastError === 'gone away');
      await worker.idle();
      expect(receiver.received).toHaveLength(1);
      expect(await deliveriesOf(database(), id)).toMatchObject([{ status: 'succeeded' }]);
      expect(worker.errors).toEqual(['webhook worker failed and goes on after a pause', 'webhook results could not be written']);
      expect(worker.status().lastError).toBeNull();
    });

    test('an attempt whose code throws is recorded as a failed one, and a result the database refuses is recorded without its details', async () => {
      const workspace = await addWorkspace(database());
      const throwing = await addEndpoint(database(), workspace, { url: 'http://throwing.example/' });
      const unwritable = await addEndpoint(database(), workspace, { url: 'http://unwritable.example/' });
      const fine = await addEndpoint(database(), workspace, { url: 'http://fine.example/' });
      const send: Send = async ({ url }) => {
        const body = url.includes('unwritable') ? 'a\u0000b' : 'ok';
        const answered = {
          kind: 'answered',
          statusCode: 200,
          retryAfter: null,
          headers: {},
          body,
          truncated: false,
          remoteAddress: null,
        } as const;
        // Read after the sender has returned, where nobody expects an error.
        return url.includes('throwing')
          ? new Proxy(answered, { get: (target, name) => (name === 'kind' ? fail() : Reflect.get(target, name)) })
          : answered;
      };
      await addEvents(database(), workspace, Array(4).fill('project.created'));
      const worker = await startWorker(database(), { send });
      await worker.idle();
      expect(await deliveriesOf(database(), fine.id)).toMatchObject(Array(4).fill({ status: 'succeeded', log: [{ response_body: 'ok' }] }));
      expect(await deliveriesOf(database(), unwritable.id)).toMatchObject(
        Array(4).fill({ status: 'succeeded', attempts: 1, log: [{ status_code: 200, response_body: null }] }),
      );
      expect(await deliveriesOf(database(), throwing.id)).toMatchObject(
        Array(4).fill({
          status: 'pending',
          attempts: 1,
          log: [{ status_code: null, error: expect.stringMatching(/^the attempt broke by a defect/) }],
        }),
      );
      expect(await inFlightOf(database(), throwing.id)).toBe(0);
    });

    test('an endpoint in order gets the events of a project one after the other; what fails holds only its own project, until it has failed for good (I-23)', async () => {
      const workspace = await addWorkspace(database());
      const [stuck, moving] = [newId(), newId()];
      const { id } = await addEndpoint(database(), workspace, { ordering: 'project' });
      await addEvents(database(), workspace, Array(11).fill('project.created'), (i) => (i % 2 === 0 ? stuck : moving));
      const sent: number[] = [];
      const under = new Set<number>();
      let overlaps = 0;
      const send: Send = async ({ headers }) => {
        const seq = Number(headers['Tranche-Seq']);
        overlaps += [...under].filter((other) => other % 2 === seq % 2).length;
        under.add(seq);
        await new Promise(setImmediate);
        under.delete(seq);
        sent.push(seq);
        return {
          kind: 'answered',
          statusCode: seq === 1 ? 500 : 200,
          retryAfter: null,
          headers: {},
          body: '',
          truncated: false,
          remoteAddress: null,
        };
      };
      const workers = [await startWorker(database(), { send }), await startWorker(database(), { send })];
      // A worker is idle while the other has the only delivery that may be sent, so the deliveries are waited for.
      const attemptsAtStuck = async (): Promise<number> => (await deliveriesOf(database(), id))[0]?.attempts ?? 0;
      const areThrough = (count: number) => async (): Promise<boolean> =>
        (await deliveriesOf(database(), id)).filter(({ status }) => status === 'succeeded').length === count;
      await until(areThrough(5));
      await until(async () => (await attemptsAtStuck()) === 1);
      // Acknowledged after the first failure, so that the nine others do not make ten in a row, which would disable the endpoint.
      await addEvents(database(), workspace, ['project.created'], () => moving);
      await until(areThrough(6));
      expect(sent.filter((seq) => seq % 2 === 0)).toEqual([2, 4, 6, 8, 10, 12]);
      expect(sent.filter((seq) => seq % 2 === 1)).toEqual([1]);
      for (let attempts = 1; attempts < 10; attempts++) {
        // A look that found the delivery due before the other worker had it is over then. The clocks would move under its claim, which is not
        // sent if it is answered too late.
        await Promise.all(workers.map((worker) => worker.idle()));
        for (const worker of workers) worker.advance(29 * 3_600_000);
        await until(async () => (await attemptsAtStuck()) === attempts + 1);
      }
      await until(async () => (await deliveriesOf(database(), id)).every(({ status }) => status !== 'pending'));
      expect(sent.filter((seq) => seq % 2 === 1)).toEqual([...Array(10).fill(1), 3, 5, 7, 9, 11]);
      expect(overlaps).toBe(0);
      expect((await deliveriesOf(database(), id)).map(({ status }) => status)).toEqual(['failed', ...Array(11).fill('succeeded')]);
    });

    test('an idle worker asks the database twice a poll and writes nothing', async () => {
      const statements: string[] = [];
      const counted = intercepted(database(), (text) => {
        statements.push(text);
        return null;
      });
      const before = await startWorker(database());
      await before.idle();
      await before.stop();
      const worker = await startWorker(database(), { database: counted, pollMs: 3_600_000, careMs: 3_600_000 });
      await worker.idle();
      statements.length = 0;
      await worker.idle();
      expect(statements).toHaveLength(2);
      expect(worker.errors).toEqual([]);
    });
  });
});

function fail(): never {
  throw new Error('a defect');
}
