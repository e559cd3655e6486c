// How a batch gets its records: the heads, locked or behind another batch, and every record that some command names.
// Reads and locks only; decides nothing and writes nothing.

import type { Uuid } from '../domain/ids.ts';
import type { Queryable } from '../store/database.ts';
import { loadEndpointsOf, lockDeliveries } from '../store/delivery-asks.ts';
import { type Head, holdHeads, lockHeads, readHeads } from '../store/heads.ts';
import { findIdempotencyRecords } from '../store/idempotency.ts';
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
  loadPendingInvitations,
  loadProjects,
  loadWebhookEndpoints,
  type RecordKey,
} from '../store/records.ts';
import { lockWebhookRepairs } from '../store/webhook-repairs.ts';
import { loadSettings } from '../store/workspace-settings.ts';
import type { AnyCommand, Needs } from './command.ts';
import { WorkingSet } from './working-set.ts';

/** What a batch leaves to the next one while its own COMMIT is under way. */
export interface Ahead {
  readonly set: WorkingSet;
  /** Its transaction, as the heads will name it that it has moved. */
  readonly writer: string;
  /** Resolves when its heads are locked. Whoever asks for a lock that is just being handed on may get it before the one that waits for it. */
  readonly held: Promise<void>;
}

/**
 * `skip` leaves out workspaces whose lock another process holds, `wait` waits for it, a number for so many milliseconds. Behind
 * another batch nothing is locked until the writes are sent: it is decided on what that one leaves, and fails, to be run again, if anything
 * else came of it.
 */
export type Mode = 'skip' | 'wait' | number | Ahead;

interface Opened {
  readonly set: WorkingSet;
  /** Locks what was only read, ahead of the writes; null where it is locked already. */
  readonly hold: (() => Promise<void>) | null;
}

export async function openWorkingSet(
  transaction: Queryable,
  commands: readonly AnyCommand[],
  workspaceIds: readonly Uuid[],
  mode: Mode,
): Promise<Opened> {
  if (typeof mode !== 'object') {
    // Sent together, run one after the other: each load sees what was committed when the locks were already held.
    const [heads, set] = await Promise.all([lockHeads(transaction, workspaceIds, mode), loadWorkingSet(transaction, commands, null)]);
    set.loadHeads(heads);
    return { set, hold: null };
  }
  const before = mode.set;
  const others = workspaceIds.filter((id) => before.head(id) === undefined);
  const [read, set] = await Promise.all([
    others.length === 0 ? [] : readHeads(transaction, others),
    loadWorkingSet(transaction, commands, before),
  ]);
  set.loadHeads(read);
  set.follow(before, mode.writer, workspaceIds);
  const followed = workspaceIds.flatMap((id) => (before.head(id) === undefined ? [] : [set.head(id) as Head]));
  return {
    set,
    async hold() {
      await Promise.all([holdHeads(transaction, followed, 'wait'), holdHeads(transaction, read, 'skip')]);
    },
  };
}

const followers: Readonly<Record<keyof Needs, boolean>> = {
  projectId: true,
  milestoneId: true,
  paymentId: true,
  apiKeyId: false,
  webhookEndpointId: false,
  webhookRepairId: false,
  deliveryId: false,
  invitationId: false,
  settings: false,
  members: false,
  pendingInvitations: false,
  holdings: false,
};

/** Whether it may be decided behind a batch whose commit is under way: what it looks at changes in the lane alone, and comes in numbers. */
export function mayFollow({ member, needs }: AnyCommand): boolean {
  if (member !== null) return false;
  for (const need in needs) if (!followers[need as keyof Needs]) return false;
  return true;
}

/** Every record that some command of the batch names, one statement a table, all sent at once; calling keys as the batch before knows them. */
async function loadWorkingSet(transaction: Queryable, commands: readonly AnyCommand[], before: WorkingSet | null): Promise<WorkingSet> {
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
  if (before !== null) set.followCallers(before);
  const unknown = callers.filter(({ workspaceId, id }) => set.caller(workspaceId, id) === undefined);
  if (unknown.length > 0) loads.push(loadKeyValidity(transaction, unknown).then((found) => set.loadCallers(found)));
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
  const of = (need: 'members' | 'pendingInvitations' | 'holdings'): Uuid[] => [
    ...new Set(commands.flatMap(({ workspaceId, needs }) => (needs[need] === true ? [workspaceId] : []))),
  ];
  const invitations = namedBy(commands, 'invitationId');
  const members = of('members');
  const inviting = of('pendingInvitations');
  const holdings = of('holdings');
  if (callers.length > 0) loads.push(loadMemberValidity(transaction, callers).then((found) => set.loadMemberCallers(found)));
  if (members.length > 0) loads.push(loadMembersOf(transaction, members).then((found) => set.members.load(found)));
  if (invitations.length > 0) loads.push(loadInvitations(transaction, invitations).then((found) => set.invitations.load(found)));
  if (inviting.length > 0) loads.push(loadPendingInvitations(transaction, inviting).then((found) => set.invitations.load(found)));
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
