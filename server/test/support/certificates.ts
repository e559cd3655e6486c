// Certificates for tests, made when they are asked for: good ones, expired ones, and those of another host.
// Writes X.509 by hand, as little of it as TLS needs; nothing outside of tests may use it.

import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

const DAY_MS = 86_400_000;

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 128) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const identifier = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const ECDSA_WITH_SHA256 = sequence(identifier('2a8648ce3d040302'));
const BASIC_CONSTRAINTS = '551d13';
const ALTERNATIVE_NAMES = '551d11';

/** A distinguished name of a common name alone. */
const nameOf = (text: string): Buffer => sequence(der(0x31, sequence(identifier('550403'), der(0x0c, Buffer.from(text)))));

/** `YYYYMMDDHHMMSSZ`. */
const timeOf = (date: Date): Buffer => der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\.\d+Z/g, '')}Z`));

const extension = (id: string, isCritical: boolean, value: Buffer): Buffer =>
  sequence(identifier(id), ...(isCritical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value));

interface Identity {
  readonly subject: string;
  readonly privateKey: KeyObject;
}

interface CertificateOptions {
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly issuer: Identity;
  /** DNS names it is made for; none for an authority. */
  readonly names?: readonly string[];
  readonly isAuthority?: boolean;
  readonly validFrom: Date;
  readonly validUntil: Date;
}

function certificate({ subject, publicKey, issuer, names = [], isAuthority = false, validFrom, validUntil }: CertificateOptions): string {
  const alternatives = names.map((name) => der(0x82, Buffer.from(name)));
  const extensions = [
    extension(BASIC_CONSTRAINTS, true, sequence(...(isAuthority ? [der(0x01, Buffer.from([0xff]))] : []))),
    ...(alternatives.length === 0 ? [] : [extension(ALTERNATIVE_NAMES, false, sequence(...alternatives))]),
  ];
  const serial = randomBytes(8);
  serial[0] = 1;
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ECDSA_WITH_SHA256,
    nameOf(issuer.subject),
    sequence(timeOf(validFrom), timeOf(validUntil)),
    nameOf(subject),
    publicKey.export({ format: 'der', type: 'spki' }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', body, issuer.privateKey);
  const bytes = sequence(body, ECDSA_WITH_SHA256, der(0x03, Buffer.from([0]), signature));
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

export interface ServerCertificate {
  readonly key: string;
  readonly cert: string;
}

export interface Authority {
  /** Its own certificate, for whoever is to trust it. */
  readonly ca: string;
  issue(names: readonly string[], validity?: { readonly from?: Date; readonly until?: Date }): ServerCertificate;
}

const newKeys = (): { publicKey: KeyObject; privateKey: KeyObject } => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = (key: KeyObject): string => key.export({ format: 'pem', type: 'pkcs8' }).toString();
const inDays = (days: number): Date => new Date(Date.now() + days * DAY_MS);

/** A certificate authority that nobody trusts unless told to. */
export function createAuthority(subject = 'Authority of a test'): Authority {
  const { publicKey, privateKey } = newKeys();
  const issuer = { subject, privateKey };
  const validity = { validFrom: inDays(-365), validUntil: inDays(365) };
  return {
    ca: certificate({ subject, publicKey, issuer, isAuthority: true, ...validity }),
    issue(names, { from = inDays(-30), until = inDays(30) } = {}) {
      const keys = newKeys();
      const cert = certificate({ subject: 'receiver', publicKey: keys.publicKey, issuer, names, validFrom: from, validUntil: until });
      return { key: pem(keys.privateKey), cert };
    },
  };
}

/** A certificate that vouches for itself. */
export function selfSigned(names: readonly string[]): ServerCertificate {
  const { publicKey, privateKey } = newKeys();
  const issuer = { subject: 'receiver', privateKey };
  const cert = certificate({ subject: 'receiver', publicKey, issuer, names, validFrom: inDays(-30), validUntil: inDays(30) });
  return { key: pem(privateKey), cert };
}
