// The pages for people: they are there, they speak of every code, and they let a browser ask nobody else.

import { expect, test } from 'vitest';
import { errorCatalogue } from '../domain/errors.ts';
import { startTestServer } from './test-server.ts';

test('the document is served as it was handed in, without a key', async () => {
  const { app } = startTestServer([], { document: () => ({ openapi: '3.1.1', paths: {} }) });
  const answer = await app.inject({ url: '/openapi.json' });
  expect([answer.statusCode, answer.body]).toEqual([200, '{"openapi":"3.1.1","paths":{}}']);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
});

test('the reference runs only scripts of this server and connects only to it', async () => {
  const { app } = startTestServer([]);
  expect((await app.inject({ url: '/docs' })).headers.location).toBe('/docs/');
  const page = await app.inject({ url: '/docs/' });
  const policy = String(page.headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("connect-src 'self'");
  expect(policy).not.toMatch(/https?:|\*/);
  expect(policy.match(/script-src [^;]*/)?.[0]).toMatch(/^script-src 'self' 'sha256-[A-Za-z0-9+/]{43}='$/);
  expect(page.body).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  const [, source] = /<script src="([^"]+)"/.exec(page.body) ?? [];
  const script = await app.inject({ url: `/docs/${source}` });
  expect([script.statusCode, script.headers['cache-control']]).toEqual([200, 'public, max-age=86400']);
});

test('every code of the catalogue has a page with its meaning and its fix, linked from the list', async () => {
  const { app } = startTestServer([]);
  const list = await app.inject({ url: '/docs/errors' });
  for (const [code, { fix }] of Object.entries(errorCatalogue)) {
    expect(list.body).toContain(`href="/docs/errors/${code}"`);
    const page = await app.inject({ url: `/docs/errors/${code}` });
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain(fix.replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'));
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  }
});

test('a code that does not exist is a 404 that cannot carry markup', async () => {
  const { app } = startTestServer([]);
  for (const code of ['%3Cscript%3Ealert(1)%3C%2Fscript%3E', 'toString', '__proto__']) {
    const page = await app.inject({ url: `/docs/errors/${code}` });
    expect(page.statusCode).toBe(404);
    expect(page.body).not.toContain('<script');
  }
});
