// Drop-in receivers of webhooks: for anything that speaks `fetch`, for Express (and Node's own http), and for Fastify.
// They verify and acknowledge; what an event means is for the function they are given. An error of that function goes to the framework, which
// answers 500, so that the webhook is sent again.

import { WebhookVerificationError } from './errors.ts';
import { type HeadersLike, type Payload, type VerifyOptions, verifyWebhook, type WebhookEvent } from './webhooks.ts';

export interface WebhookHandlerOptions extends VerifyOptions {
  /** `whsec_…`, or several while one replaces the other; a function is asked for each webhook. */
  readonly secret: string | readonly string[] | (() => string | readonly string[] | Promise<string | readonly string[]>);
  /** Called once the webhook is verified. The same event may come more than once: tell by its `id`. */
  readonly onEvent: (event: WebhookEvent) => unknown;
}

/** Bodies of webhooks are far smaller; more is not ours. */
const MAX_BODY_BYTES = 1024 * 1024;

/** What to answer: 200, or why not. */
async function receive(payload: Payload, headers: HeadersLike, options: WebhookHandlerOptions): Promise<[status: number, text: string]> {
  const { secret, onEvent } = options;
  let event: WebhookEvent;
  try {
    event = verifyWebhook(payload, headers, typeof secret === 'function' ? await secret() : secret, options);
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    // A receiver without a usable secret is at fault itself, and should not tell strangers so.
    return error.reason === 'invalid_secret' ? [500, ''] : [400, error.reason];
  }
  await onEvent(event);
  return [200, ''];
}

/** `(request) => response`, for Deno, Bun, Cloudflare Workers, Next.js, Hono and the like. */
export function fetchWebhookHandler(options: WebhookHandlerOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method !== 'POST') return new Response('', { status: 405, headers: { allow: 'POST' } });
    const payload = request.body === null ? '' : await bounded(chunksOf(request.body));
    if (payload === null) return new Response('', { status: 413 });
    const [status, text] = await receive(payload, request.headers, options);
    return new Response(text, { status });
  };
}

/** Not every runtime can iterate a stream by itself. Stopping early cancels it, so that no more of the body is taken in. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    // Does nothing at the end of the body, and its own failure changes nothing about the answer.
    reader.cancel().catch(() => {});
  }
}

/** The parts of a request of Express, or of Node's http, that are used. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Bytes where `express.raw` has read the body already. */
  readonly body?: unknown;
}

export interface NodeResponse {
  statusCode: number;
  end(text?: string): unknown;
}

/**
 * A handler for `app.post('/webhooks', expressWebhookHandler({ … }))`, and for Node's http. Mount it before `express.json()`, or behind
 * `express.raw`: what was parsed cannot be verified any more.
 */
export function expressWebhookHandler(
  options: WebhookHandlerOptions,
): (request: NodeRequest, response: NodeResponse, next?: (error: unknown) => void) => Promise<void> {
  return async (request, response, next) => {
    try {
      const payload = await bodyOf(request);
      const [status, text] = payload === null ? ([413, ''] as const) : await receive(payload, request.headers, options);
      response.statusCode = status;
      response.end(text);
    } catch (error) {
      if (next !== undefined) {
        next(error);
        return;
      }
      response.statusCode = 500;
      response.end();
    }
  };
}

async function bodyOf(request: NodeRequest): Promise<string | Uint8Array | null> {
  const { body } = request;
  if (body instanceof Uint8Array || typeof body === 'string') return body;
  if (body !== undefined) {
    throw new TypeError('The body was parsed before it could be verified: mount the webhook handler before express.json().');
  }
  return bounded(request);
}

/** All of a body; null, without reading on, once it is too long. */
async function bounded(body: AsyncIterable<Uint8Array>): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  const whole = new Uint8Array(bytes);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

/** The parts of Fastify that are used; no version of it is needed to build this package. */
export interface FastifyLike {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: string,
    options: { readonly parseAs: 'buffer'; readonly bodyLimit: number },
    parser: (request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void,
  ): unknown;
  post(path: string, handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>): unknown;
}

export interface FastifyRequestLike {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: unknown;
}

export interface FastifyReplyLike {
  code(status: number): { send(text: string): unknown };
}

/** A plugin: `app.register(fastifyWebhooks({ path: '/webhooks', … }))`. It reads raw bytes at its own path only. */
export function fastifyWebhooks(options: WebhookHandlerOptions & { readonly path: string }): (instance: FastifyLike) => Promise<void> {
  return async (instance) => {
    instance.removeAllContentTypeParsers();
    instance.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES }, (_request, body, done) => done(null, body));
    instance.post(options.path, async (request, reply) => {
      const payload = request.body instanceof Uint8Array ? request.body : '';
      const [status, text] = await receive(payload, request.headers, options);
      return reply.code(status).send(text);
    });
  };
}
