// What strangers can cost who ask for public keys: one question to the database at a time, and an answer for each.
// Serves endpoints made up here; that the keys verify is tested in server/test.

import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { encodeId, type Uuid } from '../domain/ids.ts';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import { registerWellKnown } from './well-known.ts';

const idOf = (n: number): Uuid => `01993c5a-8f00-7000-8000-${n.toString(16).padStart(12, '0')}`;
const pathOf = (n: number): string => `/.well-known/webhook-endpoints/${encodeId('webhook_endpoint', idOf(n))}/jwks.json`;
const endpoint = (id: Uuid): WebhookEndpoint =>
  ({
    id,
    signatureSchemes: ['v1a'],
    signingKeys: [{ publicKey: `whpk_${Buffer.from(id).toString('base64')}`, sealed: '', expiresAt: null }],
  }) as unknown as WebhookEndpoint;

function serve(findEndpoints: (ids: readonly Uuid[]) => Promise<readonly WebhookEndpoint[]>) {
  const app = Fastify();
  onTestFinished(() => app.close());
  registerWellKnown(app, { findEndpoints, clock: () => new Date() });
  return (path: string) => app.inject({ method: 'GET', url: path });
}

test('however many ask at once, one question is asked at a time, and each gets the keys of the endpoint asked for', async () => {
  let [underWay, most, questions] = [0, 0, 0];
  const get = serve(async (ids) => {
    most = Math.max(most, ++underWay);
    questions += 1;
    await new Promise((resolve) => setImmediate(resolve));
    underWay -= 1;
    return ids.filter((id) => id !== idOf(7)).map(endpoint);
  });
  const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => get(pathOf(i % 50))));
  for (const [i, { statusCode, body }] of answers.entries()) {
    expect(statusCode).toBe(i % 50 === 7 ? 404 : 200);
    if (statusCode === 200) expect(JSON.parse(body).keys[0].x).toBe(Buffer.from(idOf(i % 50)).toString('base64url'));
  }
  expect(most).toBe(1);
  expect(questions).toBeLessThan(10);
});

test('a question that fails is an error for those who waited for it, and the next one is asked', async () => {
  let fails = true;
  const get = serve(async (ids) => {
    if (fails) throw new Error('no database');
    return ids.map(endpoint);
  });
  expect((await get(pathOf(1))).statusCode).toBe(500);
  fails = false;
  expect((await get(pathOf(1))).statusCode).toBe(200);
});

test('beyond a thousand endpoints asked for at once, more are turned away with a time to come back', async () => {
  let release: (() => void) | undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const get = serve(async (ids) => {
    await held;
    return ids.map(endpoint);
  });
  const first = get(pathOf(0));
  const answers = Array.from({ length: 1_100 }, (_, i) => get(pathOf(i + 1)));
  const turnedAway = await Promise.race(answers);
  expect(turnedAway.statusCode).toBe(503);
  expect(turnedAway.headers['retry-after']).toBe('1');
  release?.();
  await first;
  const codes = (await Promise.all(answers)).map(({ statusCode }) => statusCode);
  expect(codes.filter((code) => code === 200).length).toBeGreaterThanOrEqual(1_000);
});
