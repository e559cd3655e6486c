// `npm run dev`: the server, which starts anew at every change of its code, and Vite before it, which changes the open pages in place.
// Only for work on the product itself; what is served to users is built (build.js).

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const port = process.env.PORT ?? '8080';
process.env.TRANCHE_DEV_API = `http://127.0.0.1:${port}`;

const vite = await createServer({ configFile: `${root}dashboard/vite.config.ts`, clearScreen: false });
await vite.listen();
const page = vite.resolvedUrls?.local[0] ?? 'http://127.0.0.1:5173/';
const words = ['--watch', '--watch-preserve-output', 'server/bin/tranche.js', 'serve', ...process.argv.slice(2)];
// So that links, as to sign up, lead to the pages that change in place, and writes from there count as our own.
const env = { PUBLIC_URL: page.replace(/\/$/, ''), ...process.env };
const server = spawn(process.execPath, words, { cwd: root, env, stdio: 'inherit' });
console.log(`\n  The dashboard, changing as you write: ${page}\n  The API is at ${process.env.TRANCHE_DEV_API}\n`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.kill(signal));
server.on('exit', (code) => {
  process.exitCode = code ?? 1;
  void vite.close();
});
