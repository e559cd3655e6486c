// Closing a workspace: from then on nothing in it changes, nothing calls for it and nothing is sent from it. Its books stay readable.
// Pure.

import type { ApiKey } from './api-key.ts';
import { type AuditDraft, changesBetween } from './audit.ts';
import { accept, type Context, type Decision, rejectField } from './decision.ts';
import type { Uuid } from './ids.ts';
import type { WebhookEndpoint } from './webhook-endpoint.ts';

export interface Closing {
  readonly workspaceId: Uuid;
  readonly name: string;
  readonly closedAt: Date;
  readonly revokedKeys: number;
  readonly disabledEndpoints: number;
}

const DISABLED_REASON = 'The workspace was closed.';

/** `keys` and `endpoints` are those of the workspace that still hold and are still enabled. */
export function decideClosing(
  name: string,
  keys: readonly ApiKey[],
  endpoints: readonly WebhookEndpoint[],
  context: Context,
): Decision<Closing> {
  const { workspace, now } = context;
  if (name !== workspace.name) return rejectField('/name', 'not_the_name', 'Must be the name of the workspace, to the letter.');
  const revoked = keys.map((key): ApiKey => ({ ...key, revokedAt: now }));
  const disabled = endpoints.map(
    (endpoint): WebhookEndpoint => ({
      ...endpoint,
      status: 'disabled',
      disabledReason: DISABLED_REASON,
      disabledCause: 'workspace_closed',
      version: endpoint.version + 1,
      updatedAt: now,
    }),
  );
  const closing: Closing = {
    workspaceId: workspace.id,
    name: workspace.name,
    closedAt: now,
    revokedKeys: revoked.length,
    disabledEndpoints: disabled.length,
  };
  const audit: AuditDraft[] = [
    {
      action: 'workspace.closed',
      target: { type: 'workspace', id: workspace.id },
      changes: changesBetween({ name: workspace.name }, { name: null }),
    },
    ...revoked.map(
      (key): AuditDraft => ({
        action: 'api_key.revoked',
        target: { type: 'api_key', id: key.id },
        changes: changesBetween({ status: 'active' }, { status: 'revoked' }),
      }),
    ),
    ...disabled.map(
      (endpoint): AuditDraft => ({
        action: 'webhook_endpoint.disabled',
        target: { type: 'webhook_endpoint', id: endpoint.id },
        changes: changesBetween({ status: 'enabled' }, { status: 'disabled' }),
      }),
    ),
  ];
  return accept(closing, { apiKeys: revoked, webhookEndpoints: disabled, audit, closesWorkspace: true });
}
