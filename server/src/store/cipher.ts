// Encrypts the few secrets that must be read again (signing secrets, stored answers that carry one) before they are stored.
// Knows no table but its own check value, and never logs, returns or stores the key.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Queryable } from './database.ts';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Names the format, so that a later one can stand beside it. */
const VERSION = 'v1.';
const KEY_FILE = 'encryption.key';
const CHECK_CONTEXT = 'encryption_checks';
const CHECK_TEXT = 'tranche';

export interface Cipher {
  /** Encrypts a text. Only `open` with the same context gives it back, so a sealed value cannot be moved to another row. */
  seal(text: string, context: string): string;
  /** Gives the text back; throws `SealBroken` when the key, the context or a single bit is another. */
  open(sealed: string, context: string): string;
  /** A secret of its own for one purpose, the same on every process; it says nothing of the key. */
  derive(purpose: string): string;
}

/** A sealed value was altered, moved, or sealed with another key. */
export class SealBroken extends Error {}

/** The encryption key is missing, malformed or not the one of this database. The message says what to do; the start ends there. */
export class EncryptionKeyRefused extends Error {}

export function createCipher(key: Buffer): Cipher {
  if (key.length !== KEY_BYTES)
    throw new EncryptionKeyRefused(`The encryption key must have ${KEY_BYTES} bytes; this one has ${key.length}.`);
  const bound = (context: string): Buffer => Buffer.from(`${VERSION}${context}`);
  return {
    derive: (purpose) => Buffer.from(hkdfSync('sha256', key, '', `${VERSION}${purpose}`, KEY_BYTES)).toString('base64url'),
    seal(text, context) {
      // Taken here and not handed in: with this cipher a repeated nonce would give the key's authentication away.
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(bound(context));
      const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return VERSION + sealed.toString('base64url');
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url');
      if (!sealed.startsWith(VERSION) || bytes.length < NONCE_BYTES + TAG_BYTES) throw new SealBroken('The value is not a sealed one.');
      const end = bytes.length - TAG_BYTES;
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(bound(context)).setAuthTag(bytes.subarray(end));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, end)), decipher.final()]).toString('utf8');
      } catch (error) {
        throw new SealBroken('The sealed value was altered, moved, or sealed with another key.', { cause: error });
      }
    },
  };
}

/** The 32 bytes of a key written as 64 hexadecimal digits or as base64 (plain or URL-safe, with or without padding); null for anything else. */
function parseKey(text: string): Buffer | null {
  const key = text.trim();
  if (/^[0-9a-f]{64}$/i.test(key)) return Buffer.from(key, 'hex');
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(key)) return Buffer.from(key, 'base64');
  return null;
}

const HOW_TO_MAKE = 'It is 32 random bytes in base64 or hexadecimal; "openssl rand -base64 32" makes one.';

/**
 * The key of this process: ENCRYPTION_KEY where given, else the file in the data directory, which is made on the first start.
 * `required`: the key must be given, since processes on other machines would each make a file of their own.
 */
export function loadEncryptionKey(options: { encryptionKey?: string | undefined; dataDir: string; required: boolean }): Buffer {
  if (options.encryptionKey !== undefined && options.encryptionKey !== '') {
    const key = parseKey(options.encryptionKey);
    if (key === null) throw new EncryptionKeyRefused(`ENCRYPTION_KEY is not a key. ${HOW_TO_MAKE}`);
    return key;
  }
  if (options.required) throw new EncryptionKeyRefused(`ENCRYPTION_KEY must be set together with DATABASE_URL. ${HOW_TO_MAKE}`);
  const path = join(options.dataDir, KEY_FILE);
  if (!existsSync(path)) createKeyFile(options.dataDir, path);
  const key = parseKey(readFileSync(path, 'utf8'));
  if (key === null)
    throw new EncryptionKeyRefused(`${path} does not hold a key. Restore it from a backup: without it no stored secret can be read.`);
  return key;
}

/** Makes the file whole or not at all: a half-written key that sealed something would be a loss. A file that appeared meanwhile is kept. */
function createKeyFile(dataDir: string, path: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(8).toString('hex')}`;
  try {
    const file = openSync(draft, 'wx', 0o600);
    try {
      writeSync(file, `${randomBytes(KEY_BYTES).toString('base64')}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const directory = openSync(dataDir, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** Refuses to go on with a key other than the one this database was first used with. Called once at the start, after the migrations. */
export async function checkEncryptionKey(database: Queryable, cipher: Cipher): Promise<void> {
  const read = () => database.query<{ sealed: string }>('select sealed from encryption_checks');
  let [check] = await read();
  if (check === undefined) {
    // The primary key lets one row in; of two processes that start at once, the second reads what the first wrote.
    await database.query('insert into encryption_checks (sealed) values ($1) on conflict do nothing', [
      cipher.seal(CHECK_TEXT, CHECK_CONTEXT),
    ]);
    [check] = await read();
  }
  try {
    if (check !== undefined && cipher.open(check.sealed, CHECK_CONTEXT) === CHECK_TEXT) return;
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
  }
  throw new EncryptionKeyRefused(
    'This database was sealed with another encryption key. Start with the ENCRYPTION_KEY (or the encryption.key file) it was first used with.',
  );
}
