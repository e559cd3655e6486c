// One batch of commands in one transaction: lock the heads, load in bulk, decide each in turn, write in bulk.
// Knows nothing of queues and retries; lane.ts does. Running it again after a failure loads and decides anew.

import { hash } from 'node:crypto';
import { refuseKey } from '../domain/api-key.ts';
import type { ChangeHints } from '../domain/change-hint.ts';
import type { Refusal } from '../domain/errors.ts';
import type { Uuid } from '../domain/ids.ts';
import { roleCovers } from '../domain/roles.ts';
import { type Database, TransactionAborted } from '../store/database.ts';
import { closeWorkspaces, type Head } from '../store/heads.ts';
import type { IdempotencyRecord } from '../store/idempotency.ts';
import type { RecordKey } from '../store/records.ts';
import type { AnyCommand, Idempotency, MemberCaller, Outcome, StoredAnswer } from './command.ts';
import { type Ahead, type Mode, openWorkingSet } from './open-working-set.ts';
import type { WorkingSet } from './working-set.ts';

export interface BatchServices {
  readonly database: Database;
  readonly clock: () => Date;
  readonly newId: () => Uuid;
  /** Encrypts answers that carry a secret; the context binds the text to its place. */
  readonly cipher: { seal(text: string, context: string): string; open(sealed: string, context: string): string };
}

/** What became of one command. A thrown error is a defect of ours and concerns that command alone. */
export type CommandResult = { readonly outcome: Outcome } | { readonly error: unknown };

export interface BatchResult {
  /** In the order of the commands; null where another process held the workspace and the command must wait. */
  readonly results: readonly (CommandResult | null)[];
  /** The workspaces that have new events. */
  readonly toldWorkspaces: readonly Uuid[];
  readonly changedKeys: readonly RecordKey[];
  /** Whether who is a member, or as what, was changed. */
  readonly changedMembers: boolean;
  /** What changed without an event. */
  readonly changeHints: ChangeHints;
}

/** `onSent` is told before COMMIT is answered, and so before it is known whether it comes to that. */
export function runBatch(
  commands: readonly AnyCommand[],
  mode: Mode,
  services: BatchServices,
  onSent: (ahead: Ahead) => void = () => undefined,
): Promise<BatchResult> {
  return services.database.transaction(async (transaction) => {
    const workspaceIds = [...new Set(commands.map((command) => command.workspaceId))];
    const [writer, { set, hold }] = await Promise.all([transaction.id, openWorkingSet(transaction, commands, workspaceIds, mode)]);
    const clock = services.clock();
    const results = commands.map((command) =>
      set.head(command.workspaceId) === undefined ? null : decideOne(command, set, clock, services),
    );
    // A lock that is just being handed on goes to whoever asks at that moment: before the batch ahead has it, nobody behind it asks.
    if (typeof mode === 'object') await mode.held.catch(notHeldAhead);
    const held = hold?.() ?? Promise.resolve();
    held.catch(() => undefined);
    // Not awaited, so that COMMIT travels with the writes. They belong to the transaction: if one fails, so does the whole, with its error.
    set.write(transaction).catch(() => undefined);
    if (set.closedWorkspaces.length > 0) closeWorkspaces(transaction, set.closedWorkspaces).catch(() => undefined);
    onSent({ set, writer, held });
    const { toldWorkspaces, changedKeys, changedMembers, changeHints } = set;
    return { results, toldWorkspaces, changedKeys, changedMembers, changeHints };
  });
}

/** Not the failure itself, which may be one of the other batch's connection and says nothing of this one's. */
function notHeldAhead(cause: unknown): never {
  throw new TransactionAborted('The batch ahead did not get its locks.', { cause });
}

