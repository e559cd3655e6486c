// What is served to anybody under /.well-known: the public keys with which an endpoint's deliveries are signed.
// Asks for no key of ours and says nothing that is not public; who does not know an endpoint's id learns nothing here.

import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Refusal } from '../domain/errors.ts';
import { decodeId, type Uuid } from '../domain/ids.ts';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import { presentSigningKeys, signingKeysPath } from '../schemas/signing-keys.ts';
import { PROBLEM_CONTENT_TYPE, problemHeaders, problemStatus, toProblem } from './problems.ts';

export interface WellKnownOptions {
  /** Endpoints by their ids alone; those that do not exist or were deleted are left out. */
  readonly findEndpoints: (ids: readonly Uuid[]) => Promise<readonly WebhookEndpoint[]>;
  readonly clock: () => Date;
}

/** Endpoints that are asked for at once. Nobody needs a key of ours to ask, so what asking can cost is bounded. */
const MAX_WAITING = 1_000;
/** Shorter than any overlap worth having: a receiver that caches the keys has the new one long before the old one ends. */
const CACHE_SECONDS = 300;

const ABSENT: Refusal = { code: 'not_found', detail: 'There are no public keys here: no such endpoint, or it does not sign with v1a.' };
const BUSY: Refusal = { code: 'overloaded', detail: 'Too many requests for public keys at once.' };

export function registerWellKnown(app: FastifyInstance, { findEndpoints, clock }: WellKnownOptions): void {
  const find = createLookUp(findEndpoints);
  app.get<{ Params: { id: string } }>(signingKeysPath(':id'), async (request, reply) => {
    reply.header('Request-Id', request.id).header('X-Content-Type-Options', 'nosniff').header('Access-Control-Allow-Origin', '*');
    const id = decodeId('webhook_endpoint', request.params.id);
    if (id === null) return refuse(reply, ABSENT);
    const finding = find(id);
    if (finding === null) return refuse(reply, BUSY);
    const endpoint = await finding;
    const keys = endpoint === undefined ? null : presentSigningKeys(endpoint, clock());
    if (keys === null) return refuse(reply, ABSENT);
    return reply.type('application/jwk-set+json').header('Cache-Control', `public, max-age=${CACHE_SECONDS}`).send(JSON.stringify(keys));
  });
}

/**
 * One question to the database at a time: what is asked for meanwhile goes together in the next one, each endpoint once. However many
 * strangers ask, they hold one connection, and those with a key of ours the others. Null: too many wait already.
 */
function createLookUp(findEndpoints: WellKnownOptions['findEndpoints']): (id: Uuid) => Promise<WebhookEndpoint | undefined> | null {
  let waiting = new Set<Uuid>();
  let next: Promise<ReadonlyMap<Uuid, WebhookEndpoint>> | null = null;
  let last: Promise<unknown> = Promise.resolve();

  async function ask(): Promise<ReadonlyMap<Uuid, WebhookEndpoint>> {
    const ids = [...waiting];
    waiting = new Set();
    next = null;
    return new Map((await findEndpoints(ids)).map((endpoint) => [endpoint.id, endpoint]));
  }

  return (id) => {
    if (waiting.size >= MAX_WAITING && !waiting.has(id)) return null;
    waiting.add(id);
    next ??= last.then(ask, ask);
    last = next;
    return next.then((found) => found.get(id));
  };
}

function refuse(reply: FastifyReply, refusal: Refusal): FastifyReply {
  return reply
    .code(problemStatus[refusal.code])
    .headers({ ...problemHeaders(refusal.code), 'Cache-Control': 'no-store' })
    .type(PROBLEM_CONTENT_TYPE)
    .send(JSON.stringify(toProblem(refusal, reply.request.id)));
}
