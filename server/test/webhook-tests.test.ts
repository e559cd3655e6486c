// Samples and diagnoses through the API with real receivers: what arrives, how it is signed, and that nothing is left behind.
// What each route refuses by itself is in the contract tests; what a diagnosis finds is in diagnose.test.ts.

import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { allEventTypes } from '../src/domain/event.ts';
import { MAX_AT_ONCE_EACH } from '../src/webhooks/endpoint-tests.ts';
import { type Json, openTestApp, type TestApp } from './support/app.ts';
import { rowsDigest } from './support/contract.ts';
import { openReceiver, until } from './support/webhook-fixtures.ts';

async function openApp(): Promise<TestApp> {
  const app = await openTestApp();
  onTestFinished(() => app.stop());
  return app;
}

const add = (app: TestApp, url: string, more: Json = {}): Promise<Json> =>
  app.ok('POST', '/v1/webhook_endpoints', { body: { url, ...more } });

describe('a sample', () => {
  test.each(allEventTypes)('of %s arrives signed, with exactly the two fields, marked as a test, and is no event', async (type) => {
    const app = await openApp();
    const receiver = await openReceiver((response) => void response.writeHead(202, { 'x-told': 'yes' }).end('thanks'));
    const endpoint = await add(app, receiver.url, { headers: { Authorization: 'Basic c2VjcmV0OnNlY3JldA==' } });
    const before = await rowsDigest(app);
    const result = await app.ok('POST', `/v1/webhook_endpoints/${endpoint.id}/test`, { body: { event_type: type } });
    const [arrived] = receiver.received;
    const body = new Webhook(endpoint.secret).verify(arrived?.body as string, arrived?.headers as Record<string, string>) as Json;
    expect([Object.keys(body), body.event, typeof body.data]).toEqual([['event', 'data'], type, 'object']);
    expect(arrived?.headers).toMatchObject({ 'tranche-test': 'true', authorization: 'Basic c2VjcmV0OnNlY3JldA==' });
    expect([arrived?.headers['tranche-seq'], arrived?.headers['tranche-prev-seq']]).toEqual([undefined, undefined]);
    expect(result).toMatchObject({
      object: 'webhook_test',
      event_type: type,
      acknowledged: true,
      status_code: 202,
      error: null,
      response_body: 'thanks',
      request_body: arrived?.body,
      event_id: arrived?.headers['webhook-id'],
    });
    expect(JSON.stringify(result)).not.toContain('c2VjcmV0');
    expect((await app.call('GET', `/v1/events/${result.event_id}`)).status).toBe(404);
    expect(await rowsDigest(app)).toBe(before);
  });

  test('goes to a disabled endpoint too, and says why when nothing answers', async () => {
    const app = await openApp();
    const endpoint = await add(app, 'http://127.0.0.1:9/');
    await app.ok('PATCH', `/v1/webhook_endpoints/${endpoint.id}`, { body: { status: 'disabled' } });
    const result = await app.ok('POST', `/v1/webhook_endpoints/${endpoint.id}/test`);
    expect(result).toMatchObject({
      event_type: 'payment.released',
      acknowledged: false,
      status_code: null,
      error_kind: 'connection_refused',
    });
  });

  test('is sent once for an Idempotency-Key, however many ask at once, and again without one', async () => {
    const app = await openApp();
    const receiver = await openReceiver();
    const endpoint = await add(app, receiver.url);
    const ask = (key?: string) =>
      app.call('POST', `/v1/webhook_endpoints/${endpoint.id}/test`, { body: {}, ...(key && { headers: { 'idempotency-key': key } }) });
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask('k')));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(receiver.received).toHaveLength(1);
    expect((await ask('k')).headers['idempotent-replayed']).toBe('true');
    await ask();
    await ask();
    expect(receiver.received).toHaveLength(3);
  });
});

describe('tests and diagnoses whose receivers hang', () => {
  test('take a part of the places only, so that another workspace can have its own', async () => {
    const app = await openApp();
    const held: ServerResponse[] = [];
    const hanging = await openReceiver((response) => void held.push(response));
    const mine = await add(app, hanging.url);
    const ask = () => app.call('POST', `/v1/webhook_endpoints/${mine.id}/test`, { body: {} });
    const waiting = Array.from({ length: MAX_AT_ONCE_EACH }, ask);
    await until(() => held.length === MAX_AT_ONCE_EACH);
    expect((await ask()).status).toBe(503);
    const healthy = await openReceiver();
    const other = await app.addWorkspace();
    const theirs = await app.ok('POST', '/v1/webhook_endpoints', { body: { url: healthy.url }, key: other.key });
    const sent = await app.ok('POST', `/v1/webhook_endpoints/${theirs.id}/test`, { key: other.key });
    expect(sent).toMatchObject({ acknowledged: true });
    for (const response of held) response.end();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(MAX_AT_ONCE_EACH).fill(200));
  });
});

describe('a diagnosis', () => {
  test('pings with a signature that holds, and leaves nothing behind', async () => {
    const app = await openApp();
    const receiver = await openReceiver();
    const endpoint = await add(app, receiver.url);
    const before = await rowsDigest(app);
    const found = await app.ok('POST', `/v1/webhook_endpoints/${endpoint.id}/diagnose`);
    const [arrived] = receiver.received;
    expect(new Webhook(endpoint.secret).verify(arrived?.body as string, arrived?.headers as Record<string, string>)).toEqual({
      event: 'ping',
      data: {},
    });
    expect(found).toMatchObject({ object: 'webhook_diagnosis', endpoint_id: endpoint.id, verdict: 'healthy', ping: { status_code: 200 } });
    expect(await rowsDigest(app)).toBe(before);
  });
});
