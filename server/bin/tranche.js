#!/usr/bin/env node
// Starts the command line on a Node that runs TypeScript as it is: this one, or the one installed with the project.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const bundled = fileURLToPath(new URL('../../node_modules/node/bin/node', import.meta.url));
// What was compiled is kept for the next start, within the installation and not in a place where another user could put something.
const compiled = fileURLToPath(new URL('../../node_modules/.cache/tranche-compiled', import.meta.url));
/** A server may be killed, and a cache is otherwise only written at an orderly end: it is written once it surely serves. */
const WRITE_CACHE_AFTER_MS = 3_000;
const [major] = process.versions.node.split('.').map(Number);

if (major >= 24) {
  // Where it cannot be written, it is done without.
  module.enableCompileCache(compiled);
  setTimeout(() => module.flushCompileCache(), WRITE_CACHE_AFTER_MS).unref();
  await import('../src/main.ts');
} else if (existsSync(bundled)) {
  const env = { NODE_COMPILE_CACHE: compiled, ...process.env };
  const child = spawn(bundled, [main, ...process.argv.slice(2)], { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = signal === null ? (code ?? 1) : 1;
  });
} else {
  console.error(`Tranche needs Node 24 or later; this is ${process.version}. Run "npm ci" in its folder, which installs one for it.`);
  process.exitCode = 1;
}
