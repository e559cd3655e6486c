// Creates an API key from a secret that the caller made; only its hash gets here. Scope: api_keys:write.

import { type ApiKey, type ApiKeyDraft, decideKeyCreation } from '../domain/api-key.ts';
import type { Scope } from '../domain/scopes.ts';
import { type Command, type Envelope, SMALL } from './command.ts';

export function createApiKey(envelope: Envelope<ApiKey>, draft: ApiKeyDraft, heldScopes: readonly Scope[]): Command<ApiKey> {
  return {
    ...envelope,
    ...SMALL,
    name: 'create-api-key',
    needs: {},
    secretAnswer: true,
    decide: (_state, context) => decideKeyCreation(draft, heldScopes, context),
  };
}
