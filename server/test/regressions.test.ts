// What must not happen again, each named after what happened.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownEnvelope } from '../src/commands/command.ts';
import { createWebhookEndpoint } from '../src/commands/create-webhook-endpoint.ts';
import { disableGoneEndpoint } from '../src/commands/update-webhook-endpoint.ts';
import type { WebhookEndpoint } from '../src/domain/webhook-endpoint.ts';
import { newId } from '../src/open-store.ts';
import { bringMilestone, openTestApp, type TestApp } from './support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.stop());

test('the secret of a new key is repeated to the key that asked for it and to no other, even with the same Idempotency-Key', async () => {
  const narrow = await app.addKey(app.workspaceId, ['api_keys:write']);
  const headers = { 'idempotency-key': 'create-deploy-key' };
  const body = { name: 'deploy' };
  const first = await app.call('POST', '/v1/api_keys', { body, headers });
  const again = await app.call('POST', '/v1/api_keys', { body, headers });
  expect([again.status, again.text]).toEqual([201, first.text]);
  const other = await app.call('POST', '/v1/api_keys', { body, headers, key: narrow });
  expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
  expect(other.text).not.toContain(first.body.secret);
});

test('a revoked key is revoked at once even where the time of the workspace runs ahead of the clock (I-12)', async () => {
  const { id, key } = await app.addWorkspace();
  const made = await app.ok('POST', '/v1/api_keys', { key, body: { name: 'victim' } });
  await app.database.query(`update workspace_heads set last_time = now() + interval '1 hour' where workspace_id = $1`, [id]);
  expect((await app.ok('DELETE', `/v1/api_keys/${made.id}`, { key })).status).toBe('revoked');
  expect((await app.call('GET', '/v1/projects', { key: made.secret })).body.code).toBe('api_key_revoked');
  const rotated = await app.ok('POST', '/v1/api_keys', { key, body: { name: 'rotated' } });
  await app.ok('POST', `/v1/api_keys/${rotated.id}/rotate`, { key, body: { overlap_seconds: 0 } });
  expect((await app.call('GET', '/v1/projects', { key: rotated.secret })).body.code).toBe('api_key_revoked');
});

test('a 410 of an address that an endpoint no longer has leaves the endpoint enabled', async () => {
  const id = newId();
  const envelope = ownEnvelope<WebhookEndpoint>(app.workspaceId, () => ({ status: 200, headers: {}, body: '' }));
  const sealedSecret = randomBytes(8).toString('hex');
  await app.store.lane.submit(
    createWebhookEndpoint(envelope, {
      id,
      url: 'http://a.example/new',
      description: null,
      eventTypes: null,
      sealedSecret,
      signatureSchemes: ['v1'],
      signingKey: null,
      headers: [],
      maxConcurrency: 16,
      rateLimitPerSecond: null,
      ordering: 'none',
    }),
  );
  const status = async () =>
    (await app.database.query<{ status: string }>('select status from webhook_endpoints where id = $1', [id]))[0]?.status;
  await app.store.lane.submit(disableGoneEndpoint(envelope, id, { generation: 0, reason: 'gone', failingSince: null }));
  expect(await status()).toBe('enabled');
  await app.store.lane.submit(disableGoneEndpoint(envelope, id, { generation: 1, reason: 'gone', failingSince: null }));
  expect(await status()).toBe('disabled');
});

test.each([
  [`update payments set status = 'pending', released_at = null`, 'a released payment'],
  ['update payments set amount_minor = amount_minor * 10', 'the amount of a payment'],
  ['update payments set invoice_id = gen_random_uuid()', 'the link of a payment'],
  ['update invoices set number = number + 1', 'the number of an invoice'],
  [`update invoices set payment_status = 'unpaid', paid_at = null`, 'a paid invoice'],
  ['delete from invoices', 'an invoice'],
  ['delete from payments', 'a payment'],
  ['delete from milestones', 'a milestone'],
  ['delete from projects', 'a project'],
  ['truncate payments cascade', 'all payments'],
])('the database refuses "%s": %s stays as it is (I-8)', async (statement) => {
  await bringMilestone(app, 'approved');
  await expect(app.database.query(statement)).rejects.toMatchObject({ sqlstate: '23001' });
});
