// The dashboard: its page at `/` and at every address of a browser that is nobody else's, and the files that the page asks for.
// Decides nothing about people or data: the page asks the API as any client does. Never before a route of the API.

import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createDashboardFiles, type DashboardFile, type DashboardFiles } from './dashboard-files.ts';
import { pathOf } from './plugins/unmatched.ts';

/** Written by the build wherever the browser is to be told that something is ours. */
const NONCE_MARK = '__CSP_NONCE__';
const NONCE_BYTES = 18;

/** The names of files under `/assets` say what is in them: what was once fetched is never asked for again. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/** Files beside the page, besides the page itself. */
const ROOT_FILES = ['favicon.svg'];

/** What no page of the dashboard begins with: the API in any version, and what this server answers for programs and operators. */
const NO_PAGE = /^\/(?:v\d+|docs|assets|openapi\.json|healthz|readyz|metrics|\.well-known)(?:\/|$)/i;

const headers = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // Addresses of the dashboard hold ids, and once the token of an invitation: they are for nobody else.
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
} as const;

/** Scripts and styles only of this server, or with the word that this one answer carries; nothing from elsewhere, in nobody's frame. */
const policyWith = (nonce: string): string =>
  `default-src 'none'; script-src 'self' 'nonce-${nonce}'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data: blob:; font-src 'self'; ` +
  "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const NOT_BUILT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Tranche</title>
<style>body { font: 16px/1.5 system-ui, sans-serif; max-width: 38rem; margin: 4rem auto; padding: 0 1rem; color-scheme: light dark }</style>
<h1>The dashboard is not built</h1>
<p>The API works; its reference is at <a href="/docs/">/docs</a>. To have the dashboard here, run in the folder of Tranche:</p>
<pre>npm ci
npm run build:dashboard</pre>
<p>and load this page again. The server need not be started anew.</p>
</html>
`;

export interface Dashboard {
  /** Whether a request that no route takes is for a page: a browser asks for it, and it is nothing of the API's. */
  takes(request: FastifyRequest): boolean;
  sendPage(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

/** Registers what has a fixed address. `directory` is where the build leaves its files; it may be empty until later. */
export function registerDashboard(
  app: FastifyInstance,
  directory: string,
  refuseMissing: (request: FastifyRequest, reply: FastifyReply) => void,
): Dashboard {
  const files = createDashboardFiles(directory);
  const sendPage = (request: FastifyRequest, reply: FastifyReply): Promise<void> => answerPage(files, request, reply);
  app.get('/', sendPage);
  for (const name of ROOT_FILES) {
    app.get(`/${name}`, async (request, reply) => {
      const file = await files.root(name);
      if (file === null) return refuseMissing(request, reply);
      return sendFile(request, reply, file, 'no-cache');
    });
  }
  app.get<{ Params: { name: string } }>('/assets/:name', async (request, reply) => {
    const file = await files.asset(request.params.name);
    if (file === null) return refuseMissing(request, reply);
    return sendFile(request, reply, file, FOR_EVER);
  });
  return {
    sendPage,
    takes: ({ method, url, headers: { accept } }) =>
      (method === 'GET' || method === 'HEAD') && accept?.includes('text/html') === true && !NO_PAGE.test(pathOf(url)),
  };
}

async function answerPage(files: DashboardFiles, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const page = await files.page();
  reply.type('text/html; charset=utf-8').headers(headers).header('Request-Id', request.id);
  // Each answer carries a word of its own and so cannot be kept.
  reply.header('Cache-Control', 'no-store');
  if (page === null) {
    reply.code(404).header('Content-Security-Policy', NOT_BUILT_POLICY);
    return reply.send(NOT_BUILT);
  }
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  reply.header('Content-Security-Policy', policyWith(nonce));
  return reply.send(page.replaceAll(NONCE_MARK, nonce));
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: DashboardFile, caching: string): FastifyReply {
  reply.headers(headers).headers({ 'Request-Id': request.id, 'Cache-Control': caching, ETag: file.etag, Vary: 'Accept-Encoding' });
  if (request.headers['if-none-match']?.split(/\s*,\s*/).includes(file.etag)) return reply.code(304).send();
  const [encoding, content] = packedFor(String(request.headers['accept-encoding'] ?? ''), file);
  if (encoding !== null) reply.header('Content-Encoding', encoding);
  return reply.type(file.type).send(content);
}

/** The smallest form that the browser takes. One that is refused by a weight of zero is not taken. */
function packedFor(accepted: string, { content, brotli, gzip }: DashboardFile): readonly [string | null, Buffer] {
  const takes = (name: string): boolean =>
    new RegExp(`(?:^|,)\\s*${name}\\s*(?:;\\s*q=(?!0(?:\\.0*)?\\s*(?:,|$))[^,]*)?(?:,|$)`, 'i').test(accepted);
  if (brotli !== null && takes('br')) return ['br', brotli];
  if (gzip !== null && takes('gzip')) return ['gzip', gzip];
  return [null, content];
}
