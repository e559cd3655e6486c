// API keys: what a key is, its text form, and whether it holds at a moment. The secret itself is never kept, only its hash.
// Pure: randomness is handed in. Source: DESIGN §1.

import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type AuditAction, type AuditChanges, type AuditDraft, type AuditEntry, changesBetween } from './audit.ts';
import { accept, type Context, type Decision, reject, rejectField } from './decision.ts';
import type { Uuid } from './ids.ts';
import { covers, type Scope } from './scopes.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'tr_live_';

export interface ApiKey {
  readonly id: Uuid;
  readonly workspaceId: Uuid;
  readonly name: string;
  /** SHA-256 of the secret. */
  readonly hash: Buffer;
  /** The first characters of the secret, for people to tell keys apart. */
  readonly hint: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly createdAt: Date;
}

function base62(value: number, length: number): string {
  let text = '';
  for (let rest = value, i = 0; i < length; i++, rest = Math.floor(rest / 62)) text = BASE62[rest % 62] + text;
  return text;
}

/** `tr_live_` + 32 random base62 characters + 6 of their CRC-32, which lets secret scanners tell a real key from a look-alike. */
export function makeKeySecret(random: (bytes: Uint8Array) => void): string {
  let body = '';
  const bytes = new Uint8Array(64);
  while (body.length < 32) {
    random(bytes);
    for (const byte of bytes) if (byte < 248 && body.length < 32) body += BASE62[byte % 62];
  }
  return `${PREFIX}${body}${base62(crc32(`${PREFIX}${body}`), 6)}`;
}

export function hashKeySecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Enough to recognise a key by, too little to guess it: at most 12 characters and never more than a third. */
export function keyHint(secret: string): string {
  return secret.slice(0, Math.min(12, Math.floor(secret.length / 3)));
}

export type KeyRefusal = 'api_key_revoked' | 'api_key_expired';

/** Why a key does not hold at this moment, or null when it does. */
export function refuseKey(key: Pick<ApiKey, 'revokedAt' | 'expiresAt'>, now: Date): KeyRefusal | null {
  // Whatever the clocks of two machines say: revoked is revoked.
  if (key.revokedAt !== null) return 'api_key_revoked';
  if (key.expiresAt !== null && key.expiresAt <= now) return 'api_key_expired';
  return null;
}

/** The stored part of a secret that was just made. */
export interface KeyMaterial {
  readonly hash: Buffer;
  readonly hint: string;
}

export interface ApiKeyDraft {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  readonly material: KeyMaterial;
}

/** A new key. It gets no scope that its maker lacks, or a narrow key could make itself a wide one. */
export function decideKeyCreation(draft: ApiKeyDraft, heldScopes: readonly Scope[], context: Context): Decision<ApiKey> {
  const escalation = rejectEscalation(draft.scopes, heldScopes);
  if (escalation !== null) return escalation;
  if (draft.expiresAt !== null && draft.expiresAt <= context.now) {
    return rejectField('/expires_at', 'in_the_past', `expires_at must lie after ${context.now.toISOString()}.`);
  }
  const { material, ...fields } = draft;
  const key: ApiKey = {
    ...fields,
    ...material,
    id: context.newId(),
    workspaceId: context.workspace.id,
    revokedAt: null,
    createdAt: context.now,
  };
  return accept(key, { apiKeys: [key], audit: [audited('api_key.created', key, changesBetween(null, described(key)))] });
}

/** A new secret for a key's name and scopes. The old key goes on for the overlap, never longer than it would have lived; without one it is revoked. */
export function decideKeyRotation(
  key: ApiKey,
  overlapMs: number,
  material: KeyMaterial,
  heldScopes: readonly Scope[],
  context: Context,
): Decision<ApiKey> {
  const refusal = refuseKey(key, context.now);
  if (refusal !== null)
    return reject('invalid_transition', `The key is ${refusal === 'api_key_revoked' ? 'revoked' : 'expired'}; create a new one.`);
  const escalation = rejectEscalation(key.scopes, heldScopes);
  if (escalation !== null) return escalation;
  const overlapEnd = new Date(context.now.getTime() + overlapMs);
  const old: ApiKey = {
    ...key,
    expiresAt: key.expiresAt !== null && key.expiresAt < overlapEnd ? key.expiresAt : overlapEnd,
    revokedAt: overlapMs === 0 ? context.now : null,
  };
  const next: ApiKey = { ...key, ...material, id: context.newId(), createdAt: context.now };
  const before = { ends: key.expiresAt?.toISOString() ?? null };
  const after = { ends: (old.revokedAt ?? old.expiresAt)?.toISOString() ?? null };
  const audit = [
    audited('api_key.rotated', old, changesBetween(before, after)),
    audited('api_key.created', next, changesBetween(null, described(next))),
  ];
  return accept(next, { apiKeys: [old, next], audit });
}

/** A revoked key stays listed, and stays revoked: a second revocation changes nothing. */
export function decideKeyRevocation(key: ApiKey, context: Context): Decision<ApiKey> {
  if (key.revokedAt !== null) return accept(key);
  const revoked: ApiKey = { ...key, revokedAt: context.now };
  const changes = changesBetween({ status: 'active' }, { status: 'revoked' });
  return accept(revoked, { apiKeys: [revoked], audit: [audited('api_key.revoked', key, changes)] });
}

/** What the audit log says of a new key: nothing of its secret. */
const described = ({ name, scopes, expiresAt }: ApiKey) => ({ name, scopes, expires_at: expiresAt?.toISOString() ?? null });

const audited = (action: AuditAction, key: ApiKey, changes: AuditChanges): AuditDraft => ({
  action,
  target: { type: 'api_key', id: key.id },
  changes,
});

function rejectEscalation(wanted: readonly Scope[], held: readonly Scope[]): Decision<never> | null {
  if (covers(held, wanted)) return null;
  const missing = wanted.filter((scope) => !held.includes(scope));
  return reject('scope_escalation', `The calling key does not hold ${missing.join(', ')}.`);
}

/** What the audit log says of a key that a start of the server has made. */
export const entryOfStart = (key: ApiKey, id: Uuid): AuditEntry => ({
  id,
  workspaceId: key.workspaceId,
  actorType: 'system',
  actorId: null,
  actorName: 'Start of the server',
  action: 'api_key.created',
  targetType: 'api_key',
  targetId: key.id,
  changes: changesBetween(null, described(key)),
  ip: null,
  userAgent: null,
  createdAt: key.createdAt,
});
