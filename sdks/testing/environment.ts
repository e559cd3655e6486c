// What a suite of a client runs against: a real server on an embedded database in a directory of its own, the fault proxy before it, and a
// receiver of webhooks, all on free ports of the loopback. Knows nothing of any client.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openControl } from './control.ts';
import { openFaultProxy } from './fault-proxy.ts';

const program = fileURLToPath(new URL('../../server/bin/tranche.js', import.meta.url));

/** A first start makes the database: seconds, but a minute on a machine that is busy with much else. */
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 15_000;

export interface TestEnvironment {
  /** The environment variables that a suite reads, as `sdks/scenarios/README.md` lists them. */
  readonly variables: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** `settings` are variables of the server, such as RATE_LIMIT_PER_MINUTE. */
export async function openTestEnvironment(settings: Readonly<Record<string, string>> = {}): Promise<TestEnvironment> {
  const directory = await mkdtemp(join(tmpdir(), 'tranche-sdk-'));
  const apiKey = `tr_live_${randomBytes(19).toString('hex')}`;
  const closing: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const step of closing.reverse()) await step();
    closing.length = 0;
  };
  try {
    const server = launch({ DATA_DIR: directory, TRANCHE_API_KEY: apiKey, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'warn', ...settings });
    closing.push(() => stop(server.child));
    const url = await server.address;
    const proxy = await openFaultProxy(url);
    closing.push(() => proxy.close());
    const control = await openControl(proxy);
    closing.push(() => control.close());
    return {
      variables: {
        TRANCHE_BASE_URL: url,
        TRANCHE_API_KEY: apiKey,
        TRANCHE_PROXY_URL: proxy.url,
        TRANCHE_CONTROL_URL: control.url,
        TRANCHE_RECEIVER_URL: control.receiverUrl,
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function launch(variables: Record<string, string>): { child: ChildProcess; address: Promise<string> } {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR, NO_COLOR: '1', ...variables };
  const child = spawn(process.execPath, [program, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const late = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
  let said = '';
  const address = new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const found = /serves at (http:\S+)\n/.exec(said);
      if (found !== null) resolve(found[1] as string);
    });
    child.once('exit', (code, signal) => reject(new Error(`the server ended with ${code ?? signal} before it served: ${said}`)));
  }).finally(() => clearTimeout(late));
  return { child, address };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended.finally(() => clearTimeout(late));
}
