#!/usr/bin/env node
// Starts the command line on a Node that runs TypeScript as it is: this one, or the one installed with the project.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const bundled = fileURLToPath(new URL('../../node_modules/node/bin/node', import.meta.url));
const [major] = process.versions.node.split('.').map(Number);

if (major >= 24) await import('../src/main.ts');
else if (existsSync(bundled)) {
  const child = spawn(bundled, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = signal === null ? (code ?? 1) : 1;
  });
} else {
  console.error(`Tranche needs Node 24 or later; this is ${process.version}. Run "npm ci" in its folder, which installs one for it.`);
  process.exitCode = 1;
}
