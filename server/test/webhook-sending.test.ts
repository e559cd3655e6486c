// What an endpoint can ask of the requests it is sent, through the API: signatures of both schemes, rotation, headers of its own.
// And what must never come out again: secrets, private keys and header values, in answers, logs and the database.

import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, openTestApp, type TestApp } from './support/app.ts';
import { openReceiver, type Receiver, until } from './support/webhook-fixtures.ts';

const lines: string[] = [];
let app: TestApp;

beforeAll(async () => {
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  app = await openTestApp({ deliver: true, log });
});
afterAll(() => app.stop());

/** A request as the receiver got it. */
interface Told {
  readonly headers: Record<string, string>;
  readonly body: string;
}

const create = (body: object): Promise<Json> => app.ok('POST', '/v1/webhook_endpoints', { body });
const rotate = (id: string, overlap_seconds: number): Promise<Json> =>
  app.ok('POST', `/v1/webhook_endpoints/${id}/rotate_secret`, { body: { overlap_seconds } });
/** Something happens, and the receiver is told. */
async function tell(receiver: Receiver): Promise<Told> {
  const before = receiver.received.length;
  await app.ok('POST', '/v1/projects', { body: { name: 'Website', client_id: 'acme' } });
  await until(() => receiver.received.length > before);
  return receiver.received[before] as unknown as Told;
}

const signatures = (headers: Record<string, string>, scheme: string): string[] =>
  (headers['webhook-signature'] ?? '')
    .split(' ')
    .filter((signature) => signature.startsWith(`${scheme},`))
    .map((signature) => signature.slice(scheme.length + 1));

