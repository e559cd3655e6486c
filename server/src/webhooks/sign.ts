// Signatures of the Standard Webhooks specification: how a receiver knows that a webhook is ours, whole and recent.
// Pure: randomness and time are handed in. Never sees a sealed secret or key, only opened ones.

import { createHmac, createPrivateKey, createPublicKey, createSecretKey, type KeyObject, sign } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
const PRIVATE_KEY_PREFIX = 'whsk_';
const PUBLIC_KEY_PREFIX = 'whpk_';
/** The specification asks for 24 to 64 bytes; 32 is as strong as the hash. */
const SECRET_BYTES = 32;
const SEED_BYTES = 32;
/** What PKCS #8 writes before the seed of an ed25519 key. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

type Random = (bytes: Uint8Array) => void;

function randomBytes(random: Random, count: number): Buffer {
  const bytes = Buffer.alloc(count);
  random(bytes);
  return bytes;
}

/** `whsec_` and 32 random bytes in base64. */
export function makeSigningSecret(random: Random): string {
  return SECRET_PREFIX + randomBytes(random, SECRET_BYTES).toString('base64');
}

/** A secret as `makeSigningSecret` wrote it, ready to sign: made of its bytes anew at every signature, it costs eight times the signature. */
export function readSigningSecret(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64'));
}

export interface SigningKeyPair {
  /** `whsk_` and the seed followed by the public key, in base64. */
  readonly privateKey: string;
  /** `whpk_` and the public key in base64. */
  readonly publicKey: string;
}

/** An ed25519 key pair as the specification writes it. */
export function makeSigningKey(random: Random): SigningKeyPair {
  const seed = randomBytes(random, SEED_BYTES);
  const { x } = createPublicKey(keyOfSeed(seed)).export({ format: 'jwk' });
  const publicBytes = Buffer.from(x as string, 'base64url');
  return {
    privateKey: PRIVATE_KEY_PREFIX + Buffer.concat([seed, publicBytes]).toString('base64'),
    publicKey: PUBLIC_KEY_PREFIX + publicBytes.toString('base64'),
  };
}

/** A private key as `makeSigningKey` wrote it, ready to sign. */
export function readSigningKey(privateKey: string): KeyObject {
  return keyOfSeed(Buffer.from(privateKey.slice(PRIVATE_KEY_PREFIX.length), 'base64').subarray(0, SEED_BYTES));
}

const keyOfSeed = (seed: Buffer): KeyObject => createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });

/** The secrets or keys that sign at this moment: the current one, and during a rotation those whose overlap is not over. */
export function currentSecrets<Secret extends { readonly expiresAt: Date | null }>(secrets: readonly Secret[], now: Date): Secret[] {
  return secrets.filter((secret) => secret.expiresAt === null || secret.expiresAt > now);
}

export interface SignedMessage {
  /** The value of the `webhook-id` header. */
  readonly id: string;
  /** The value of the `webhook-timestamp` header. */
  readonly timestampSeconds: number;
  /** The exact body that is sent. */
  readonly body: string;
  /** Newest first; each adds a signature `v1`, and the receiver is content with any one. */
  readonly secrets: readonly KeyObject[];
  /** Ed25519 keys, newest first; each adds a signature `v1a`. */
  readonly keys?: readonly KeyObject[];
}

/**
 * The `webhook-signature` header, with a space between signatures: `v1,<base64 of HMAC-SHA256>` for each secret, then
 * `v1a,<base64 of ed25519>` for each key, all of them over id, timestamp and body with dots between.
 */
export function signatureHeader({ id, timestampSeconds, body, secrets, keys = [] }: SignedMessage): string {
  const signed = Buffer.from(`${id}.${timestampSeconds}.${body}`);
  const hmac = (secret: KeyObject): string => createHmac('sha256', secret).update(signed).digest('base64');
  return [...secrets.map((secret) => `v1,${hmac(secret)}`), ...keys.map((key) => `v1a,${sign(null, signed, key).toString('base64')}`)].join(
    ' ',
  );
}
