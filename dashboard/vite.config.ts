// How the dashboard is built: one entry, a chunk for each page, every file under a name that says what is in it, and packed forms beside it.
// Decides nothing about the pages; what the server sends along with them is said in server/src/http/dashboard.ts.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const root = fileURLToPath(new URL('.', import.meta.url));

/** Where the API is while the pages are worked on; dev.ts says. */
const api = process.env.TRANCHE_DEV_API ?? 'http://127.0.0.1:8080';

/** What the server answers by itself. */
const served = ['/v1', '/docs', '/openapi.json', '/healthz', '/readyz'];

export default defineConfig({
  root,
  plugins: [react(), packed()],
  // The server puts a fresh one in its place into every page.
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    target: ['chrome111', 'firefox113', 'safari16.4'],
    manifest: true,
    sourcemap: false,
    // A picture in the text of a style sheet would need a wider Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    host: '127.0.0.1',
    port: 5173,
    strictPort: true,
    // The browser's own Host goes on to the server, which compares it with the Origin of writes.
    proxy: Object.fromEntries(served.map((path) => [path, { target: api, changeOrigin: false }])),
  },
});

/** Packs every script and style sheet as small as it gets, once, so that the server has only to send it. */
function packed(): Plugin {
  let directory = '';
  return {
    name: 'packed',
    apply: 'build',
    configResolved({ root: base, build }) {
      directory = resolve(base, build.outDir, 'assets');
    },
    closeBundle() {
      for (const name of readdirSync(directory)) {
        if (!/\.(js|css|svg)$/.test(name)) continue;
        const content = readFileSync(join(directory, name));
        writeFileSync(join(directory, `${name}.gz`), gzipSync(content, { level: 9 }));
        writeFileSync(join(directory, `${name}.br`), brotliCompressSync(content, { params: { [zlib.BROTLI_PARAM_QUALITY]: 10 } }));
      }
    },
  };
}
