// Revokes an API key: from this commit on no write with it commits. Scope: api_keys:write.

import { type ApiKey, decideKeyRevocation } from '../domain/api-key.ts';
import { rejectMissing } from '../domain/decision.ts';
import type { Uuid } from '../domain/ids.ts';
import { type Command, type Envelope, SMALL } from './command.ts';

export function revokeApiKey(envelope: Envelope<ApiKey>, apiKeyId: Uuid): Command<ApiKey> {
  return {
    ...envelope,
    ...SMALL,
    name: 'revoke-api-key',
    needs: { apiKeyId },
    decide(state, context) {
      const key = state.apiKey(apiKeyId);
      return key === undefined ? rejectMissing() : decideKeyRevocation(key, context);
    },
  };
}
