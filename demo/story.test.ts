// The demo against a real server process on the embedded database: what a newcomer runs in the first five minutes.
// Loopback only; its own directory, port and processes.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const START_LIMIT_MS = 45_000;
const POLL_MS = 50;
const root = fileURLToPath(new URL('..', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'tranche-demo-'));
const apiKey = 'a_key_that_the_test_made_up';
let server: ChildProcess;
let url: string;

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Only what the test says reaches the processes: no setting of whoever runs it. */
function environment(extra: Record<string, string>): Record<string, string> {
  return { PATH: process.env.PATH ?? '', DATA_DIR: directory, ...extra };
}

interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

function runDemo(parameters: string[], extra: Record<string, string>): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { cwd: root, env: environment(extra), timeout: START_LIMIT_MS };
    execFile(process.execPath, ['demo/story.ts', ...parameters], options, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}

beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const env = environment({ PORT: String(port), TRANCHE_API_KEY: apiKey, LOG_LEVEL: 'warn' });
  server = spawn(process.execPath, ['server/bin/tranche.js', 'serve'], { cwd: root, env, stdio: ['ignore', 'ignore', 'inherit'] });
  const deadline = Date.now() + START_LIMIT_MS;
  for (;;) {
    const ready = await fetch(`${url}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return;
    if (Date.now() > deadline || server.exitCode !== null)
      throw new Error(`the server did not become ready (exit code ${server.exitCode})`);
    await delay(POLL_MS);
  }
});

afterAll(async () => {
  if (server.exitCode === null) {
    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    await ended;
  }
  rmSync(directory, { recursive: true, force: true });
});

test('the whole story plays with a given key, and reads well on 80 columns', async () => {
  const { exitCode, stdout, stderr } = await runDemo(['--url', url], { TRANCHE_API_KEY: apiKey });
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
  expect(stdout.match(/signature valid/g)).toHaveLength(4);
  expect(stdout).toContain('1500.00 USD');
  expect(stdout).toContain('80000 JPY');
  expect(stdout).not.toContain('\u001b');
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
});

test('without a key it makes one through the running server', async () => {
  const { exitCode, stdout, stderr } = await runDemo(['--url', url], {});
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
  expect(stdout).toContain('with a new key named "demo"');
});

test('it leaves no endpoint behind', async () => {
  const response = await fetch(`${url}/v1/webhook_endpoints`, { headers: { authorization: `Bearer ${apiKey}` } });
  expect(await response.json()).toMatchObject({ data: [] });
});

test('a wrong key ends it with the reason and a failing exit code', async () => {
  const { exitCode, stderr } = await runDemo(['--url', url, '--key', 'tr_live_not_a_key'], {});
  expect(exitCode).toBe(1);
  expect(stderr).toContain('invalid_api_key');
});

test('a server that is not there ends it with what to do', async () => {
  const { exitCode, stderr } = await runDemo(['--url', `http://127.0.0.1:${await freePort()}`], { TRANCHE_API_KEY: apiKey });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('npm start');
});
