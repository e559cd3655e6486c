// The audit log: who changed which setting, key, role, member, invitation, endpoint or delivery in bulk, when, from where, and what was changed.
// Pure. An entry never holds a secret: what goes in is named field by field, and values of secret fields are not among them.

import { isDeepStrictEqual } from 'node:util';
import type { IdKind, Uuid } from './ids.ts';

export const auditActions = {
  'workspace.created': 'A workspace was created.',
  'workspace.updated': 'Settings of the workspace were changed.',
  'workspace.closed': 'The workspace was closed.',
  'member.added': 'Somebody became a member: by setting up the server, by creating the workspace or by accepting an invitation.',
  'member.role_changed': 'A member was given another role.',
  'member.removed': 'A member was removed or left.',
  'member.password_reset':
    'The operator gave a member a new password at the command line, turned the second factor off and ended the sessions.',
  'invitation.created': 'Somebody was invited.',
  'invitation.revoked': 'An invitation was revoked.',
  'invitation.accepted': 'An invitation was accepted.',
  'api_key.created': 'An API key was created.',
  'api_key.rotated': 'An API key was replaced by a new one.',
  'api_key.revoked': 'An API key was revoked.',
  'webhook_endpoint.created': 'A webhook endpoint was created.',
  'webhook_endpoint.updated': 'A webhook endpoint was changed.',
  'webhook_endpoint.secret_rotated': 'A webhook endpoint was given a new secret.',
  'webhook_endpoint.disabled': 'A webhook endpoint was disabled by the service, because it failed or said that it is gone.',
  'webhook_endpoint.deleted': 'A webhook endpoint was deleted.',
  'webhook_repair.created': 'Deliveries were sent again, made up for or cancelled in bulk. Dry runs change nothing and are not here.',
  'webhook_repair.stopped': 'Such a repair was stopped.',
} as const;

export type AuditAction = keyof typeof auditActions;
export const allAuditActions = Object.keys(auditActions) as [AuditAction, ...AuditAction[]];

export const auditTargets = [
  'workspace',
  'member',
  'invitation',
  'api_key',
  'webhook_endpoint',
  'webhook_repair',
] as const satisfies readonly IdKind[];
export type AuditTarget = (typeof auditTargets)[number];

export const auditActorTypes = ['person', 'key', 'system'] as const;
export type AuditActorType = (typeof auditActorTypes)[number];

export type AuditValue = null | boolean | number | string | readonly string[];

/** What one field was before and is now; null for nothing. */
export interface FieldChange {
  readonly from: AuditValue;
  readonly to: AuditValue;
}

export type AuditChanges = Readonly<Record<string, FieldChange>>;

/** What a decision says of its change; who asked, from where and when is added where it is carried out. */
export interface AuditDraft {
  readonly action: AuditAction;
  readonly target: { readonly type: AuditTarget; readonly id: Uuid };
  readonly changes: AuditChanges;
}

export interface AuditActor {
  readonly type: AuditActorType;
  /** The person's or the key's; null for the service itself and its operator. */
  readonly id: Uuid | null;
  /** As it was then; null where it is looked up by the id, since keys keep their names. */
  readonly name: string | null;
}

export interface AuditEntry {
  readonly id: Uuid;
  readonly workspaceId: Uuid;
  readonly actorType: AuditActorType;
  readonly actorId: Uuid | null;
  readonly actorName: string | null;
  readonly action: AuditAction;
  readonly targetType: AuditTarget;
  readonly targetId: Uuid;
  readonly changes: AuditChanges;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly createdAt: Date;
}

type Fields = Readonly<Record<string, AuditValue>>;

/** The fields that differ; every field of something new, whose `before` is null. */
export function changesBetween(before: Fields | null, after: Fields | null): AuditChanges {
  const changes: Record<string, FieldChange> = {};
  for (const name of Object.keys(after ?? before ?? {})) {
    const from = before?.[name] ?? null;
    const to = after?.[name] ?? null;
    if (!isDeepStrictEqual(from, to)) changes[name] = { from, to };
  }
  return changes;
}
