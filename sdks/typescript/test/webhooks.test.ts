// Receiving webhooks: the hash behind the signature, agreement with the reference library, and the handlers of each framework.
// The vectors, good and bad, are in the shared scenario.

import { createHash, createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { Webhook } from 'standardwebhooks';
import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest';
import {
  expressWebhookHandler,
  fastifyWebhooks,
  fetchWebhookHandler,
  TrancheError,
  verifyWebhook,
  type WebhookEvent,
  WebhookVerificationError,
} from '../src/index.ts';
import { hmacSha256, sha256 } from '../src/sha256.ts';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const body = '{"event":"payment.released","data":{"projectId":"prj_1","milestoneId":"mil_1","amount":5,"currency":"USD"}}';

function signed(text = body, headers: Record<string, string> = {}): Record<string, string> {
  const now = new Date();
  const signature = new Webhook(secret).sign('evt_1', now, text);
  const timestamp = String(Math.floor(now.getTime() / 1_000));
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
    'content-type': 'application/json',
    ...headers,
  };
}

test('the hash and the HMAC are those of node:crypto, for every length around a block and keys of any length', () => {
  for (const length of [...Array.from({ length: 140 }, (_, n) => n), 1_000, 65_537, 300_001]) {
    const message = randomBytes(length);
    expect(Buffer.from(sha256(message)).equals(createHash('sha256').update(message).digest()), `${length} bytes`).toBe(true);
  }
  for (const length of [1, 24, 32, 63, 64, 65, 200]) {
    const key = randomBytes(length);
    const message = randomBytes(500);
    expect(Buffer.from(hmacSha256(key, message)).equals(createHmac('sha256', key).update(message).digest())).toBe(true);
  }
});

test('what the reference library signs verifies, as text and as bytes, with any kind of headers', () => {
  const headers = signed();
  const bytes = new TextEncoder().encode(body);
  for (const payload of [body, Buffer.from(body), bytes, bytes.buffer]) {
    for (const given of [
      headers,
      new Headers(headers),
      Object.entries(headers) as [string, string][],
      { ...headers, 'x-more': ['a', 'b'] },
    ]) {
      expect(verifyWebhook(payload, given, secret)).toMatchObject({ event: 'payment.released', data: { amount: 5 }, id: 'evt_1' });
    }
  }
});

test('an event is a union that its kind tells apart', () => {
  const event: WebhookEvent = verifyWebhook(body, signed(), secret);
  if (event.event !== 'payment.released') throw new Error('another kind');
  expectTypeOf(event.data.amount).toEqualTypeOf<number>();
  expectTypeOf<Extract<WebhookEvent, { event: 'project.created' }>['data']['clientId']>().toEqualTypeOf<string>();
});

test('no message of a refusal holds a secret', () => {
  for (const wrong of ['whsec_%%%secret', [], `whsec_${randomBytes(32).toString('base64')}`]) {
    let thrown: unknown;
    try {
      verifyWebhook(body, signed(), wrong);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(WebhookVerificationError);
    expect(String(thrown)).not.toMatch(/whsec_\w/);
  }
});

test('a tolerance that is no number from 0 is refused, and lets no old webhook through', () => {
  for (const toleranceSeconds of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1]) {
    expect(() => verifyWebhook(body, signed(), secret, { toleranceSeconds })).toThrow('toleranceSeconds must be');
  }
  expect(verifyWebhook(body, signed(), secret, { toleranceSeconds: undefined })).toMatchObject({ id: 'evt_1' });
});

test('what cannot be verified because of the receiver is an error that says so, and none of the sender', () => {
  const verify = verifyWebhook as (...given: unknown[]) => unknown;
  const thrown = (...given: unknown[]): unknown => {
    try {
      return verify(...given);
    } catch (error) {
      return error;
    }
  };
  for (const parsed of [JSON.parse(body), undefined, null, 5]) {
    const error = thrown(parsed, signed(), secret);
    expect(error).toBeInstanceOf(TrancheError);
    expect(error).not.toBeInstanceOf(WebhookVerificationError);
    expect(String(error)).toContain('exactly as it came');
  }
  for (const none of [undefined, null, 'text']) {
    expect(thrown(body, none, secret)).toEqual(new TrancheError('headers must be the headers of the request.'));
  }
  for (const none of [undefined, null, '', [], [undefined], 5]) {
    expect(thrown(body, signed(), none)).toMatchObject({ name: 'WebhookVerificationError', reason: 'invalid_secret' });
  }
});

