// What opens where: sealed secrets, keys and headers in their own place only, and what signs at which moment.
// Sends nothing.

import { createPublicKey, randomBytes, randomFillSync, sign, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { SealedSigningKey } from '../domain/endpoint-sending.ts';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import { presentSigningKeys } from '../schemas/signing-keys.ts';
import { createCipher, SealBroken } from '../store/cipher.ts';
import { signersOf } from './deliver.ts';
import { createSeals } from './seals.ts';
import { makeSigningKey, makeSigningSecret, readSigningKey, readSigningSecret } from './sign.ts';

const random = (bytes: Uint8Array): void => void randomFillSync(bytes);
const ID = '01993c5a-8f00-7000-8000-000000000001';
const OTHER = '01993c5a-8f00-7000-8000-000000000002';
const NOW = new Date('2026-03-02T09:30:00.000Z');
const at = (ms: number): Date => new Date(NOW.getTime() + ms);

describe('a sealed value', () => {
  const seals = createSeals(createCipher(randomBytes(32)));

  test('opens for its own endpoint, use and header only', () => {
    const pair = makeSigningKey(random);
    const whole = makeSigningSecret(random);
    const secret = seals.sealSecret(whole, ID);
    const key = seals.sealKey(pair, ID).sealed;
    const header = seals.sealHeader('X-Token', 'hush', ID);
    expect(seals.openSecret(secret, ID).equals(readSigningSecret(whole))).toBe(true);
    expect(seals.openHeader('x-TOKEN', header, ID)).toBe('hush');
    expect(seals.openKey(key, ID).asymmetricKeyType).toBe('ed25519');
    for (const open of [
      () => seals.openSecret(secret, OTHER),
      () => seals.openSecret(header, ID),
      () => seals.openSecret(key, ID),
      () => seals.openKey(key, OTHER),
      () => seals.openKey(secret, ID),
      () => seals.openHeader('X-Token', header, OTHER),
      () => seals.openHeader('X-Other', header, ID),
      () => seals.openHeader('X-Token', secret, ID),
    ])
      expect(open).toThrow(SealBroken);
  });

  test('does not open with another key of the service', () => {
    const sealed = seals.sealHeader('X-Token', 'hush', ID);
    expect(() => createSeals(createCipher(randomBytes(32))).openHeader('X-Token', sealed, ID)).toThrow(SealBroken);
  });
});

describe('at a moment', () => {
  const seals = createSeals(createCipher(randomBytes(32)));
  const keyUntil = (expiresAt: Date | null): SealedSigningKey => ({ ...seals.sealKey(makeSigningKey(random), ID), expiresAt });
  const secretUntil = (expiresAt: Date | null) => ({ sealed: seals.sealSecret(makeSigningSecret(random), ID), expiresAt });
  const expiries = [null, at(1), NOW, at(-1)];
  const endpoint = {
    id: ID,
    url: 'https://example.com/',
    secrets: expiries.map(secretUntil),
    signingKeys: expiries.map(keyUntil),
    signatureSchemes: ['v1', 'v1a'],
    headers: [],
  } as unknown as WebhookEndpoint & { readonly generation: number };

  test('the current secret and key sign, and the older ones until they expire, by the schemes that are asked for', () => {
    const counts = (schemes: WebhookEndpoint['signatureSchemes']): number[] => {
      const { secrets, keys } = signersOf({ endpoint: { ...endpoint, signatureSchemes: schemes } }, NOW, seals);
      return [secrets.length, keys.length];
    };
    expect(counts(['v1', 'v1a'])).toEqual([2, 2]);
    expect(counts(['v1'])).toEqual([2, 0]);
    expect(counts(['v1a'])).toEqual([0, 2]);
  });

  test('keys are published while they sign and ten minutes longer, newest first', () => {
    const shown = (now: Date): number => presentSigningKeys(endpoint, now)?.keys.length ?? 0;
    expect([shown(NOW), shown(at(10 * 60_000 - 1)), shown(at(10 * 60_000)), shown(at(10 * 60_000 + 1))]).toEqual([4, 3, 2, 1]);
    const newest = presentSigningKeys(endpoint, NOW)?.keys[0];
    expect(`whpk_${Buffer.from(newest?.x ?? '', 'base64url').toString('base64')}`).toBe(endpoint.signingKeys[0]?.publicKey);
    expect(presentSigningKeys({ ...endpoint, signatureSchemes: ['v1'] }, NOW)).toBeNull();
  });
});

test('the thumbprint and the signature of a key are those that RFC 8037 gives it', () => {
  const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
  const publicKey = `whpk_${Buffer.from(x, 'base64url').toString('base64')}`;
  const endpoint = { signatureSchemes: ['v1a'], signingKeys: [{ publicKey, sealed: '', expiresAt: null }] } as unknown as WebhookEndpoint;
  expect(presentSigningKeys(endpoint, NOW)?.keys).toMatchObject([{ x, kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k' }]);
  // The seed of the same appendix, which is what our private keys hold.
  const seed = Buffer.from('nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A', 'base64url');
  const pair = makeSigningKey((bytes) => void seed.copy(bytes));
  expect(pair.publicKey).toBe(publicKey);
  const signed = Buffer.from('eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc');
  const signature = sign(null, signed, readSigningKey(pair.privateKey));
  expect(signature.toString('base64url')).toBe('hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg');
  expect(verify(null, signed, createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }), signature)).toBe(true);
});
