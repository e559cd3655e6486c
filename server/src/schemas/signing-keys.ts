// The public keys of an endpoint as a JSON Web Key Set (RFC 7517, 8037): what a receiver needs to verify signatures of the scheme v1a.
// Public keys only. A private one never gets here.

import { hash } from 'node:crypto';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';

/** A key stays published this long after its last signature: as long as receivers accept a timestamp, and a fetch takes. */
const PUBLISHED_AFTER_MS = 10 * 60_000;

export interface SigningJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  /** The thumbprint of RFC 7638, so that the same key has the same name wherever it is met. */
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'EdDSA';
}

const PREFIX = 'whpk_';

function presentKey(publicKey: string): SigningJwk {
  const x = Buffer.from(publicKey.slice(PREFIX.length), 'base64').toString('base64url');
  const kid = hash('sha256', `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`, 'base64url');
  return { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' };
}

/** The keys that sign now, newest first, and those that did until a moment ago. Null: the endpoint does not sign with keys. */
export function presentSigningKeys(endpoint: WebhookEndpoint, now: Date): { readonly keys: readonly SigningJwk[] } | null {
  if (!endpoint.signatureSchemes.includes('v1a')) return null;
  const published = endpoint.signingKeys.filter(
    ({ expiresAt }) => expiresAt === null || expiresAt.getTime() + PUBLISHED_AFTER_MS > now.getTime(),
  );
  return published.length === 0 ? null : { keys: published.map(({ publicKey }) => presentKey(publicKey)) };
}

/** Where the keys of an endpoint are published, given its public id. */
export const signingKeysPath = (endpointId: string): string => `/.well-known/webhook-endpoints/${endpointId}/jwks.json`;
