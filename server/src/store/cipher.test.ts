// What the sealing of secrets promises: nothing readable, nothing movable, nothing altered, and one key per database.
// Uses a directory of its own per test and a stand-in for the one table involved.

import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkEncryptionKey, createCipher, EncryptionKeyRefused, loadEncryptionKey, SealBroken } from './cipher.ts';
import type { Queryable } from './database.ts';

function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tranche-cipher-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** The table encryption_checks, which holds at most one row. */
function checkTable(): Queryable {
  let stored: string | undefined;
  return {
    async query<Row>(text: string, parameters: readonly unknown[] = []): Promise<Row[]> {
      if (text.startsWith('insert')) stored ??= parameters[0] as string;
      return (stored === undefined || text.startsWith('insert') ? [] : [{ sealed: stored }]) as Row[];
    },
  };
}

describe('createCipher', () => {
  test('opens what it sealed, and seals the same text differently each time', () => {
    const cipher = createCipher(randomBytes(32));
    const sealed = cipher.seal('whsec_äöü📐', 'row-1');
    expect(cipher.open(sealed, 'row-1')).toBe('whsec_äöü📐');
    expect(sealed).toMatch(/^v1\.[A-Za-z0-9_-]+$/);
    expect(cipher.seal('whsec_äöü📐', 'row-1')).not.toBe(sealed);
    expect(cipher.open(cipher.seal('', ''), '')).toBe('');
  });

  test('a sealed value opens in no other row and with no other key', () => {
    const cipher = createCipher(randomBytes(32));
    const sealed = cipher.seal('secret', 'row-1');
    expect(() => cipher.open(sealed, 'row-2')).toThrow(SealBroken);
    expect(() => createCipher(randomBytes(32)).open(sealed, 'row-1')).toThrow(SealBroken);
  });

  test('a sealed value with any one bit changed, cut short or of another version does not open', () => {
    const cipher = createCipher(randomBytes(32));
    const sealed = cipher.seal('secret', 'row');
    const bytes = Buffer.from(sealed.slice(3), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const altered = Buffer.from(bytes);
      altered[bit >> 3] = (altered[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(() => cipher.open(`v1.${altered.toString('base64url')}`, 'row')).toThrow(SealBroken);
    }
    for (let length = 0; length < sealed.length - 1; length++)
      expect(() => cipher.open(sealed.slice(0, length), 'row')).toThrow(SealBroken);
    expect(() => cipher.open(sealed.replace('v1.', 'v2.'), 'row')).toThrow(SealBroken);
  });

  test('refuses a key that has not 32 bytes', () => {
    expect(() => createCipher(randomBytes(16))).toThrow(EncryptionKeyRefused);
  });
});

describe('loadEncryptionKey', () => {
  test('makes the key file once, readable by its owner only, and reads it afterwards', () => {
    const dataDir = join(makeDirectory(), 'data');
    const key = loadEncryptionKey({ dataDir, required: false });
    expect(key).toHaveLength(32);
    expect(statSync(join(dataDir, 'encryption.key')).mode & 0o777).toBe(0o600);
    expect(readdirSync(dataDir)).toEqual(['encryption.key']);
    expect(loadEncryptionKey({ dataDir, required: false })).toEqual(key);
    expect(Buffer.from(readFileSync(join(dataDir, 'encryption.key'), 'utf8'), 'base64')).toEqual(key);
  });

  test('takes a given key in hexadecimal or base64, and then makes no file', () => {
    const dataDir = makeDirectory();
    const key = randomBytes(32);
    for (const encryptionKey of [key.toString('hex'), key.toString('base64'), key.toString('base64url'), ` ${key.toString('base64')}\n`]) {
      expect(loadEncryptionKey({ encryptionKey, dataDir, required: true })).toEqual(key);
    }
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test.each([
    ['too short'],
    [randomBytes(31).toString('hex')],
    [randomBytes(33).toString('base64')],
    [`${'a'.repeat(42)}!`],
  ])('refuses %j as a key and says how to make one', (encryptionKey) => {
    const load = () => loadEncryptionKey({ encryptionKey, dataDir: makeDirectory(), required: false });
    expect(load).toThrow(EncryptionKeyRefused);
    expect(load).toThrow(/ENCRYPTION_KEY is not a key\. .*openssl rand -base64 32/);
  });

  test('makes no file where the key must be given', () => {
    const dataDir = makeDirectory();
    expect(() => loadEncryptionKey({ dataDir, required: true })).toThrow(/ENCRYPTION_KEY must be set/);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test('never replaces a key file that it cannot read', () => {
    const dataDir = makeDirectory();
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'encryption.key'), 'half a k');
    expect(() => loadEncryptionKey({ dataDir, required: false })).toThrow(EncryptionKeyRefused);
    expect(readFileSync(join(dataDir, 'encryption.key'), 'utf8')).toBe('half a k');
  });
});

describe('checkEncryptionKey', () => {
  test('lets the same key in again and refuses another, without replacing the check value', async () => {
    const table = checkTable();
    const [key, other] = [randomBytes(32), randomBytes(32)];
    await checkEncryptionKey(table, createCipher(key));
    await checkEncryptionKey(table, createCipher(key));
    await expect(checkEncryptionKey(table, createCipher(other))).rejects.toThrow(/sealed with another encryption key/);
    await checkEncryptionKey(table, createCipher(key));
  });
});
