// What a browser is pointed at: the dashboard as it is built from the sources now, and a real server on an embedded database of its own.
// Works inside of tests and outside; whoever starts one stops it.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const root = fileURLToPath(new URL('../..', import.meta.url));
const START_TIMEOUT_MS = 60_000;
const BUILD_TIMEOUT_MS = 5 * 60_000;

/** A server to which nobody has signed up yet. */
export interface FreshStack {
  readonly url: string;
  /** A key with every scope, for what a test prepares. */
  readonly key: string;
  readonly stdout: () => string;
  /** Calls the API with the key and insists on a success. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely; a wrong guess fails the test.
  call(method: string, path: string, body?: unknown): Promise<any>;
  stop(): Promise<void>;
}

export interface Stack extends FreshStack {
  /** The session of the owner of the workspace, as a cookie. */
  readonly session: string;
}

/** Builds the dashboard unless it is built from these sources already. */
export function buildDashboard(): void {
  const { status, stderr } = spawnSync(process.execPath, [`${root}dashboard/build.js`], { encoding: 'utf8', timeout: BUILD_TIMEOUT_MS });
  if (status !== 0) throw new Error(`The dashboard was not built: ${stderr}`);
}

/** With its owner signed up. More variables for the server go before those of the harness. */
export async function startStack(variables: Readonly<Record<string, string>> = {}): Promise<Stack> {
  const stack = await startFreshStack(variables);
  return { ...stack, session: await signUpOwner(stack.url, stack.stdout()) };
}

export async function startFreshStack(variables: Readonly<Record<string, string>> = {}): Promise<FreshStack> {
  buildDashboard();
  const directory = mkdtempSync(join(tmpdir(), 'tranche-e2e-'));
  const key = `e2e_${randomBytes(20).toString('hex')}`;
  const own = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    NO_COLOR: '1',
    HOST: '127.0.0.1',
    PORT: '0',
    DATA_DIR: join(directory, 'data'),
  };
  const settings = { ...own, TRANCHE_API_KEY: key, RATE_LIMIT_PER_MINUTE: '1000000', WEBHOOK_NETWORK: 'any', ...variables };
  const child = spawn(process.execPath, [`${root}server/bin/tranche.js`, 'serve'], { env: settings, stdio: ['ignore', 'pipe', 'pipe'] });
  const out = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (out.stderr += text));
  const ended = once(child, 'close');
  async function stop(): Promise<void> {
    child.kill('SIGKILL');
    await ended;
    rmSync(directory, { recursive: true, force: true });
  }
  const late = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
  const url = await Promise.race([addressOf(child, out), ended]).finally(() => clearTimeout(late));
  if (typeof url !== 'string') {
    await stop();
    throw new Error(`The server ended: ${out.stdout}${out.stderr}`);
  }
  return { url, key, stdout: () => out.stdout, stop, call: (method, path, body) => call(url, key, method, path, body) };
}

async function addressOf(child: ChildProcess, out: { readonly stdout: string }): Promise<string> {
  for (;;) {
    const found = /serves at (http:\S+)\n/.exec(out.stdout);
    if (found !== null && /setup_token=\S+\n/.test(out.stdout) && /Reference .*\n/.test(out.stdout)) return found[1] as string;
    await once(child.stdout as NodeJS.ReadableStream, 'data');
  }
}

async function call(url: string, key: string, method: string, path: string, body: unknown): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const answer = await fetch(`${url}${path}`, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text === '' ? null : JSON.parse(text);
}

export interface Person {
  readonly email: string;
  readonly password: string;
}

/** Who owns the workspace of every stack. */
export const owner: Person = { email: 'ada@example.com', password: 'a long enough passphrase' };

/** Signs the owner up with the token that the server printed. */
async function signUpOwner(url: string, stdout: string): Promise<string> {
  const setup_token = /setup_token=(\S+)/.exec(stdout)?.[1];
  return sessionOf(url, '/v1/account/sign_up', { ...owner, name: 'Ada Lovelace', setup_token });
}

/** A new session of somebody, as a cookie: `name=value`. */
export function signIn(url: string, { email, password }: Person): Promise<string> {
  return sessionOf(url, '/v1/account/sign_in', { email, password });
}

async function sessionOf(url: string, path: string, body: unknown): Promise<string> {
  const headers = { origin: url, 'content-type': 'application/json' };
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const cookie = answer.headers.getSetCookie()[0]?.split(';', 1)[0];
  if (!answer.ok || cookie === undefined) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return cookie;
}

/** Makes a page be somebody's, before it is opened: the owner's, where no other session is given. */
export async function enter(page: Page, { url, session }: Pick<Stack, 'url' | 'session'>): Promise<void> {
  const [name = '', value = ''] = session.split(/=(.*)/s);
  await page.context().addCookies([{ name, value, url }]);
}

/** Invites somebody and signs them up, and answers their session. */
export async function joinAs(stack: FreshStack, { name, role }: { readonly name: string; readonly role: string }): Promise<string> {
  const email = emailOf(name);
  const { link } = (await stack.call('POST', '/v1/invitations', { email, role })) as { readonly link: string };
  const invitation_token = new URLSearchParams(new URL(link).hash.slice(1)).get('token');
  return sessionOf(stack.url, '/v1/account/sign_up', { email, password: owner.password, name, invitation_token });
}

/** `Grace Hopper` → `grace.hopper@example.com`. */
export const emailOf = (name: string): string =>
  `${name
    .toLowerCase()
    .match(/[a-z]+/g)
    ?.join('.')}@example.com`;
