// Workers beside each other and in trouble: crashes, late results, hanging receivers, errors of the database, stopping.
// Waits for conditions, never for the clock; where time must pass, the worker's clock is moved.

import { describe, expect, test } from 'vitest';
import type { Database } from '../src/store/database.ts';
import { claimDue } from '../src/store/deliveries-queue.ts';
import type { Send } from '../src/webhooks/safe-fetch.ts';
import { EVENTS_CHANNEL } from '../src/webhooks/spread.ts';
import {
  addEndpoint,
  addEvents,
  addWorkspace,
  deliveriesOf,
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
      await addEndpoint(database(), workspace, { url: hanging.url });
      await addEndpoint(database(), workspace, { url: healthy.url });
      await addEvents(database(), workspace, Array(30).fill('project.created'));
      const worker = await startWorker(database(), { concurrency: 4, perEndpoint: 2, drainMs: 1 });
      await until(() => healthy.received.length === 30);
      expect(hanging.received.length).toBe(2);
      expect(worker.status().inFlight).toBeGreaterThanOrEqual(2);
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

    test('a worker that died between claiming and recording loses nothing: after the lease another delivers, with the same id (I-16)', async () => {
      const workspace = await addWorkspace(database());
      const receiver = await openReceiver();
      const { id } = await addEndpoint(database(), workspace, { url: receiver.url });
      await addEvents(database(), workspace, ['project.created']);
      const dying = await startWorker(database(), { send: () => new Promise<never>(() => {}), drainMs: 1 });
      await until(() => dying.status().inFlight === 1);
      await dying.stop();
      const worker = await startWorker(database());
      await worker.idle();
      expect(receiver.received).toHaveLength(0);
      worker.advance(60_000);
      await worker.idle();
      expect(receiver.received.map(({ headers }) => headers['tranche-attempt'])).toEqual(['1']);
      expect(await deliveriesOf(database(), id)).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
    });

    test('a result that comes after another worker took over is dropped', async () => {
      const workspace = await addWorkspace(database());
      const { id } = await addEndpoint(database(), workspace);
      await addEvents(database(), workspace, ['project.created']);
      let answer: (() => void) | undefined;
      const send: Send = () =>
        new Promise((resolve) => {
          answer = () => resolve({ kind: 'answered', statusCode: 500, retryAfter: null, body: '' });
        });
      const late = await startWorker(database(), { send });
      await until(() => answer !== undefined);
      const later = new Date(Date.now() + 61_000);
      expect(
        await claimDue(database(), { limit: 1, perEndpoint: 1, inFlight: new Map(), leaseMs: 60_000, now: later, newToken: newId }),
      ).toHaveLength(1);
      answer?.();
      await late.idle();
      expect(late.errors).toEqual(['webhook results came after their lease was lost']);
      expect(await deliveriesOf(database(), id)).toEqual([{ status: 'pending', attempts: 0, log: null }]);
    });
  });

  describe('the worker itself', () => {
    test('stop lets the attempts under way finish, records them, and claims no more', async () => {
      const workspace = await addWorkspace(database());
      const answers: (() => void)[] = [];
      const receiver = await openReceiver((response) => void answers.push(() => response.end()));
      const { id } = await addEndpoint(database(), workspace, { url: receiver.url });
      await addEvents(database(), workspace, ['project.created', 'project.created', 'project.created']);
      const worker = await startWorker(database(), { perEndpoint: 2 });
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
      const failing = new Set(['recursive waiting', 'insert into delivery_attempts']);
      const shaky: Database = {
        ...database(),
        listen: (channel, onNotify) => database().listen(channel, onNotify),
        transaction: (work) => database().transaction(work),
        query(text, parameters) {
          const found = [...failing].find((part) => text.includes(part));
          if (found === undefined) return database().query(text, parameters);
          failing.delete(found);
          return Promise.reject(new Error('gone away'));
        },
      };
      await addEvents(database(), workspace, ['project.created']);
      const worker = await startWorker(database(), { database: shaky, errorPauseMs: 50 });
      await until(() => worker.status().lastError === 'gone away');
      await worker.idle();
      expect(receiver.received).toHaveLength(1);
      expect(await deliveriesOf(database(), id)).toMatchObject([{ status: 'succeeded' }]);
      expect(worker.errors).toEqual(['webhook worker failed and goes on after a pause', 'webhook results could not be written']);
      expect(worker.status().lastError).toBeNull();
    });

    test('an idle worker asks the database twice a poll and writes nothing', async () => {
      const statements: string[] = [];
      const counted: Database = {
        ...database(),
        listen: (channel, onNotify) => database().listen(channel, onNotify),
        transaction: () => Promise.reject(new Error('no transaction')),
        query: (text, parameters) => {
          statements.push(text);
          return database().query(text, parameters);
        },
      };
      const before = await startWorker(database());
      await before.idle();
      await before.stop();
      const worker = await startWorker(database(), { database: counted, pollMs: 3_600_000 });
      await worker.idle();
      statements.length = 0;
      await worker.idle();
      expect(statements).toHaveLength(2);
      expect(worker.errors).toEqual([]);
    });
  });
});