/** Nothing of a refused or failed command reaches the working set: the next one finds it as if this one had never been. */
function decideOne(command: AnyCommand, set: WorkingSet, clock: Date, services: BatchServices): CommandResult {
  try {
    const context = set.contextOf(set.head(command.workspaceId) as Head, clock, services.newId);
    const refusal = refuseCaller(command, set, context.now);
    if (refusal !== null) return { outcome: refusal };
    const repeated = replay(command, set, services);
    if (repeated !== null) return { outcome: repeated };
    // After the replay, so that whoever closed it can repeat that.
    if (context.workspace.closedAt !== null) return { outcome: CLOSED };
    const decision = command.decide(set.stateOf(command.workspaceId), context);
    if (!decision.accepted) return { outcome: decision.refusal };
    const answer = command.render(decision.result);
    set.apply(decision.changes, context, storedAnswer(command, answer, context.now, services), command);
    return { outcome: answer };
  } catch (error) {
    return { error };
  }
}

/** The key or the member is looked at again under the lock: after a revocation no write commits, whatever a cache still believes. */
function refuseCaller(command: AnyCommand, set: WorkingSet, now: Date): Refusal | null {
  if (command.member !== null) return refuseMember(command, command.member, set);
  if (command.keyId === null) return null;
  const key = set.caller(command.workspaceId, command.keyId);
  if (key === undefined) return { code: 'invalid_api_key', detail: 'The API key does not exist any more.' };
  const code = refuseKey(key, now);
  return code === null
    ? null
    : { code, detail: 'The API key stopped being valid before this request was carried out; nothing was changed.' };
}

function refuseMember({ workspaceId }: AnyCommand, { sessionId, personId, role }: MemberCaller, set: WorkingSet): Refusal | null {
  const current = set.memberCaller(workspaceId, personId, sessionId);
  if (role !== null && current.role === null)
    return { code: 'not_a_member', detail: 'Whoever is signed in is not a member of this workspace any more; nothing was changed.' };
  if (!current.holds)
    return { code: 'not_signed_in', detail: 'The session ended before this request was carried out; nothing was changed.' };
  return role === null || (current.role !== null && roleCovers(current.role, role))
    ? null
    : { code: 'insufficient_scope', detail: 'The role was changed before this request was carried out; nothing was changed.' };
}

const CLOSED: Refusal = { code: 'workspace_closed', detail: 'The workspace was closed; nothing in it changes any more.' };

function replay(command: AnyCommand, set: WorkingSet, services: BatchServices): Outcome | null {
  if (command.idempotency === null) return null;
  const record = set.idempotencyRecord(command.workspaceId, command.idempotency.key);
  if (record === undefined) return null;
  if (!record.fingerprint.equals(fingerprintOf(command, command.idempotency))) {
    return { code: 'idempotency_key_reused', detail: 'This Idempotency-Key was used for a request with another method, path or body.' };
  }
  const body = record.sealed ? services.cipher.open(record.body, answerContext(record.workspaceId, record.key)) : record.body;
  return { status: record.status, headers: { ...record.headers, 'idempotent-replayed': 'true' }, body };
}

function storedAnswer(command: AnyCommand, answer: StoredAnswer, now: Date, services: BatchServices): IdempotencyRecord | null {
  if (command.idempotency === null) return null;
  const { workspaceId, secretAnswer: sealed } = command;
  const { key } = command.idempotency;
  const fingerprint = fingerprintOf(command, command.idempotency);
  const body = sealed ? services.cipher.seal(answer.body, answerContext(workspaceId, key)) : answer.body;
  return { workspaceId, key, fingerprint, status: answer.status, headers: answer.headers, body, sealed, createdAt: now };
}

/** An answer with a secret is repeated to the key that asked for it and to no other: what one may be told depends on who asks. */
function fingerprintOf(command: AnyCommand, { fingerprint }: Idempotency): Buffer {
  return command.secretAnswer
    ? hash('sha256', Buffer.concat([fingerprint, Buffer.from(String(command.keyId ?? command.member?.personId ?? null))]), 'buffer')
    : fingerprint;
}

const answerContext = (workspaceId: Uuid, key: string): string => `answer:${workspaceId}:${key}`;
