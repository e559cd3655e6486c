// Replaces an API key by a new one with the same name and scopes; the old one goes on for an overlap. Scope: api_keys:write.

import { type ApiKey, decideKeyRotation, type KeyMaterial } from '../domain/api-key.ts';
import { rejectMissing } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import type { Scope } from '../domain/scopes.ts';
import { type Command, type Envelope, SMALL } from './command.ts';

export function rotateApiKey(
  envelope: Envelope<ApiKey>,
  apiKeyId: Uuid,
  overlapMs: number,
  material: KeyMaterial,
  heldScopes: readonly Scope[],
): Command<ApiKey> {
  return {
    ...envelope,
    ...SMALL,
    name: 'rotate-api-key',
    needs: { apiKeyId },
    secretAnswer: true,
    decide(state, context) {
      const key = state.apiKey(apiKeyId);
      return key === undefined ? rejectMissing() : decideKeyRotation(key, overlapMs, material, heldScopes, context);
    },
  };
}
