// Runs the service's part of an installation on a Node that runs TypeScript as it is: this one, or the one installed with the project.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const prepare = fileURLToPath(new URL('../src/prepare.ts', import.meta.url));
const bundled = fileURLToPath(new URL('../../node_modules/node/bin/node', import.meta.url));
const [major] = process.versions.node.split('.').map(Number);
/** Far beyond what it takes, even on a busy machine. */
const TIMEOUT_MS = 2 * 60_000;

const node = existsSync(bundled) ? bundled : major >= 24 ? process.execPath : null;
if (node !== null) spawnSync(node, [prepare], { stdio: 'inherit', timeout: TIMEOUT_MS });