describe('handlers', () => {
  interface Receiver {
    readonly post: (text: string, headers: Record<string, string>) => Promise<{ status: number; text: string }>;
  }
  type Make = (onEvent: (event: WebhookEvent) => unknown) => Promise<Receiver>;

  const overHttp = async (url: string, text: string, headers: Record<string, string>): Promise<{ status: number; text: string }> => {
    const answer = await fetch(url, { method: 'POST', headers, body: text });
    return { status: answer.status, text: await answer.text() };
  };
  const node =
    (readFirst: boolean): Make =>
    async (onEvent) => {
      const handler = expressWebhookHandler({ secret, onEvent });
      const server = createServer(async (request, response) => {
        // As express.raw leaves it behind.
        if (readFirst) Object.assign(request, { body: Buffer.concat(await request.toArray()) });
        void handler(request, response);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      onTestFinished(() => void server.close());
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      return { post: (text, headers) => overHttp(url, text, headers) };
    };
  const makers: Record<string, Make> = {
    fetch: async (onEvent) => {
      const handler = fetchWebhookHandler({ secret: async () => [secret], onEvent });
      return {
        post: async (text, headers) => {
          const request = new Request('http://receiver.test', { method: 'POST', body: text, headers });
          const answer = await handler(request).catch(() => new Response('', { status: 500 }));
          return { status: answer.status, text: await answer.text() };
        },
      };
    },
    'Express, unread': node(false),
    'Express behind express.raw': node(true),
    Fastify: async (onEvent) => {
      const app = fastify();
      await app.register(fastifyWebhooks({ path: '/hooks', secret, onEvent }));
      app.post('/other', async (request) => request.body);
      onTestFinished(() => app.close());
      const other = await app.inject({ method: 'POST', url: '/other', payload: { a: 1 } });
      expect(other.json(), 'other routes still read JSON').toEqual({ a: 1 });
      return {
        post: async (payload, headers) => {
          const answer = await app.inject({ method: 'POST', url: '/hooks', payload, headers });
          return { status: answer.statusCode, text: answer.body };
        },
      };
    },
  };

  test.each(
    Object.entries(makers),
  )('%s: a good webhook is handed over and acknowledged, a bad one refused, a failure left to be sent again', async (_name, make) => {
    const events: WebhookEvent[] = [];
    let fails = false;
    const { post } = await make((event) => {
      if (fails) throw new Error('the database is away');
      events.push(event);
    });
    expect((await post(body, signed())).status).toBe(200);
    expect(events).toMatchObject([{ event: 'payment.released', id: 'evt_1' }]);
    expect(await post(`${body} `, signed())).toEqual({ status: 400, text: 'no_matching_signature' });
    expect((await post('', signed())).status).toBe(400);
    // Where the framework read the body already, its own limit has held.
    expect([400, 413]).toContain((await post(' '.repeat(1_100_000), signed())).status);
    fails = true;
    expect((await post(body, signed())).status).toBe(500);
    expect(events).toHaveLength(1);
  });

  test('a body that was parsed already is an error that says what to do, not a refusal', async () => {
    const errors: unknown[] = [];
    const handler = expressWebhookHandler({ secret, onEvent: () => undefined });
    const request = Object.assign((async function* () {})(), { headers: signed(), body: JSON.parse(body) as unknown });
    await handler(request, { statusCode: 0, end: () => undefined }, (error) => errors.push(error));
    expect(String(errors[0])).toContain('before express.json()');
  });

  test('fetch: a body without an end is refused once it is too long, and no more of it is taken in', async () => {
    let pulled = 0;
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        if (pulled > 1_000) throw new Error('it is read without a bound');
        controller.enqueue(new Uint8Array(64 * 1024));
      },
      cancel() {
        cancelled = true;
      },
    });
    const init: RequestInit = { method: 'POST', body: endless, headers: signed(), duplex: 'half' };
    const handler = fetchWebhookHandler({ secret, onEvent: () => undefined });
    const answer = await handler(new Request('http://receiver.test', init));
    expect([answer.status, cancelled]).toEqual([413, true]);
    expect(pulled).toBeLessThan(20);
  });

  test('a receiver without a usable secret answers 500, and does not say why', async () => {
    const handler = fetchWebhookHandler({ secret: [], onEvent: () => undefined });
    const answer = await handler(new Request('http://receiver.test', { method: 'POST', body, headers: signed() }));
    expect([answer.status, await answer.text()]).toEqual([500, '']);
  });
});
