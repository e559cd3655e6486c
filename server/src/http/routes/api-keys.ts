// The routes that read API keys. No route reads a secret: only its hash is stored.
// They turn a query into a read and a record into an answer, and decide nothing.

import type { Uuid } from '../../domain/ids.ts';
import { apiKeyExample, apiKeyList, apiKeyListQuery, apiKeyResource, presentApiKey } from '../../schemas/api-keys.ts';
import { ABSENT } from '../mount.ts';
import { listAnswer, listExample, pageOf, type Reads } from '../reads.ts';
import { defineRoute, type Route } from '../route.ts';

export function apiKeyReadRoutes(reads: Reads): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/api_keys',
      operationId: 'listApiKeys',
      tag: 'API keys',
      summary: 'List API keys',
      description: 'The keys of the workspace without their secrets, newest first, revoked and expired ones included.',
      scope: 'api_keys:read',
      query: apiKeyListQuery,
      success: { status: 200, description: 'A page of keys.', schema: apiKeyList, example: listExample(apiKeyExample) },
      errors: [],
      async handle({ caller, query }) {
        const page = pageOf(query);
        const found = await reads.listApiKeys(caller.workspaceId, page);
        const now = reads.now();
        return listAnswer('api_key', found, page, ({ key, lastUsedAt }) => presentApiKey(key, lastUsedAt, now));
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/api_keys/:id',
      operationId: 'getApiKey',
      tag: 'API keys',
      summary: 'Read an API key',
      scope: 'api_keys:read',
      ids: { id: 'api_key' },
      success: { status: 200, description: 'The key, without its secret.', schema: apiKeyResource, example: apiKeyExample },
      errors: [],
      async handle({ caller, ids }) {
        const found = await reads.getApiKey(caller.workspaceId, ids.id as Uuid);
        return found === null ? ABSENT : { body: presentApiKey(found.key, found.lastUsedAt, reads.now()) };
      },
    }),
  ];
}
