// The pages for people: the reference at /docs, the document at /openapi.json, one page for each error code.
// Everything comes from this server; the Content-Security-Policy makes sure that no page can ask anyone else.

import { hash } from 'node:crypto';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
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

/** `document` is made when it is first asked for: a start need not wait for what few servers are ever asked. */
export function registerDocs(app: FastifyInstance, document: () => object): void {
  let documentText: string | null = null;
  const textOfDocument = (): string => {
    documentText ??= JSON.stringify(document());
    return documentText;
  };
  app.register(async (scope) => {
    scope.addHook('onSend', async (request, reply, payload) => {
      finishHeaders(request, reply, payload);
      return payload;
    });
    // What a browser has stored must not outlive a new version: the document and the pages are small.
    scope.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(textOfDocument()));
    // Browsers ask for one with every page; there is none, and that is no error.
    scope.get('/favicon.ico', (_request, reply) => reply.code(204).send());
    scope.get('/docs/errors', (_request, reply) => sendPage(reply, errorListPage()));
    scope.get<{ Params: { code: string } }>('/docs/errors/:code', (request, reply) => {
      const { code } = request.params;
      if (!Object.hasOwn(errorCatalogue, code)) return sendPage(reply.code(404), errorListPage(code));
      return sendPage(reply, errorPage(code as ErrorCode));
    });
    scope.get('/docs', (_request, reply) => reply.redirect('/docs/'));
    for (const path of ['/docs/', '/docs/js/scalar.js']) scope.get(path, sendReference);
  });
}

let reference: Promise<FastifyInstance> | null = null;

/** The reference's program takes a fifth of a start to load, so it is loaded for its first reader. */
async function openReference(): Promise<FastifyInstance> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const app = Fastify({ logger: false });
  await app.register(scalar, { routePrefix: '/docs', configuration: referenceConfiguration });
  await app.ready();
  return app;
}

async function sendReference(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  reference ??= openReference();
  const page = await (await reference).inject({ url: request.url });
  return reply
    .code(page.statusCode)
    .type(page.headers['content-type'] ?? 'text/html; charset=utf-8')
    .send(page.payload);
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
