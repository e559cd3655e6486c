// What must not happen to webhooks, after it did once: receivers that hang hold every place, or a lost notification is never made up for.

import { expect, test } from 'vitest';
import type { Database } from '../src/store/database.ts';
import { EVENTS_CHANNEL } from '../src/webhooks/spread.ts';
import {
  addEndpoint,
  addEvents,
  addWorkspace,
  deliveriesOf,
  inFlightOf,
  intercepted,
  onEachDatabase,
  openReceiver,
  startWorker,
  until,
} from './support/webhook-fixtures.ts';

onEachDatabase('webhook fairness', (database, kind) => {
  test('receivers that hang and have a long backlog do not keep another workspace from being told', async () => {
    const [busy, quiet] = [await addWorkspace(database()), await addWorkspace(database())];
    for (let i = 0; i < 30; i++) await addEndpoint(database(), busy, { url: (await openReceiver(() => {})).url });
    const healthy = await openReceiver();
    await addEvents(database(), busy, Array(40).fill('project.created'));
    const worker = await startWorker(database(), { concurrency: 20, drainMs: 1 });
    await until(() => worker.status().inFlight >= 20);
    await addEndpoint(database(), quiet, { url: healthy.url });
    await addEvents(database(), quiet, Array(25).fill('project.created'));
    await database().notify(EVENTS_CHANNEL, quiet);
    await until(() => healthy.received.length === 25);
  });

  test('disabling an endpoint that says it is gone keeps nobody waiting, is asked for once, and nothing more is sent there meanwhile', async () => {
    const [leaving, staying] = [await addWorkspace(database()), await addWorkspace(database())];
    const [gone, healthy] = [await openReceiver((response) => void response.writeHead(410).end()), await openReceiver()];
    await addEndpoint(database(), leaving, { url: gone.url, maxConcurrency: 1 });
    const { id } = await addEndpoint(database(), staying, { url: healthy.url });
    const asked: (() => void)[] = [];
    const disableEndpoint = () => new Promise<void>((resolve) => void asked.push(resolve));
    await addEvents(database(), leaving, Array(5).fill('project.created'));
    const worker = await startWorker(database(), { disableEndpoint });
    await until(() => asked.length === 1);
    await addEvents(database(), staying, Array(20).fill('project.created'));
    worker.wake();
    await until(async () => (await deliveriesOf(database(), id)).filter(({ status }) => status === 'succeeded').length === 20);
    expect([gone.received.length, asked.length, worker.status().inFlight]).toEqual([1, 1, 1]);
    let isStopped = false;
    const stopped = worker.stop().then(() => {
      isStopped = true;
    });
    await new Promise(setImmediate);
    expect(isStopped).toBe(false);
    asked[0]?.();
    await stopped;
  });

  // The embedded database has one worker, which nobody takes for dead.
  if (kind === 'PostgreSQL') {
    test('a worker claims nothing before others have been told that it lives, since they would send it too', async () => {
      const workspace = await addWorkspace(database());
      const receiver = await openReceiver();
      const { id } = await addEndpoint(database(), workspace, { url: receiver.url });
      await addEvents(database(), workspace, ['project.created']);
      let isMute = true;
      const shaky = intercepted(database(), (text) => (isMute && text.includes('insert into webhook_workers') ? new Error('mute') : null));
      const worker = await startWorker(database(), { database: shaky, pollMs: 5, errorPauseMs: 1 });
      await until(async () => (await deliveriesOf(database(), id)).length === 1);
      await until(() => worker.errors.length >= 6);
      expect(receiver.received).toHaveLength(0);
      expect(worker.status()).toMatchObject({ lastRunMs: null, lastError: 'mute' });
      isMute = false;
      await worker.idle();
      expect(receiver.received).toHaveLength(1);
    });
  }

  test('what was claimed, but answered so late that the lease would end before the attempt, is not sent under that lease', async () => {
    const workspace = await addWorkspace(database());
    const receiver = await openReceiver();
    const { id } = await addEndpoint(database(), workspace, { url: receiver.url });
    await addEvents(database(), workspace, ['project.created']);
    let aheadMs = 0;
    const slow = intercepted(database(), (text) => {
      // The claim takes effect; by the time of its answer six seconds of the lease are over.
      if (text.includes('claimed as (')) aheadMs ||= 6_000;
      return null;
    });
    const worker = await startWorker(slow, { now: () => new Date(Date.now() + aheadMs), careMs: 10, deadAfterMs: 500, pollMs: 20 });
    await until(() => worker.errors.includes('webhooks were claimed too late to be sent; their leases end first'));
    expect([receiver.received.length, await inFlightOf(database(), id)]).toEqual([0, 1]);
    aheadMs += 20_000;
    await until(() => receiver.received.length === 1);
    await worker.idle();
    expect(await deliveriesOf(database(), id)).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
  });

  test('an event whose notification was lost is delivered while notifications of others keep coming', async () => {
    const [loud, unheard] = [await addWorkspace(database()), await addWorkspace(database())];
    const [listener, receiver] = [await openReceiver(), await openReceiver()];
    await addEndpoint(database(), loud, { url: listener.url });
    await addEndpoint(database(), unheard, { url: receiver.url });
    let hear: ((payload: string) => void) | undefined;
    const listen: Database['listen'] = async (_channel, onNotify) => {
      hear = onNotify;
      return async () => {};
    };
    await startWorker(proxied(database(), listen), { pollMs: 200 });
    await until(() => hear !== undefined);
    const ringing = setInterval(() => hear?.(loud), 20);
    try {
      await addEvents(database(), unheard, ['project.created']);
      await until(() => receiver.received.length === 1);
    } finally {
      clearInterval(ringing);
    }
    expect(listener.received).toHaveLength(0);
  });
});

/** The database with another `listen`; private fields forbid to inherit, so every other call is bound to the real one. */
function proxied(real: Database, listen: Database['listen']): Database {
  return new Proxy(real, {
    get(target, name) {
      if (name === 'listen') return listen;
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
