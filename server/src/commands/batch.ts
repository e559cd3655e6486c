// One batch of commands in one transaction: lock the heads, load in bulk, decide each in turn, write in bulk.
// Knows nothing of queues and retries; lane.ts does. Running it again after a failure loads and decides anew.

import { hash } from 'node:crypto';
import { refuseKey } from '../domain/api-key.ts';
import type { Refusal } from '../domain/errors.ts';
import type { Uuid } from '../domain/ids.ts';
import { roleCovers } from '../domain/roles.ts';
import type { Database, Queryable } from '../store/database.ts';
import { loadEndpointsOf, lockDeliveries } from '../store/delivery-asks.ts';
import { closeWorkspaces, type Head, lockHeads } from '../store/heads.ts';
import { findIdempotencyRecords, type IdempotencyRecord } from '../store/idempotency.ts';
import { loadMembersOf, loadMemberValidity } from '../store/members.ts';
import {
  loadApiKeys,
  loadInvitations,
  loadInvoicesOf,
  loadKeyValidity,
  loadLiveEndpoints,
  loadLiveKeys,
  loadMilestones,
  loadPayments,
  loadProjects,
  loadWebhookEndpoints,
  type RecordKey,
} from '../store/records.ts';
import { lockWebhookRepairs } from '../store/webhook-repairs.ts';
import { loadSettings } from '../store/workspace-settings.ts';
import type { Command, Idempotency, MemberCaller, Needs, Outcome, StoredAnswer } from './command.ts';
import { WorkingSet } from './working-set.ts';

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
}

// biome-ignore lint/suspicious/noExplicitAny: a batch mixes commands whose results differ; each is decided and rendered by itself.
export type AnyCommand = Command<any>;

export function runBatch(commands: readonly AnyCommand[], mode: 'skip' | 'wait', services: BatchServices): Promise<BatchResult> {
  return services.database.transaction(async (transaction) => {
    const workspaceIds = [...new Set(commands.map((command) => command.workspaceId))];
    // Sent together, run one after the other: each load sees what was committed when the locks were already held.
    const locking = lockHeads(transaction, workspaceIds, mode);
    const [heads, set] = await Promise.all([locking, loadWorkingSet(transaction, commands)]);
    set.loadHeads(heads);
    const clock = services.clock();
    const results = commands.map((command) =>
      set.head(command.workspaceId) === undefined ? null : decideOne(command, set, clock, services),
    );
    // Not awaited, so that COMMIT travels with the writes. They belong to the transaction: if one fails, so does the whole, with its error.
    set.write(transaction).catch(() => undefined);
    if (set.closedWorkspaces.length > 0) closeWorkspaces(transaction, set.closedWorkspaces).catch(() => undefined);
    return { results, toldWorkspaces: set.toldWorkspaces, changedKeys: set.changedKeys, changedMembers: set.changedMembers };
  });
}

