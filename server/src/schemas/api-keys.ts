// API keys on the wire: the resource, with its secret once, what creates and rotates one, the query of the list, and the presenters.
// A secret is handed in by whoever made it; nothing here can read one.

import { z } from 'zod';
import { type ApiKey, refuseKey } from '../domain/api-key.ts';
import { encodeId } from '../domain/ids.ts';
import { allScopes, scopes } from '../domain/scopes.ts';
import { listOf, listQuery } from './lists.ts';
import { exampleId, idField, integerBetween, moment, name, orEmpty, setOf, timestamp, wanted } from './text.ts';

export const MAX_OVERLAP_SECONDS = 604_800;
export const DEFAULT_OVERLAP_SECONDS = 86_400;

export const scope = z.enum(allScopes, wanted(`one of ${allScopes.join(', ')}`)).meta({
  id: 'Scope',
  description: `What a key may do.\n\n${Object.entries(scopes)
    .map(([scopeName, meaning]) => `- \`${scopeName}\`: ${meaning}`)
    .join('\n')}`,
});

export const apiKeyStatuses = ['active', 'expired', 'revoked'] as const;
export const apiKeyStatus = z.enum(apiKeyStatuses).meta({ id: 'ApiKeyStatus', description: 'Only an active key is accepted.' });

export const apiKeyExample = {
  id: exampleId('api_key', 7),
  object: 'api_key' as const,
  name: 'Approvals',
  hint: 'tr_live_3Fq9',
  scopes: ['milestones:read' as const, 'milestones:approve' as const],
  status: 'active' as const,
  expires_at: null,
  revoked_at: null,
  last_used_at: '2026-03-21T08:00:00.000Z',
  created_at: '2026-03-02T09:30:00.000Z',
};

const fields = {
  id: idField('api_key'),
  object: z.literal('api_key'),
  name: z.string(),
  hint: z.string().meta({ description: 'How its secret begins, to tell keys apart.' }),
  scopes: z.array(scope),
  status: apiKeyStatus,
  expires_at: timestamp('When it stops working; null for never.').nullable(),
  revoked_at: timestamp('When it was revoked; null while it was not.').nullable(),
  last_used_at: timestamp('When it was last used, to the minute or so; null for never.').nullable(),
  created_at: timestamp('When it was created.'),
};

export const apiKeyResource = z
  .object(fields)
  .meta({ id: 'ApiKey', description: 'An API key, without its secret.', example: apiKeyExample });

export const apiKeyWithSecretExample = {
  ...apiKeyExample,
  last_used_at: null,
  secret: 'tr_live_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE000',
};

export const apiKeyWithSecretResource = z
  .object({ ...fields, secret: z.string().meta({ description: 'The key itself. It is shown this once and cannot be read again.' }) })
  .meta({ id: 'ApiKeyWithSecret', description: 'A new API key with its secret.', example: apiKeyWithSecretExample });

const refusalStatus = { api_key_revoked: 'revoked', api_key_expired: 'expired' } as const;

/** `now` decides the status; `lastUsedAt` stands in a table of its own. */
export function presentApiKey(key: ApiKey, lastUsedAt: Date | null, now: Date): z.output<typeof apiKeyResource> {
  const refusal = refuseKey(key, now);
  return {
    id: encodeId('api_key', key.id),
    object: 'api_key',
    name: key.name,
    hint: key.hint,
    scopes: [...key.scopes],
    status: refusal === null ? 'active' : refusalStatus[refusal],
    expires_at: key.expiresAt === null ? null : key.expiresAt.toISOString(),
    revoked_at: key.revokedAt === null ? null : key.revokedAt.toISOString(),
    last_used_at: lastUsedAt === null ? null : lastUsedAt.toISOString(),
    created_at: key.createdAt.toISOString(),
  };
}

export function presentApiKeyWithSecret(key: ApiKey, secret: string, now: Date): z.output<typeof apiKeyWithSecretResource> {
  return { ...presentApiKey(key, null, now), secret };
}

export const apiKeyList = listOf('ApiKeyList', apiKeyResource, apiKeyExample);

export const apiKeyListQuery = listQuery('api_key', {});

export const apiKeyCreateExample = { name: 'Approvals', scopes: ['milestones:read', 'milestones:approve'] };

export const apiKeyCreate = z
  .strictObject({
    name: name.meta({ description: 'What people call it.' }),
    scopes: setOf(scope, allScopes.length, 'scope')
      .optional()
      .meta({ description: 'What it may do; never more than the calling key. Default: all that the calling key may do.' }),
    expires_at: moment.optional().meta({ description: 'When it stops working, in the future. Default: never.' }),
  })
  .meta({ id: 'ApiKeyCreate', description: 'A new API key.', example: apiKeyCreateExample });

export type ApiKeyCreate = z.output<typeof apiKeyCreate>;

const OVERLAP = `an integer of seconds from 0 to ${MAX_OVERLAP_SECONDS}`;

/** How long the old secret of a rotation goes on working. */
export const overlapSeconds = integerBetween(0, MAX_OVERLAP_SECONDS, OVERLAP)
  .default(DEFAULT_OVERLAP_SECONDS)
  .meta({ description: 'How long the old secret goes on working. 0 ends it at once.', example: 3600 });

export const apiKeyRotate = orEmpty(
  z
    .strictObject({ overlap_seconds: overlapSeconds })
    .meta({ id: 'ApiKeyRotate', description: 'How to rotate; may be left out.', example: { overlap_seconds: 3600 } }),
);

export type ApiKeyRotate = z.output<typeof apiKeyRotate>;
