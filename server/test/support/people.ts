// People for tests: a browser that keeps its cookies and says where it comes from, signing up, inviting, and codes of an authenticator.
// Everything goes through the routes, as a person would.

import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { hashToken, makeLinkToken } from '../../src/domain/link-token.ts';
import { addSetupToken } from '../../src/store/people.ts';
import type { CallOptions, CallResult, Json, TestApp } from './app.ts';

export const ORIGIN = 'http://localhost:80';
export const PASSWORD = 'correct horse battery';

type Method = Parameters<TestApp['call']>[0];

export interface Browser {
  readonly cookies: Map<string, string>;
  /** Set-Cookie headers as they came, the latest last. */
  readonly received: string[];
  /** The workspace that requests name; none when null. */
  workspace: string | null;
  call(method: Method, path: string, options?: CallOptions): Promise<CallResult>;
  ok(method: Method, path: string, options?: CallOptions): Promise<Json>;
}

/** A browser on the page that the server serves. */
export function openBrowser(app: Pick<TestApp, 'call'>, headers: Record<string, string> = {}): Browser {
  const cookies = new Map<string, string>();
  const received: string[] = [];
  const browser: Browser = {
    cookies,
    received,
    workspace: null,
    async call(method, path, options = {}) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const result = await app.call(method, path, {
        ...options,
        key: null,
        headers: {
          origin: ORIGIN,
          'sec-fetch-site': 'same-origin',
          'user-agent': 'Test browser',
          ...(cookie === '' ? {} : { cookie }),
          ...(browser.workspace === null ? {} : { 'tranche-workspace': browser.workspace }),
          ...headers,
          ...options.headers,
        },
      });
      const set = result.headers['set-cookie'] as unknown as string | string[] | undefined;
      for (const line of set === undefined ? [] : [set].flat()) {
        received.push(line);
        const [pair = ''] = line.split(';');
        const at = pair.indexOf('=');
        if (/max-age=0(;|$)/i.test(line)) cookies.delete(pair.slice(0, at));
        else cookies.set(pair.slice(0, at), pair.slice(at + 1));
      }
      return result;
    },
    async ok(method, path, options) {
      const result = await browser.call(method, path, options);
      if (result.status >= 300) throw new Error(`${method} ${path}: ${result.status} ${result.text}`);
      return result.body;
    },
  };
  return browser;
}

/** A setup token as `serve` makes one. */
export async function printSetupToken(app: Pick<TestApp, 'database'>): Promise<string> {
  const token = makeLinkToken('setup', (bytes) => void crypto.getRandomValues(bytes));
  await addSetupToken(app.database, hashToken(token), new Date(), true);
  return token;
}

/** Signs the first person up: the owner of the default workspace. */
export async function signUpOwner(app: TestApp, email = 'owner@example.com'): Promise<Browser> {
  const browser = openBrowser(app);
  const setup_token = await printSetupToken(app);
  await browser.ok('POST', '/v1/account/sign_up', { body: { email, password: PASSWORD, name: 'Olivia Owner', setup_token } });
  return browser;
}

export const tokenOf = (link: string): string => link.split('#token=')[1] as string;

/** Invites somebody and signs them up, as a member in this role. */
export async function signUpMember(app: TestApp, owner: Browser, role: string, email = `${role}@example.com`): Promise<Browser> {
  const { link } = await owner.ok('POST', '/v1/invitations', { body: { email, role } });
  const browser = openBrowser(app);
  const body = { email, password: PASSWORD, name: `A ${role}`, invitation_token: tokenOf(link) };
  await browser.ok('POST', '/v1/account/sign_up', { body });
  return browser;
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The code of RFC 6238 for a secret in base32, `steps` half minutes from now. */
export function totp(secret: string, steps = 0, nowMs = Date.now()): string {
  let bits = '';
  for (const letter of secret.replace(/=+$/, '')) bits += BASE32.indexOf(letter).toString(2).padStart(5, '0');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(nowMs / 30_000) + steps));
  const digest = createHmac('sha1', key).update(counter).digest();
  const offset = (digest.at(-1) as number) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

const HALF_MINUTE_MS = 30_000;
/** As long as a test may take from there on until a code of the same half minute is no longer asked for. */
const ENOUGH_MS = 8_000;
const leftOfHalfMinute = (): number => HALF_MINUTE_MS - (Date.now() % HALF_MINUTE_MS);

/**
 * Has sign-ins ask for a code from now on. The code of the half minute before is used up by that, and the one that runs lasts for some
 * seconds more, so that it does not end between two lines of a test.
 */
export async function turnOnTotp(owner: Browser): Promise<{ secret: string; backupCodes: string[]; uri: string }> {
  const { secret, backup_codes, totp_uri } = await owner.ok('POST', '/v1/account/totp', { body: { password: PASSWORD } });
  // Asked again after each wait: timers and the clock may run apart, and a hair too early is the half minute before.
  for (let leftMs = leftOfHalfMinute(); leftMs < ENOUGH_MS; leftMs = leftOfHalfMinute()) await delay(leftMs);
  await owner.ok('POST', '/v1/account/totp/verify', { body: { code: totp(secret, -1) } });
  return { secret, backupCodes: backup_codes, uri: totp_uri };
}

/** The owner of the default workspace, whose sign-in asks for a code. The code that turned it on is used up. */
export async function signUpOwnerWithTotp(app: TestApp) {
  const owner = await signUpOwner(app);
  return { owner, ...(await turnOnTotp(owner)) };
}