/** Every record that some command of the batch names, one statement a table, all sent at once. */
async function loadWorkingSet(transaction: Queryable, commands: readonly AnyCommand[]): Promise<WorkingSet> {
  const set = new WorkingSet();
  const milestones = namedBy(commands, 'milestoneId');
  const projects = namedBy(commands, 'projectId');
  const payments = namedBy(commands, 'paymentId');
  const endpoints = namedBy(commands, 'webhookEndpointId');
  const repairs = namedBy(commands, 'webhookRepairId');
  const deliveries = namedBy(commands, 'deliveryId');
  const keys = namedBy(commands, 'apiKeyId');
  const callers = distinct(commands.flatMap(({ workspaceId, keyId }) => (keyId === null ? [] : [{ workspaceId, id: keyId }])));
  const idempotency = commands.flatMap(({ workspaceId, idempotency: used }) => (used === null ? [] : [{ workspaceId, key: used.key }]));
  const settings = [...new Set(commands.flatMap(({ workspaceId, needs }) => (needs.settings === true ? [workspaceId] : [])))];
  const loads: Promise<void>[] = [];
  loadPeople(transaction, commands, set, loads);
  if (callers.length > 0) loads.push(loadKeyValidity(transaction, callers).then((found) => set.loadCallers(found)));
  if (keys.length > 0) loads.push(loadApiKeys(transaction, keys).then((found) => set.apiKeys.load(found)));
  if (idempotency.length > 0) loads.push(findIdempotencyRecords(transaction, idempotency).then((found) => set.loadIdempotency(found)));
  if (milestones.length > 0) loads.push(loadMilestones(transaction, milestones).then((found) => set.milestones.load(found)));
  if (projects.length + milestones.length > 0)
    loads.push(loadProjects(transaction, projects, milestones).then((found) => set.projects.load(found)));
  if (payments.length > 0) {
    loads.push(loadPayments(transaction, payments).then((found) => set.payments.load(found)));
    loads.push(loadInvoicesOf(transaction, payments).then((found) => set.invoices.load(found)));
  }
  if (endpoints.length > 0) loads.push(loadWebhookEndpoints(transaction, endpoints).then((found) => set.webhookEndpoints.load(found)));
  if (deliveries.length > 0) {
    loads.push(lockDeliveries(transaction, deliveries).then((found) => set.loadDeliveries(found)));
    loads.push(loadEndpointsOf(transaction, deliveries).then((found) => set.webhookEndpoints.load(found)));
  }
  if (settings.length > 0) loads.push(loadSettings(transaction, settings).then((found) => set.loadSettings(found)));
  // After the deliveries, as a step of a repair locks them, or the two would wait for each other.
  if (repairs.length > 0) loads.push(lockWebhookRepairs(transaction, repairs).then((found) => set.webhookRepairs.load(found)));
  await Promise.all(loads);
  return set;
}

/** Nothing is asked where no command of the batch comes from a person or concerns members. */
function loadPeople(transaction: Queryable, commands: readonly AnyCommand[], set: WorkingSet, loads: Promise<void>[]): void {
  let concerned = false;
  for (const { member, needs } of commands)
    concerned ||= member !== null || needs.members === true || needs.invitationId !== undefined || needs.holdings === true;
  if (!concerned) return;
  const callers = commands.flatMap(({ workspaceId, member }) => (member === null ? [] : [{ workspaceId, ...member }]));
  const of = (need: 'members' | 'holdings'): Uuid[] => [
    ...new Set(commands.flatMap(({ workspaceId, needs }) => (needs[need] === true ? [workspaceId] : []))),
  ];
  const invitations = namedBy(commands, 'invitationId');
  const members = of('members');
  const holdings = of('holdings');
  if (callers.length > 0) loads.push(loadMemberValidity(transaction, callers).then((found) => set.loadMemberCallers(found)));
  if (members.length > 0) loads.push(loadMembersOf(transaction, members).then((found) => set.members.load(found)));
  if (invitations.length > 0) loads.push(loadInvitations(transaction, invitations).then((found) => set.invitations.load(found)));
  if (holdings.length > 0) {
    loads.push(loadLiveKeys(transaction, holdings).then((found) => set.apiKeys.load(found)));
    loads.push(loadLiveEndpoints(transaction, holdings).then((found) => set.webhookEndpoints.load(found)));
  }
}

type SingleNeed = { [Need in keyof Needs]-?: Exclude<Needs[Need], undefined> extends Uuid ? Need : never }[keyof Needs];

function namedBy(commands: readonly AnyCommand[], need: SingleNeed): RecordKey[] {
  const keys: RecordKey[] = [];
  for (const { workspaceId, needs } of commands) {
    const id = needs[need];
    if (id !== undefined) keys.push({ workspaceId, id });
  }
  return distinct(keys);
}

function distinct(keys: readonly RecordKey[]): RecordKey[] {
  return [...new Map(keys.map((key) => [`${key.workspaceId}:${key.id}`, key])).values()];
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
  if (current === undefined)
    return { code: 'not_a_member', detail: 'Whoever is signed in is not a member of this workspace any more; nothing was changed.' };
  if (!current.holds)
    return { code: 'not_signed_in', detail: 'The session ended before this request was carried out; nothing was changed.' };
  return roleCovers(current.role, role)
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
