// The routes that create, rotate and revoke API keys. A secret is made here and leaves in the answer; only its hash goes on.

import { createApiKey } from '../../commands/create-api-key.ts';
import { revokeApiKey } from '../../commands/revoke-api-key.ts';
import { rotateApiKey } from '../../commands/rotate-api-key.ts';
import { type ApiKey, hashKeySecret, keyHint } from '../../domain/api-key.ts';
import { encodeId } from '../../domain/ids.ts';
import {
  apiKeyCreate,
  apiKeyCreateExample,
  apiKeyExample,
  apiKeyResource,
  apiKeyRotate,
  apiKeyWithSecretExample,
  apiKeyWithSecretResource,
  presentApiKey,
  presentApiKeyWithSecret,
} from '../../schemas/api-keys.ts';
import { defineRoute, type Route } from '../route.ts';
import { serializerOf } from '../serialize.ts';
import { audited, submit, type Writes } from '../writes.ts';

const serialize = serializerOf(apiKeyResource);
const serializeWithSecret = serializerOf(apiKeyWithSecretResource);

export function apiKeyWriteRoutes(writes: Writes): Route[] {
  const { lane, clock, makeKeySecret } = writes;

  /** A fresh secret, what of it is stored, and the answer that shows it this once. */
  function mint() {
    const secret = makeKeySecret();
    const created = (key: ApiKey) => ({
      status: 201,
      headers: { location: `/v1/api_keys/${encodeId('api_key', key.id)}` },
      body: serializeWithSecret(presentApiKeyWithSecret(key, secret, key.createdAt)),
    });
    return { material: { hash: hashKeySecret(secret), hint: keyHint(secret) }, created };
  }
  const revoked = (key: ApiKey) => ({ status: 200, headers: {}, body: serialize(presentApiKey(key, null, clock())) });

  return [
    defineRoute({
      method: 'POST',
      path: '/v1/api_keys',
      operationId: 'createApiKey',
      tag: 'API keys',
      summary: 'Create an API key',
      description: 'The secret is in this answer and nowhere else. A key cannot give scopes that it does not hold itself.',
      scope: 'api_keys:write',
      body: apiKeyCreate,
      bodyExample: apiKeyCreateExample,
      success: { status: 201, description: 'The key with its secret.', schema: apiKeyWithSecretResource, example: apiKeyWithSecretExample },
      errors: ['idempotency_key_reused', 'scope_escalation'],
      idempotent: true,
      async handle(request) {
        const { name, scopes = request.caller.scopes, expires_at } = request.body;
        const { material, created } = mint();
        const draft = { name, scopes, expiresAt: expires_at ?? null, material };
        return submit(lane, createApiKey(audited(writes, request, created), draft, request.caller.scopes));
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/api_keys/:id/rotate',
      operationId: 'rotateApiKey',
      tag: 'API keys',
      summary: 'Replace an API key',
      description: 'Makes a new key with the same name, scopes and expiry; the old one goes on working for the overlap.',
      scope: 'api_keys:write',
      ids: { id: 'api_key' },
      body: apiKeyRotate,
      bodyExample: { overlap_seconds: 3600 },
      success: {
        status: 201,
        description: 'The new key with its secret.',
        schema: apiKeyWithSecretResource,
        example: apiKeyWithSecretExample,
      },
      errors: ['idempotency_key_reused', 'scope_escalation', 'invalid_transition'],
      idempotent: true,
      async handle(request) {
        const { material, created } = mint();
        const overlapMs = request.body.overlap_seconds * 1000;
        return submit(
          lane,
          rotateApiKey(audited(writes, request, created), request.ids.id as string, overlapMs, material, request.caller.scopes),
        );
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/v1/api_keys/:id',
      operationId: 'revokeApiKey',
      tag: 'API keys',
      summary: 'Revoke an API key',
      description:
        'From this commit on no write with the key commits, and within a second no read is answered. The key stays listed. Revoking it again changes nothing.',
      scope: 'api_keys:write',
      ids: { id: 'api_key' },
      success: { status: 200, description: 'The key, revoked.', schema: apiKeyResource, example: apiKeyExample },
      errors: [],
      handle: (request) => submit(lane, revokeApiKey(audited(writes, request, revoked), request.ids.id as string)),
    }),
  ];
}
