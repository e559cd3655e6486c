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

export interface Stack {
  readonly url: string;
  /** A key with every scope, for what a test prepares. */
  readonly key: string;
  readonly stdout: () => string;
  /** Calls the API with the key and insists on a success. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely; a wrong guess fails the test.
  call(method: string, path: string, body?: unknown): Promise<any>;
  stop(): Promise<void>;
}

/** Builds the dashboard unless it is built from these sources already. */
export function buildDashboard(): void {
  const { status, stderr } = spawnSync(process.execPath, [`${root}dashboard/build.js`], { encoding: 'utf8', timeout: BUILD_TIMEOUT_MS });
  if (status !== 0) throw new Error(`The dashboard was not built: ${stderr}`);
}

/** More variables for the server go before those of the harness. */
export async function startStack(variables: Readonly<Record<string, string>> = {}): Promise<Stack> {
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
    const found = /serves at (http:\S+)\n[\s\S]*Reference.*\n/.exec(out.stdout);
    if (found !== null) return found[1] as string;
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

/** Makes a page be somebody's who may do everything, before it is opened. */
export async function enter(page: Page, stack: Pick<Stack, 'key'>): Promise<void> {
  await page.addInitScript((key) => sessionStorage.setItem('tranche.developer-key', key), stack.key);
}
