// The pages for people: the reference at /docs, the document at /openapi.json, one page for each error code.
// Everything comes from this server; the Content-Security-Policy makes sure that no page can ask anyone else.

import { hash } from 'node:crypto';
import scalar from '@scalar/fastify-api-reference';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, errorCatalogue } from '../domain/errors.ts';
import { errorListPage, errorPage } from './error-pages.ts';

/** The reference is a program of 4 MB: worth keeping for a day. The pages themselves are asked for anew. */
const SCRIPT_CACHE = 'public, max-age=86400';

const NOWHERE_ELSE = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** For a page without scripts. */
const PLAIN_POLICY = `default-src 'none'; style-src 'unsafe-inline'; ${NOWHERE_ELSE}`;

/** For a page whose scripts are files of ours or stand in it: only these, recognised by their hash, may run, and only to here may they connect. */
function referencePolicy(html: string): string {
  const hashes = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, code]) => `'sha256-${hash('sha256', code as string, 'base64')}'`,
  );
  return (
    `default-src 'none'; script-src 'self' ${hashes.join(' ')}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; ` +
    `font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; ${NOWHERE_ELSE}`
  );
}

export function registerDocs(app: FastifyInstance, document: object): void {
  const documentText = JSON.stringify(document);
  app.register(async (scope) => {
    scope.addHook('onSend', async (request, reply, payload) => {
      finishHeaders(request, reply, payload);
      return payload;
    });
    // What a browser has stored must not outlive a new version: the document and the pages are small.
    scope.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(documentText));
    // Browsers ask for one with every page; there is none, and that is no error.
    scope.get('/favicon.ico', (_request, reply) => reply.code(204).send());
    scope.get('/docs/errors', (_request, reply) => sendPage(reply, errorListPage()));
    scope.get<{ Params: { code: string } }>('/docs/errors/:code', (request, reply) => {
      const { code } = request.params;
      if (!Object.hasOwn(errorCatalogue, code)) return sendPage(reply.code(404), errorListPage(code));
      return sendPage(reply, errorPage(code as ErrorCode));
    });
    await scope.register(scalar, { routePrefix: '/docs', configuration: referenceConfiguration });
  });
}

const fixedConfiguration = {
  url: '../openapi.json',
  pageTitle: 'Tranche API',
  theme: 'default',
  // Nothing from outside: no fonts, no telemetry, no proxy for requests, no hosted client, agent or developer tools.
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  persistAuth: false,
} as const;

// Beside curl, the document's own samples show our clients; what the reference would make up for other libraries stays away.
const otherClients = [
  ...(['c', 'clojure', 'csharp', 'dart', 'fsharp', 'go', 'http', 'java', 'js', 'julia', 'kotlin', 'node', 'objc', 'ocaml', 'php'] as const),
  ...(['powershell', 'python', 'r', 'ruby', 'rust', 'swift', 'shell/httpie', 'shell/wget'] as const),
];
const referenceConfiguration = { ...fixedConfiguration, hiddenClients: otherClients };

function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').header('Content-Security-Policy', PLAIN_POLICY).send(html);
}

function finishHeaders(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  const isHtml = String(reply.getHeader('content-type') ?? '').startsWith('text/html');
  reply.header('Request-Id', request.id).header('X-Content-Type-Options', 'nosniff').header('Referrer-Policy', 'no-referrer');
  if (!reply.hasHeader('cache-control')) reply.header('Cache-Control', request.url.endsWith('.js') ? SCRIPT_CACHE : 'no-cache');
  if (isHtml && !reply.hasHeader('content-security-policy') && typeof payload === 'string')
    reply.header('Content-Security-Policy', referencePolicy(payload));
}
