// Finds the API key of the demo: given by hand, or in the environment, or made by the command line that reaches the server on this machine.
// Keeps no key and prints none.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { StoryBroken } from './api.ts';

const TIMEOUT_MS = 30_000;
const root = fileURLToPath(new URL('..', import.meta.url));

const HOW_TO = 'Give one with --key tr_live_… or in TRANCHE_API_KEY; "npm run tranche -- keys create --name demo" makes one.';

/** Whether the address is this machine's own, so that a key can be made for it from here. */
function isLocal(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}

async function makeKey(): Promise<string> {
  const parameters = ['server/bin/tranche.js', 'keys', 'create', '--name', 'demo', '--json'];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: root, timeout: TIMEOUT_MS });
    const { secret } = JSON.parse(stdout) as { secret?: unknown };
    if (typeof secret === 'string') return secret;
    throw new Error('its answer holds no secret');
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim() || (error instanceof Error ? error.message : String(error));
    throw new StoryBroken(`There is no API key, and making one did not work: ${said}\n${HOW_TO}`);
  }
}

export async function findKey(url: string, given: string | undefined): Promise<{ key: string; made: boolean }> {
  const key = given ?? process.env.TRANCHE_API_KEY;
  if (key !== undefined && key !== '') return { key, made: false };
  if (!isLocal(url)) throw new StoryBroken(`There is no API key. ${HOW_TO}`);
  return { key: await makeKey(), made: true };
}
