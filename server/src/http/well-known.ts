// What is served to anybody under /.well-known: the public keys with which an endpoint's deliveries are signed.
// Asks for no key of ours and says nothing that is not public; who does not know an endpoint's id learns nothing here.

import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Refusal } from '../domain/errors.ts';
import { decodeId, type Uuid } from '../domain/ids.ts';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import { presentSigningKeys, signingKeysPath } from '../schemas/signing-keys.ts';
import { PROBLEM_CONTENT_TYPE, problemHeaders, problemStatus, toProblem } from './problems.ts';

export interface WellKnownOptions {
  /** An endpoint by its id alone; null for one that does not exist or was deleted. */
  readonly findEndpoint: (id: Uuid) => Promise<WebhookEndpoint | null>;
  readonly clock: () => Date;
}

/** Look-ups under way at once: nobody needs a key of ours to ask, so what asking can cost is bounded. */
const MAX_LOOK_UPS = 16;
/** Shorter than any overlap worth having: a receiver that caches the keys has the new one long before the old one ends. */
const CACHE_SECONDS = 300;

const ABSENT: Refusal = { code: 'not_found', detail: 'There are no public keys here: no such endpoint, or it does not sign with v1a.' };
const BUSY: Refusal = { code: 'overloaded', detail: 'Too many requests for public keys at once.' };

export function registerWellKnown(app: FastifyInstance, { findEndpoint, clock }: WellKnownOptions): void {
  let underWay = 0;
  app.get<{ Params: { id: string } }>(signingKeysPath(':id'), async (request, reply) => {
    reply.header('Request-Id', request.id).header('X-Content-Type-Options', 'nosniff').header('Access-Control-Allow-Origin', '*');
    const id = decodeId('webhook_endpoint', request.params.id);
    if (id === null) return refuse(reply, ABSENT);
    if (underWay >= MAX_LOOK_UPS) return refuse(reply, BUSY);
    underWay += 1;
    const endpoint = await findEndpoint(id).finally(() => (underWay -= 1));
    const keys = endpoint === null ? null : presentSigningKeys(endpoint, clock());
    if (keys === null) return refuse(reply, ABSENT);
    return reply.type('application/jwk-set+json').header('Cache-Control', `public, max-age=${CACHE_SECONDS}`).send(JSON.stringify(keys));
  });
}

function refuse(reply: FastifyReply, refusal: Refusal): FastifyReply {
  return reply
    .code(problemStatus[refusal.code])
    .headers({ ...problemHeaders(refusal.code), 'Cache-Control': 'no-store' })
    .type(PROBLEM_CONTENT_TYPE)
    .send(JSON.stringify(toProblem(refusal, reply.request.id)));
}
