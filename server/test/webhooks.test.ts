// Delivery end to end: events in the database, a worker, and receivers on real sockets that verify what they get.
// Waits for conditions, never for the clock; where time must pass, the worker's clock is moved.

import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { encodeId, type Uuid } from '../src/domain/ids.ts';
import { MAX_ANSWER_BYTES } from '../src/webhooks/safe-fetch.ts';
import { EVENTS_CHANNEL } from '../src/webhooks/spread.ts';
import {
  addEndpoint,
  addEvents,
  addWorkspace,
  cipher,
  deliveriesOf,
  onEachDatabase,
  openReceiver,
  startWorker,
  until,
} from './support/webhook-fixtures.ts';

onEachDatabase('webhooks', (database) => {
  describe('a healthy receiver', () => {
    test('gets each event once, signed, in order, with every header, and the body to the byte', async () => {
      const workspace = await addWorkspace(database());
      const receiver = await openReceiver();
      const { id, secret } = await addEndpoint(database(), workspace, { url: `${receiver.url}?k=1`, maxConcurrency: 1 });
      await addEvents(database(), workspace, ['project.created', 'milestone.created', 'milestone.submitted']);
      const worker = await startWorker(database());
      await worker.idle();
      const events = await database().query<{ id: Uuid; body: string }>(
        'select id, body from events where workspace_id = $1 and seq <> 2 order by seq',
        [workspace],
      );
      expect(receiver.received.map(({ body }) => body)).toEqual(events.map(({ body }) => body));
      const webhook = new Webhook(secret);
      for (const [i, { headers, body, path }] of receiver.received.entries()) {
        expect(webhook.verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body));
        expect(path).toBe('/hook?k=1');
        expect(headers).toMatchObject({
          'content-type': 'application/json',
          'user-agent': 'Tranche/1.2.3',
          'webhook-id': encodeId('event', events[i]?.id as Uuid),
          'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
          'tranche-seq': String([1, 3][i]),
          'tranche-attempt': '1',
        });
        expect(headers['tranche-prev-seq']).toBe([undefined, '1'][i]);
      }
      expect(await deliveriesOf(database(), id)).toEqual(
        Array(2).fill({ status: 'succeeded', attempts: 1, log: [{ status_code: 200, error: null, response_body: '' }] }),
      );
      expect(worker.errors).toEqual([]);
      expect(worker.status()).toMatchObject({ lastError: null, inFlight: 0, lastRunMs: expect.any(Number) });
    });

    test('is told at once by a notification, with the workspaces named or not, and without one by the poll', async () => {
      const workspace = await addWorkspace(database());
      const receiver = await openReceiver();
      await addEndpoint(database(), workspace, { url: receiver.url });
      const notified = await startWorker(database(), { pollMs: 3_600_000 });
      await notified.idle();
      await addEvents(database(), workspace, ['project.created']);
      await database().notify(EVENTS_CHANNEL, workspace);
      await until(() => receiver.received.length === 1);
      await addEvents(database(), workspace, ['project.created']);
      await database().notify(EVENTS_CHANNEL, '');
      await until(() => receiver.received.length === 2);
      await notified.stop();
      await startWorker(database(), { pollMs: 20 });
      await addEvents(database(), workspace, ['project.created']);
      await until(() => receiver.received.length === 3);
    });

    test('verifies with the old and the new secret while it rotates, and not with one that has expired', async () => {
      const workspace = await addWorkspace(database());
      const receiver = await openReceiver();
      const [older, expired] = ['whsec_b2xkb2xkb2xkb2xkb2xkb2xkb2xkb2xk', 'whsec_ZXhwaXJlZGV4cGlyZWRleHBpcmVkZXhw'];
      const { id, secret } = await addEndpoint(database(), workspace, { url: receiver.url });
      const secrets = [
        { sealed: cipher.seal(secret, id), expires_at: null },
        { sealed: cipher.seal(older, id), expires_at: new Date(Date.now() + 60_000) },
        { sealed: cipher.seal(expired, id), expires_at: new Date(Date.now() - 1) },
      ];
      await database().query('update webhook_endpoints set secrets = $2 where id = $1', [id, JSON.stringify(secrets)]);
      await addEvents(database(), workspace, ['project.created']);
      await (await startWorker(database())).idle();
      const { body, headers } = receiver.received[0] as { body: string; headers: Record<string, string> };
      for (const valid of [secret, older]) expect(new Webhook(valid).verify(body, headers)).toEqual(JSON.parse(body));
      expect(() => new Webhook(expired).verify(body, headers)).toThrow();
    });
  });

  describe('a receiver that fails', () => {
    test('500 then 200: the same id and body again, freshly signed, as attempt 2 (I-16)', async () => {
      const workspace = await addWorkspace(database());
      const receiver = await openReceiver((response, before) => void response.writeHead(before === 0 ? 500 : 200).end(`answer ${before}`));
      const { id, secret } = await addEndpoint(database(), workspace, { url: receiver.url });
      await addEvents(database(), workspace, ['project.created']);
      const worker = await startWorker(database());
      await worker.idle();
      expect(await deliveriesOf(database(), id)).toMatchObject([{ status: 'pending', attempts: 1 }]);
      worker.advance(5_000);
      await worker.idle();
      const [first, second] = receiver.received;
      expect(second?.body).toBe(first?.body);
      expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
      expect([first?.headers['tranche-attempt'], second?.headers['tranche-attempt']]).toEqual(['1', '2']);
      expect(second?.headers['webhook-timestamp']).not.toBe(first?.headers['webhook-timestamp']);
      expect(new Webhook(secret).verify(second?.body ?? '', second?.headers as Record<string, string>)).toBeTruthy();
      expect(await deliveriesOf(database(), id)).toEqual([
        {
          status: 'succeeded',
          attempts: 2,
          log: [
            { status_code: 500, error: null, response_body: 'answer 0' },
            { status_code: 200, error: null, response_body: 'answer 1' },
          ],
        },
      ]);
    });

    test('the whole schedule is used up, then the delivery has failed and nothing more is sent', async () => {
      const workspace = await addWorkspace(database());
      const receiver = await openReceiver((response) => void response.writeHead(503).end());
      const { id } = await addEndpoint(database(), workspace, { url: receiver.url });
      await addEvents(database(), workspace, ['project.created']);
      const worker = await startWorker(database());
      for (let day = 0; day < 12; day++) {
        await worker.idle();
        worker.advance(24 * 3_600_000);
      }
      expect(receiver.received).toHaveLength(10);
      expect(await deliveriesOf(database(), id)).toMatchObject([{ status: 'failed', attempts: 10 }]);
    });

    test('a redirect is a failure and is not followed', async () => {
      const workspace = await addWorkspace(database());
      const receiver = await openReceiver((response) => void response.writeHead(301, { location: '/elsewhere' }).end());
      const { id } = await addEndpoint(database(), workspace, { url: receiver.url });
      await addEvents(database(), workspace, ['project.created']);
      await (await startWorker(database())).idle();
      expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
      expect(await deliveriesOf(database(), id)).toMatchObject([{ status: 'pending', attempts: 1, log: [{ status_code: 301 }] }]);
    });

    test('410 ends the delivery, disables the endpoint with a reason and cancels what waited for it', async () => {
      const workspace = await addWorkspace(database());
      const receiver = await openReceiver((response) => void response.writeHead(410).end());
      const { id } = await addEndpoint(database(), workspace, { url: receiver.url, maxConcurrency: 1 });
      await addEvents(database(), workspace, ['project.created', 'project.created', 'project.created']);
      await (await startWorker(database())).idle();
      expect(receiver.received).toHaveLength(1);
      expect((await deliveriesOf(database(), id)).map(({ status }) => status)).toEqual(['failed', 'cancelled', 'cancelled']);
      const endpoints = await database().query('select status, disabled_reason from webhook_endpoints where id = $1', [id]);
      expect(endpoints).toEqual([{ status: 'disabled', disabled_reason: 'The endpoint answered 410 Gone.' }]);
    });

    test.each([
      ['hangs', () => {}, 'no answer arrived in time'],
      [
        'resets the connection',
        (_r: unknown, _n: number, socket: { resetAndDestroy(): void }) => socket.resetAndDestroy(),
        'the connection was closed before an answer arrived (ECONNRESET)',
      ],
    ] as const)('one that %s: the attempts log says so, and it is retried', async (_case, answer, error) => {
      const workspace = await addWorkspace(database());
      const receiver = await openReceiver(answer);
      const { id } = await addEndpoint(database(), workspace, { url: receiver.url });
      await addEvents(database(), workspace, ['project.created']);
      await (await startWorker(database(), { timeoutMs: 1_000 })).idle();
      expect(await deliveriesOf(database(), id)).toEqual([
        { status: 'pending', attempts: 1, log: [{ status_code: null, error, response_body: null }] },
      ]);
    });

    test('a huge answer and one that drips for ever are cut off; their 200 acknowledges all the same', async () => {
      const workspace = await addWorkspace(database());
      const huge = await openReceiver((response) => void response.end('é'.repeat(1_000_000)));
      const dripping = await openReceiver((response) => {
        response.write('.');
        const timer = setInterval(() => response.write('.'), 20);
        response.on('close', () => clearInterval(timer));
      });
      const endpoints = [
        await addEndpoint(database(), workspace, { url: huge.url }),
        await addEndpoint(database(), workspace, { url: dripping.url }),
      ];
      await addEvents(database(), workspace, ['project.created']);
      await (await startWorker(database(), { timeoutMs: 1_500 })).idle();
      const [cut, dripped] = [
        await deliveriesOf(database(), endpoints[0]?.id as Uuid),
        await deliveriesOf(database(), endpoints[1]?.id as Uuid),
      ];
      expect(cut).toMatchObject([{ status: 'succeeded', log: [{ status_code: 200 }] }]);
      expect(Buffer.byteLength(cut[0]?.log?.[0]?.response_body ?? '')).toBe(MAX_ANSWER_BYTES);
      expect(dripped).toMatchObject([{ status: 'succeeded', log: [{ status_code: 200, response_body: expect.stringMatching(/^\.+$/) }] }]);
    });

    test('a secret that cannot be opened is reported in the log, sends nothing and follows the schedule', async () => {
      const workspace = await addWorkspace(database());
      const receiver = await openReceiver();
      const { id } = await addEndpoint(database(), workspace, {
        url: receiver.url,
        secrets: [{ sealed: cipher.seal('whsec_x', 'another'), expiresAt: null }],
      });
      await addEvents(database(), workspace, ['project.created']);
      const worker = await startWorker(database());
      await worker.idle();
      expect(receiver.received).toEqual([]);
      expect(await deliveriesOf(database(), id)).toMatchObject([
        { status: 'pending', attempts: 1, log: [{ error: expect.stringMatching(/^the webhook could not be prepared/) }] },
      ]);
      expect(worker.errors).toEqual(['webhook could not be sent']);
    });
  });
});
