// Entries of the audit log in words: what was done, to what, and how a change reads.
// Pure. What an entry does not say is not guessed.

import type { AuditAction, AuditActor, AuditEntry } from '../../client/sdk.ts';
import { wordsOf } from '../../ui/status-badge.tsx';

export const actionWords: Readonly<Record<AuditAction, string>> = {
  'workspace.created': 'Workspace created',
  'workspace.updated': 'Settings changed',
  'workspace.closed': 'Workspace closed',
  'member.added': 'Member added',
  'member.role_changed': 'Role changed',
  'member.removed': 'Member removed',
  'member.password_reset': 'Password reset by the operator',
  'invitation.created': 'Invitation sent',
  'invitation.revoked': 'Invitation revoked',
  'invitation.accepted': 'Invitation accepted',
  'api_key.created': 'API key created',
  'api_key.rotated': 'API key rotated',
  'api_key.revoked': 'API key revoked',
  'webhook_endpoint.created': 'Endpoint created',
  'webhook_endpoint.updated': 'Endpoint changed',
  'webhook_endpoint.secret_rotated': 'Endpoint secret rotated',
  'webhook_endpoint.disabled': 'Endpoint disabled',
  'webhook_endpoint.deleted': 'Endpoint deleted',
  'webhook_repair.created': 'Webhooks repaired in bulk',
  'webhook_repair.stopped': 'Repair of webhooks stopped',
};

/** An action that this page does not know yet is shown by its name. */
export const wordsOfAction = (action: string): string => (actionWords as Readonly<Record<string, string | undefined>>)[action] ?? action;

export function wordsOfActor({ type, name, id }: AuditActor): string {
  if (type === 'system') return 'Operator or service';
  const called = name ?? id ?? 'Unknown';
  return type === 'key' ? `Key ${called}` : called;
}

/** What it was done to, as far as the entry itself or `names` (by id) say. */
export function subjectOf({ target, changes }: AuditEntry, names: ReadonlyMap<string, string>): string | null {
  const known = names.get(target.id);
  if (known !== undefined) return known;
  for (const field of ['name', 'email', 'url']) {
    const change = changes.find((one) => one.field === field);
    const value = change?.to ?? change?.from;
    if (value != null) return value;
  }
  return null;
}

/** In one line, beside the subject: `Role: viewer → finance`; how many more there are where one is not all. */
export function summaryOf(entry: AuditEntry, subject: string | null): string {
  // What something new is called stands there already.
  const changes = entry.changes.filter(({ from, to }) => from !== null || to === null || to !== subject);
  const [first] = changes;
  if (first === undefined) return '';
  const value = (text: string | null): string => text ?? 'nothing';
  const said =
    first.from === null
      ? `${wordsOf(first.field)}: ${value(first.to)}`
      : `${wordsOf(first.field)}: ${value(first.from)} → ${value(first.to)}`;
  return changes.length === 1 ? said : `${said}, and ${changes.length - 1} more`;
}
