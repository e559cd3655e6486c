// Builds dashboard/dist, unless it is there already and was built from the same files. Part of every installation (`prepare`).
// Plain JavaScript for whatever Node called npm; where the development dependencies are left out it builds nothing, and says so.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const vite = `${root}node_modules/vite/bin/vite.js`;
const ownNode = `${root}node_modules/node/bin/node`;
// Another package may bring Vite along; without the rest there is nothing to build with.
const needed = ['vite', '@vitejs/plugin-react', 'react', 'react-dom', '@mantine/core', '@tanstack/react-query', '@tanstack/react-router'];
const dist = `${root}dashboard/dist`;
const stamp = `${dist}/.built-from`;

/** Far beyond what a build takes, even on a busy machine. */
const BUILD_TIMEOUT_MS = 5 * 60_000;

/** Everything that a build depends on. */
const inputs = ['dashboard/src', 'dashboard/public', 'dashboard/index.html', 'dashboard/vite.config.ts', 'sdks/typescript/src'];

function filesOf(path) {
  if (!existsSync(`${root}${path}`)) return [];
  if (/\.\w+$/.test(path)) return [path];
  const entries = readdirSync(`${root}${path}`, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => (entry.isDirectory() ? filesOf(`${path}/${entry.name}`) : [`${path}/${entry.name}`]));
}

function fingerprint() {
  const hash = createHash('sha256');
  for (const path of [...inputs.flatMap(filesOf), 'package-lock.json']) {
    if (existsSync(`${root}${path}`)) hash.update(`${path}\0`).update(readFileSync(`${root}${path}`));
  }
  return hash.digest('hex');
}

const wanted = fingerprint();
const isBuilt = existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;

if (isBuilt && !process.argv.includes('--always')) {
  process.exitCode = 0;
} else if (needed.some((name) => !existsSync(`${root}node_modules/${name}/package.json`))) {
  console.log('The dashboard was not built: the development dependencies are left out. "npm ci && npm run build:dashboard" builds it.');
} else {
  const node = existsSync(ownNode) ? ownNode : process.execPath;
  // Under another name until it is whole: a server may be sending the old one, and another build may be under way.
  const unfinished = `${dist}.${process.pid}`;
  const words = [vite, 'build', 'dashboard', '--logLevel', 'warn', '--outDir', unfinished, '--emptyOutDir'];
  // Whatever is set outside, as by a run of tests: users get React as it is for users.
  const env = { ...process.env, NODE_ENV: 'production' };
  const { status } = spawnSync(node, words, { cwd: root, env, stdio: 'inherit', timeout: BUILD_TIMEOUT_MS });
  if (status === 0) {
    writeFileSync(`${unfinished}/.built-from`, wanted);
    takeOver(unfinished);
  }
  rmSync(unfinished, { recursive: true, force: true });
  process.exitCode = status ?? 1;
}

function takeOver(unfinished) {
  const old = `${dist}.old.${process.pid}`;
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(unfinished, dist);
  rmSync(old, { recursive: true, force: true });
}
