// The dashboard's files and pages: where they are answered and where not, how long they are kept, and what a page may do.

import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { startTestServer } from './test-server.ts';

const SCRIPT = 'console.log("the dashboard");\n'.repeat(20);
const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

function emptyDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tranche-dashboard-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function build(directory: string, title = 'first'): void {
  mkdirSync(join(directory, 'assets'), { recursive: true });
  mkdirSync(join(directory, '.vite'), { recursive: true });
  writeFileSync(
    join(directory, 'index.html'),
    `<title>${title}</title><script nonce="__CSP_NONCE__">1</script><meta nonce="__CSP_NONCE__">`,
  );
  writeFileSync(join(directory, 'favicon.svg'), '<svg/>');
  writeFileSync(join(directory, '.vite/manifest.json'), '{}');
  writeFileSync(join(directory, 'assets/index-abc123.js'), SCRIPT);
  writeFileSync(join(directory, 'assets/index-abc123.js.gz'), gzipSync(SCRIPT));
  writeFileSync(join(directory, 'assets/index-abc123.js.br'), brotliCompressSync(SCRIPT));
}

function startBuilt() {
  const directory = emptyDirectory();
  build(directory);
  return { directory, ...startTestServer([], { dashboardDirectory: directory }) };
}

test('the page is at the root for everyone, and at every other address for a browser', async () => {
  const { app } = startBuilt();
  expect((await app.inject({ url: '/' })).body).toContain('<title>first</title>');
  for (const url of ['/projects', '/projects/prj_1?tab=events', '/developers/api-keys', '/no/such/page']) {
    const answer = await app.inject({ url, headers: browser });
    expect([answer.statusCode, answer.headers['content-type']], url).toEqual([200, 'text/html; charset=utf-8']);
    const head = await app.inject({ method: 'HEAD', url, headers: browser });
    expect([head.statusCode, head.body], url).toEqual([200, '']);
  }
});

test('no address of the API is ever a page, and who asks for no page gets none', async () => {
  const { app } = startBuilt();
  for (const url of [
    '/v1',
    '/v1/',
    '/v1/none',
    '/V1/projects',
    '/v2/projects',
    '/v1?x=/projects',
    '/assets/none-1.js',
    '/assets/',
    '/docs/none/none',
  ]) {
    const answer = await app.inject({ url, headers: browser });
    expect([answer.statusCode, answer.headers['content-type']], url).toEqual([404, 'application/problem+json']);
  }
  for (const accept of ['application/json', '*/*', '']) {
    expect((await app.inject({ url: '/projects', headers: { accept } })).json(), accept).toMatchObject({ code: 'not_found' });
  }
  const posted = await app.inject({ method: 'POST', url: '/projects', headers: browser });
  expect([posted.statusCode, posted.headers['content-type']]).toEqual([404, 'application/problem+json']);
  expect((await app.inject({ url: '/openapi.json', headers: browser })).json()).toHaveProperty('openapi');
  expect((await app.inject({ url: '/docs/', headers: browser })).statusCode).toBe(200);
});

test('each answer of the page lets only its own scripts and styles run, and stands in no frame', async () => {
  const { app } = startBuilt();
  const nonces = new Set<string>();
  for (const url of ['/', '/projects', '/projects']) {
    const answer = await app.inject({ url, headers: browser });
    const policy = String(answer.headers['content-security-policy']);
    const nonce = /script-src 'self' 'nonce-([A-Za-z0-9+/]{24})'/.exec(policy)?.[1] as string;
    expect(policy).toContain(`style-src 'self' 'nonce-${nonce}'`);
    expect(policy).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(answer.body.match(/nonce="[^"]*"/g)).toEqual([`nonce="${nonce}"`, `nonce="${nonce}"`]);
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
    });
    nonces.add(nonce);
  }
  expect(nonces.size).toBe(3);
});

test.each([
  ['gzip, deflate, br', 'br'],
  ['gzip', 'gzip'],
  ['br;q=0, gzip;q=0.5', 'gzip'],
  ['br;q=0.0,gzip;q=0', undefined],
  ['brotli', undefined],
  ['', undefined],
])('a script is kept for ever, and sent packed as the browser accepts it (%s)', async (accepted, encoding) => {
  const { app } = startBuilt();
  const answer = await app.inject({ url: '/assets/index-abc123.js', headers: { 'accept-encoding': accepted } });
  expect(answer.headers['content-encoding']).toBe(encoding);
  expect(answer.headers).toMatchObject({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': 'text/javascript; charset=utf-8',
    vary: 'Accept-Encoding',
  });
  const packed = { br: brotliCompressSync(SCRIPT), gzip: gzipSync(SCRIPT) }[encoding ?? ''] ?? Buffer.from(SCRIPT);
  expect(answer.rawPayload.equals(packed)).toBe(true);
});

test('a file beside the page is asked for anew, and not sent again while it is the same', async () => {
  const { app } = startBuilt();
  const first = await app.inject({ url: '/favicon.svg' });
  expect([first.statusCode, first.headers['cache-control'], first.body]).toEqual([200, 'no-cache', '<svg/>']);
  const again = await app.inject({ url: '/favicon.svg', headers: { 'if-none-match': String(first.headers.etag) } });
  expect([again.statusCode, again.body]).toEqual([304, '']);
});

test('nothing outside of the assets can be fetched by a name', async () => {
  const { app, directory } = startBuilt();
  writeFileSync(join(directory, 'secret.js'), 'secret');
  writeFileSync(join(directory, 'assets/.hidden.js'), 'secret');
  for (const name of [
    '..%2fsecret.js',
    '../secret.js',
    '%2e%2e%2fsecret.js',
    '.hidden.js',
    '..\\secret.js',
    'index-abc123.js%00',
    'index-abc123.js.br',
    '__proto__',
  ]) {
    const answer = await app.inject({ url: `/assets/${name}` });
    expect(answer.statusCode, name).toBe(404);
    expect(answer.body, name).not.toBe('secret');
  }
  expect((await app.inject({ url: `/assets/${'a'.repeat(3_000)}.js` })).statusCode).toBe(404);
  expect((await app.inject({ url: '/.vite/manifest.json' })).statusCode).toBe(404);
});

test('without a build the root says what to run; once it is built the page is there, and built again, the new one', async () => {
  const directory = emptyDirectory();
  const { app } = startTestServer([], { dashboardDirectory: directory });
  for (const url of ['/', '/projects']) {
    const answer = await app.inject({ url, headers: browser });
    expect([answer.statusCode, answer.body], url).toEqual([404, expect.stringContaining('npm run build:dashboard')]);
  }
  expect((await app.inject({ url: '/v1/none', headers: browser })).headers['content-type']).toBe('application/problem+json');
  build(directory);
  expect((await app.inject({ url: '/' })).body).toContain('<title>first</title>');
  build(directory, 'second');
  utimesSync(join(directory, 'index.html'), new Date(), new Date(Date.now() + 5_000));
  expect((await app.inject({ url: '/' })).body).toContain('<title>second</title>');
});
