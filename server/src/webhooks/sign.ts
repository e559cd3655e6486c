// Signatures of the Standard Webhooks specification: how a receiver knows that a webhook is ours, whole and recent.
// Pure: randomness and time are handed in. Never sees a sealed secret, only opened ones.

import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';
/** The specification asks for 24 to 64 bytes; 32 is as strong as the hash. */
const SECRET_BYTES = 32;

/** `whsec_` and 32 random bytes in base64. */
export function makeSigningSecret(random: (bytes: Uint8Array) => void): string {
  const bytes = new Uint8Array(SECRET_BYTES);
  random(bytes);
  return PREFIX + Buffer.from(bytes).toString('base64');
}

/** The secrets that sign at this moment: the current one, and during a rotation those whose overlap is not over. */
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
  /** `whsec_…`, newest first; each adds a signature, and the receiver is content with any one. */
  readonly secrets: readonly string[];
}

/** The `webhook-signature` header: `v1,<base64 of HMAC-SHA256>` for each secret, with a space between. */
export function signatureHeader({ id, timestampSeconds, body, secrets }: SignedMessage): string {
  const signed = `${id}.${timestampSeconds}.${body}`;
  return secrets
    .map(
      (secret) =>
        `v1,${createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'))
          .update(signed)
          .digest('base64')}`,
    )
    .join(' ');
}