/** How many of the published keys find their signature among those of a delivery. Nothing but node:crypto and the key set. */
function verified({ headers, body }: Told, keys: readonly JsonWebKey[]): number {
  const signed = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`);
  return keys.filter((jwk) => {
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    return signatures(headers, 'v1a').some((signature) => verify(null, signed, key, Buffer.from(signature, 'base64')));
  }).length;
}

const keysOf = async (endpoint: Json): Promise<JsonWebKey[]> => (await app.ok('GET', endpoint.jwks_path, { key: null })).keys;

describe('signatures', () => {
  test('are HMAC by default, and then there are no public keys', async () => {
    const receiver = await openReceiver();
    const endpoint = await create({ url: receiver.url });
    expect(endpoint).toMatchObject({ signature_schemes: ['v1'], public_key: null, jwks_path: null });
    const told = await tell(receiver);
    expect([signatures(told.headers, 'v1').length, signatures(told.headers, 'v1a').length]).toEqual([1, 0]);
    const answer = await app.call('GET', `/.well-known/webhook-endpoints/${endpoint.id}/jwks.json`, { key: null });
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  test('with ed25519 are verified by the published key, over id, timestamp and the exact body', async () => {
    const receiver = await openReceiver();
    const endpoint = await create({ url: receiver.url, signature_schemes: ['v1a'] });
    expect(endpoint.public_key).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);
    expect(endpoint.jwks_path).toBe(`/.well-known/webhook-endpoints/${endpoint.id}/jwks.json`);
    const told = await tell(receiver);
    expect([signatures(told.headers, 'v1').length, signatures(told.headers, 'v1a').length]).toEqual([0, 1]);

    const answer = await app.call('GET', endpoint.jwks_path, { key: null });
    expect(answer.headers).toMatchObject({
      'content-type': expect.stringMatching(/^application\/jwk-set\+json/),
      'cache-control': 'public, max-age=300',
    });
    const keys: JsonWebKey[] = answer.body.keys;
    expect(keys).toEqual([{ kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA', x: expect.any(String), kid: expect.any(String) }]);
    expect(Buffer.from(keys[0]?.x as string, 'base64url').toString('base64')).toBe(endpoint.public_key.slice('whpk_'.length));
    expect(verified(told, keys)).toBe(1);
    expect(verified({ ...told, body: `${told.body} ` }, keys)).toBe(0);
    expect(verified({ ...told, headers: { ...told.headers, 'webhook-id': 'evt_other' } }, keys)).toBe(0);
  });

  test('of both schemes satisfy the official library and the key alike', async () => {
    const receiver = await openReceiver();
    const endpoint = await create({ url: receiver.url, signature_schemes: ['v1', 'v1a'] });
    const told = await tell(receiver);
    expect(new Webhook(endpoint.secret).verify(told.body, told.headers)).toEqual(JSON.parse(told.body));
    expect(verified(told, await keysOf(endpoint))).toBe(1);
  });

  test('of the old and the new secret and key are sent while they overlap, and the old ones not from then on', async () => {
    const receiver = await openReceiver();
    const first = await create({ url: receiver.url, signature_schemes: ['v1', 'v1a'] });
    const second = await rotate(first.id, 604_800);
    expect(second.public_key).not.toBe(first.public_key);
    const overlapping = await tell(receiver);
    for (const { secret } of [first, second])
      expect(new Webhook(secret).verify(overlapping.body, overlapping.headers)).toEqual(JSON.parse(overlapping.body));
    const keys = await keysOf(second);
    expect([keys.length, verified(overlapping, keys)]).toEqual([2, 2]);

    const third = await rotate(first.id, 0);
    const after = await tell(receiver);
    expect(new Webhook(third.secret).verify(after.body, after.headers)).toEqual(JSON.parse(after.body));
    for (const { secret } of [first, second]) expect(() => new Webhook(secret).verify(after.body, after.headers)).toThrow();
    expect(signatures(after.headers, 'v1a')).toHaveLength(1);
    expect(verified(after, keys)).toBe(0);
    expect(verified(after, await keysOf(third))).toBe(1);

    const refused = await app.call('POST', `/v1/webhook_endpoints/${first.id}/rotate_secret`, { body: { overlap_seconds: 604_801 } });
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer: '/overlap_seconds' }] } });
  });

  test('change their scheme by an update; a first v1a makes a key, and leaving it takes the keys from view', async () => {
    const receiver = await openReceiver();
    const made = await create({ url: receiver.url });
    const path = `/v1/webhook_endpoints/${made.id}`;
    const signed = await app.ok('PATCH', path, { body: { signature_schemes: ['v1a'] } });
    expect(verified(await tell(receiver), await keysOf(signed))).toBe(1);
    const again = await app.ok('PATCH', path, { body: { signature_schemes: ['v1a', 'v1'] } });
    expect(again.public_key).toBe(signed.public_key);
    const back = await app.ok('PATCH', path, { body: { signature_schemes: ['v1'] } });
    expect(back).toMatchObject({ public_key: null, jwks_path: null });
    expect((await app.call('GET', signed.jwks_path, { key: null })).status).toBe(404);
    for (const wrong of [[], ['v1', 'v1'], ['v2'], 'v1a', null])
      expect((await app.call('PATCH', path, { body: { signature_schemes: wrong } })).status).toBe(422);
  });

  test('are each of a key of their own endpoint: no key says anything of another one, and a deleted one has none', async () => {
    const [one, other] = [await openReceiver(), await openReceiver()];
    const mine = await create({ url: one.url, signature_schemes: ['v1a'] });
    const stranger = await app.addWorkspace();
    const theirs = await app.ok('POST', '/v1/webhook_endpoints', {
      key: stranger.key,
      body: { url: other.url, signature_schemes: ['v1a'] },
    });
    expect(theirs.public_key).not.toBe(mine.public_key);
    expect(verified(await tell(one), await keysOf(theirs))).toBe(0);
    expect(JSON.stringify(await keysOf(mine))).not.toContain((await keysOf(theirs))[0]?.x);
    for (const id of ['whe_01993c5a8f7000800000000000', 'prj_01h455vb4pex5vsknk084sn02q', '..%2f..%2fetc', `${mine.id}0`])
      expect((await app.call('GET', `/.well-known/webhook-endpoints/${id}/jwks.json`, { key: null })).status).toBe(404);
    await app.call('DELETE', `/v1/webhook_endpoints/${mine.id}`);
    expect((await app.call('GET', mine.jwks_path, { key: null })).status).toBe(404);
  });
});

describe('headers of an endpoint', () => {
  const value = 'Bearer of-the-receiver.0123456789';

  test('come with every attempt, byte for byte the same body, and are shown by name only', async () => {
    const receiver = await openReceiver((response, before) => void response.writeHead(before === 0 ? 500 : 200).end());
    const endpoint = await create({ url: receiver.url, headers: { Authorization: value, 'X-Tenant': 'acme' } });
    expect(endpoint.header_names).toEqual(['Authorization', 'X-Tenant']);
    await tell(receiver);
    // The second attempt is due after five seconds.
    await expect.poll(() => receiver.received.length, { timeout: 15_000 }).toBe(2);
    const [first, second] = receiver.received;
    for (const attempt of [first, second]) expect(attempt?.headers).toMatchObject({ authorization: value, 'x-tenant': 'acme' });
    expect(second?.body).toBe(first?.body);
    expect([first?.headers['tranche-attempt'], second?.headers['tranche-attempt']]).toEqual(['1', '2']);
    const shown = await app.call('GET', `/v1/webhook_endpoints/${endpoint.id}`);
    expect(shown.body.header_names).toEqual(['Authorization', 'X-Tenant']);
    expect(shown.text).not.toContain(value);
  });

  test('merge: a text sets one, null removes it, others stay, in any case of their names', async () => {
    const receiver = await openReceiver();
    const { id } = await create({ url: receiver.url, headers: { Authorization: value, 'X-One': '1' } });
    const path = `/v1/webhook_endpoints/${id}`;
    expect(
      (await app.ok('PATCH', path, { body: { headers: { 'x-one': null, 'X-Two': '2', AUTHORIZATION: 'Basic x' } } })).header_names,
    ).toEqual(['AUTHORIZATION', 'X-Two']);
    expect((await tell(receiver)).headers).toMatchObject({ authorization: 'Basic x', 'x-two': '2' });
    expect(receiver.received[0]?.headers).not.toHaveProperty('x-one');
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`x-${i}`, 'y']));
    const refused = await app.call('PATCH', path, { body: { headers: many } });
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer: '/headers', code: 'too_many_headers' }] } });
  });

  test.each([
    ['Host', 'internal.example'],
    ['HOST', 'internal.example'],
    ['Content-Type', 'text/plain'],
    ['content-length', '5'],
    ['Content-Encoding', 'gzip'],
    ['Transfer-Encoding', 'chunked'],
    ['Connection', 'close'],
    ['Keep-Alive', '5'],
    ['Upgrade', 'websocket'],
    ['TE', 'trailers'],
    ['Trailer', 'x'],
    ['Expect', '100-continue'],
    ['Proxy-Authorization', 'Basic x'],
    ['webhook-id', 'evt_forged'],
    ['Webhook-Signature', 'v1,forged'],
    ['webhook-timestamp', '1'],
    ['Tranche-Seq', '1'],
    ['tranche-attempt', '1'],
    ['User-Agent', 'x'],
    ['Accept-Encoding', 'gzip'],
    ['X-Forwarded-For', '127.0.0.1'],
    ['Forwarded', 'for=127.0.0.1'],
    ['Metadata-Flavor', 'Google'],
    ['X-aws-ec2-metadata-token', 'x'],
    ['', 'empty name'],
    ['X Space', 'x'],
    ['X:Colon', 'x'],
    ['X-Ümlaut', 'x'],
    ['X-Line\r\nHost', 'x'],
    ['__proto__', 'x'],
    ['X-Name', ''],
    ['X-Name', ' leading'],
    ['X-Name', 'trailing '],
    ['X-Name', 'a\r\nHost: internal.example'],
    ['X-Name', 'a\nb'],
    ['X-Name', 'a\0b'],
    ['X-Name', 'größe'],
    ['X-Name', 'x'.repeat(1025)],
    ['x'.repeat(65), 'x'],
    ['X-Name', 5],
  ])('named %j with %j are refused, in words that say what would be right and never the value', async (name, given) => {
    const { status, body, text } = await app.call('POST', '/v1/webhook_endpoints', {
      raw: `{"url":"https://example.com/","headers":{${JSON.stringify(name)}:${JSON.stringify(given)}}}`,
    });
    expect([status, body.code]).toEqual(name === '__proto__' ? [400, 'malformed_json'] : [422, 'validation_failed']);
    if (typeof given === 'string' && given.length > 5) expect(text).not.toContain(given);
  });
});

describe('where webhooks may go', () => {
  test('is decided when an endpoint is made or changed, where its URL shows it, and the answer says what would be right', async () => {
    const publicly = await openTestApp({ network: 'public' });
    try {
      const refused = await publicly.call('POST', '/v1/webhook_endpoints', { body: { url: 'http://0x7f.1/' } });
      const message = 'Must lead to a public address of the internet; 127.0.0.1 is not one (loopback).';
      expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer: '/url', code: 'blocked_address', message }] } });
      const { id } = await publicly.ok('POST', '/v1/webhook_endpoints', { body: { url: 'https://example.com/hook' } });
      const changed = await publicly.call('PATCH', `/v1/webhook_endpoints/${id}`, { body: { url: 'http://localhost:3000/' } });
      expect(changed).toMatchObject({ status: 422, body: { errors: [{ pointer: '/url', code: 'blocked_address' }] } });
    } finally {
      await publicly.stop();
    }
  });

  test('never includes the metadata service of a cloud', async () => {
    const refused = await app.call('POST', '/v1/webhook_endpoints', { body: { url: 'http://169.254.169.254/latest/meta-data/' } });
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer: '/url', code: 'blocked_address' }] } });
  });
});

test('secrets, private keys and header values are in no log line, no stored row and no answer but the one that first shows them (I-19)', async () => {
  const value = 'Bearer plain-text-of-a-header-value';
  const failing = await openReceiver((response) => void response.writeHead(500).end());
  const endpoint = await create({ url: failing.url, signature_schemes: ['v1', 'v1a'], headers: { Authorization: value } });
  const broken = await create({ url: 'http://127.0.0.1:1/', signature_schemes: ['v1', 'v1a'], headers: { 'X-Key': value } });
  const renewed = await rotate(endpoint.id, 60);
  await app.call('POST', '/v1/webhook_endpoints', { body: { url: 'http://127.0.0.1/', headers: { Host: value } } });
  await app.call('PATCH', `/v1/webhook_endpoints/${endpoint.id}`, { body: { headers: { Authorization: value }, nonsense: value } });
  await tell(failing);
  // A sealed value that was moved to another endpoint cannot be opened: the worker says so in the log, and sends nothing.
  const moved = await openReceiver();
  const victim = await create({ url: moved.url });
  const rows = await app.database.query<{ id: string; url: string; headers: Json }>(
    'select id, url, headers from webhook_endpoints order by id',
  );
  // The latest: a receiver of another test may have had the same port.
  const thief = rows.findLast(({ url }) => url === moved.url)?.id;
  const stolen = rows.findLast(({ url }) => url === failing.url)?.headers;
  await app.database.query('update webhook_endpoints set headers = $2 where id = $1', [thief, JSON.stringify(stolen)]);
  await app.ok('POST', '/v1/projects', { body: { name: 'Website', client_id: 'acme' } });
  const attemptOf = async (id: string): Promise<Json> => {
    const deliveries = (await app.ok('GET', `/v1/webhook_endpoints/${id}/deliveries`)).data;
    return deliveries.length === 0 ? undefined : (await app.ok('GET', `/v1/deliveries/${deliveries[0].id}/attempts`)).data[0];
  };
  await until(async () => (await attemptOf(victim.id)) !== undefined && (await attemptOf(broken.id)) !== undefined);
  expect(await attemptOf(victim.id)).toMatchObject({ error_kind: 'not_sent', status_code: null });
  expect(moved.received).toEqual([]);
  expect(lines.join('')).toContain('webhook could not be sent');

  const secrets = [value, endpoint.secret, renewed.secret, broken.secret, victim.secret].flatMap((secret: string) => [
    secret,
    secret.replace('whsec_', ''),
  ]);
  const stored = await app.database.query<{ row: string }>(
    `select row_to_json(t)::text as row from webhook_endpoints t union all select row_to_json(t)::text from delivery_attempts t
     union all select row_to_json(t)::text from idempotency_keys t`,
  );
  const everything = [...lines, ...stored.map(({ row }) => row), JSON.stringify(await app.ok('GET', '/v1/webhook_endpoints'))].join('\n');
  for (const secret of secrets) expect(everything).not.toContain(secret);
  expect(everything).not.toContain('whsk_');
});
