// The secrets of endpoints, sealed and opened: signing secrets, private keys, values of headers. Each is bound to its endpoint and use.
// Logs nothing and stores nothing; what it has opened it keeps in memory, bounded.

import type { KeyObject } from 'node:crypto';
import type { NewSigningKey } from '../domain/endpoint-sending.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Cipher } from '../store/cipher.ts';
import { readSigningKey, readSigningSecret, type SigningKeyPair } from './sign.ts';

/** What is kept opened, of secrets, keys and headers each: opening is work that every attempt would repeat. */
const MAX_OPENED = 5_000;

export interface Seals {
  sealSecret(secret: string, endpointId: Uuid): string;
  openSecret(sealed: string, endpointId: Uuid): KeyObject;
  sealKey(pair: SigningKeyPair, endpointId: Uuid): NewSigningKey;
  openKey(sealed: string, endpointId: Uuid): KeyObject;
  sealHeader(name: string, value: string, endpointId: Uuid): string;
  openHeader(name: string, sealed: string, endpointId: Uuid): string;
}

// A sealed value opens in its own context only, so that none can be moved to another endpoint, header or use.
const keyContext = (endpointId: Uuid): string => `${endpointId}:signing_key`;
const headerContext = (name: string, endpointId: Uuid): string => `${endpointId}:header:${name.toLowerCase()}`;

export function createSeals(cipher: Cipher): Seals {
  const secrets = createOpener((sealed, context) => readSigningSecret(cipher.open(sealed, context)));
  const texts = createOpener((sealed, context) => cipher.open(sealed, context));
  const keys = createOpener((sealed, context) => readSigningKey(cipher.open(sealed, context)));
  return {
    sealSecret: (secret, endpointId) => cipher.seal(secret, endpointId),
    openSecret: (sealed, endpointId) => secrets(sealed, endpointId),
    sealKey: ({ publicKey, privateKey }, endpointId) => ({ publicKey, sealed: cipher.seal(privateKey, keyContext(endpointId)) }),
    openKey: (sealed, endpointId) => keys(sealed, keyContext(endpointId)),
    sealHeader: (name, value, endpointId) => cipher.seal(value, headerContext(name, endpointId)),
    openHeader: (name, sealed, endpointId) => texts(sealed, headerContext(name, endpointId)),
  };
}

/** Remembers what it opened; the oldest makes room. A sealed text never changes its meaning. */
function createOpener<Opened>(open: (sealed: string, context: string) => Opened): (sealed: string, context: string) => Opened {
  const opened = new Map<string, Opened>();
  return (sealed, context) => {
    const key = `${context} ${sealed}`;
    const known = opened.get(key);
    if (known !== undefined) return known;
    const value = open(sealed, context);
    const oldest = opened.keys().next();
    if (opened.size >= MAX_OPENED && oldest.done !== true) opened.delete(oldest.value);
    opened.set(key, value);
    return value;
  };
}
