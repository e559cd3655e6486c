// What receivers rely on when they verify a webhook, checked with the official library.
// Touches no network and no database.

import { randomFillSync } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { currentSecrets, makeSigningSecret, readSigningSecret, signatureHeader } from './sign.ts';

const random = (bytes: Uint8Array): void => void randomFillSync(bytes);
const body = JSON.stringify({ event: 'project.created', data: { projectId: 'prj_1', name: 'Größe 📐', clientId: 'c' } });
const id = 'evt_01h455vb4pex5vsknk084sn02q';
const timestampSeconds = Math.floor(Date.now() / 1000);
const headersOf = (secrets: readonly string[]) => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestampSeconds),
  'webhook-signature': signatureHeader({ id, timestampSeconds, body, secrets: secrets.map(readSigningSecret) }),
});

describe('signatureHeader', () => {
  test('the official library verifies what was signed, and refuses another body, id or secret', () => {
    const secret = makeSigningSecret(random);
    const webhook = new Webhook(secret);
    expect(webhook.verify(body, headersOf([secret]))).toEqual(JSON.parse(body));
    expect(() => webhook.verify(`${body} `, headersOf([secret]))).toThrow();
    expect(() => webhook.verify(body, { ...headersOf([secret]), 'webhook-id': 'evt_other' })).toThrow();
    expect(() => webhook.verify(body, headersOf([makeSigningSecret(random)]))).toThrow();
  });

  test('while a secret rotates, a receiver that knows the old or the new one verifies', () => {
    const [older, newer] = [makeSigningSecret(random), makeSigningSecret(random)];
    for (const secret of [older, newer]) expect(new Webhook(secret).verify(body, headersOf([newer, older]))).toEqual(JSON.parse(body));
  });

  test('a known message has the signature that the specification gives it', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestampSeconds: 1614265330, body: '{"test": 2432232314}' };
    expect(signatureHeader({ ...message, secrets: [readSigningSecret(secret)] })).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });
});

test('a signing secret is whsec_ and 32 bytes in base64, another each time', () => {
  const secret = makeSigningSecret(random);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(makeSigningSecret(random)).not.toBe(secret);
});

test('a secret signs until the moment it expires and not from then on', () => {
  const now = new Date('2026-01-01T00:00:00.000Z');
  const secrets = [{ expiresAt: null }, { expiresAt: new Date(now.getTime() + 1) }, { expiresAt: now }, { expiresAt: new Date(0) }];
  expect(currentSecrets(secrets, now)).toEqual(secrets.slice(0, 2));
});
