// The records of one batch in memory: as loaded, then as each accepted command leaves them, so that the next one sees it.
// Writes them out at the end, each record once and in its final state. Decides nothing.

import type { AuditActor, AuditDraft, AuditEntry } from '../domain/audit.ts';
import { type ChangeHints, quietResourcesOf } from '../domain/change-hint.ts';
import type { Changes, Context } from '../domain/decision.ts';
import type { DeliveryAsk, LockedDelivery } from '../domain/delivery-repair.ts';
import { chainHash, type Event } from '../domain/event.ts';
import type { Uuid } from '../domain/ids.ts';
import type { LedgerEntry } from '../domain/ledger.ts';
import type { NewPerson } from '../domain/person.ts';
import type { SettingsChange, WorkspaceSettings } from '../domain/workspace.ts';
import { apiKeyTable } from '../store/api-keys.ts';
import { auditEntryTable } from '../store/audit-entries.ts';
import type { Queryable } from '../store/database.ts';
import { deliveryAskWrites } from '../store/delivery-asks.ts';
import { eventTable } from '../store/events.ts';
import { type Head, updateHeads } from '../store/heads.ts';
import { type IdempotencyRecord, insertIdempotencyRecords } from '../store/idempotency.ts';
import { invitationTable } from '../store/invitations.ts';
import { invoiceTable } from '../store/invoices.ts';
import { ledgerTable } from '../store/ledger.ts';
import { type MemberValidity, memberTable } from '../store/members.ts';
import { milestoneTable } from '../store/milestones.ts';
import { paymentTable } from '../store/payments.ts';
import { newPeopleWrites } from '../store/people.ts';
import { projectTable } from '../store/projects.ts';
import type { KeyValidity } from '../store/records.ts';
import { insertOf, sendWrites } from '../store/tables.ts';
import { webhookEndpointTable } from '../store/webhook-endpoints.ts';
import { webhookRepairTable } from '../store/webhook-repairs.ts';
import { settingsWrites } from '../store/workspace-settings.ts';
import type { Envelope, State } from './command.ts';
import { type Identified, Shelf } from './shelf.ts';

const of = <Entity extends Identified>(shelf: Shelf<Entity>, workspaceId: Uuid): Entity[] =>
  [...shelf.current.values()].filter((entity) => entity.workspaceId === workspaceId);

/** Beyond so many they are loaded anew, so that they do not gather for ever. */
const MAX_FOLLOWED_CALLERS = 512;

const SERVICE: AuditActor = { type: 'system', id: null, name: 'Tranche' };

export class WorkingSet {
  readonly projects = new Shelf(projectTable);
  readonly milestones = new Shelf(milestoneTable);
  readonly invoices = new Shelf(invoiceTable);
  readonly payments = new Shelf(paymentTable);
  readonly apiKeys = new Shelf(apiKeyTable);
  readonly webhookEndpoints = new Shelf(webhookEndpointTable);
  readonly webhookRepairs = new Shelf(webhookRepairTable);
  readonly members = new Shelf(memberTable);
  readonly invitations = new Shelf(invitationTable);
  readonly #deliveries = new Map<Uuid, LockedDelivery>();
  /** The last one of each delivery counts. */
  readonly #deliveryAsks = new Map<Uuid, DeliveryAsk>();
  readonly #callers = new Map<Uuid, KeyValidity>();
  readonly #settings = new Map<Uuid, WorkspaceSettings>();
  readonly #settingsChanges: SettingsChange[] = [];
  readonly #heads = new Map<Uuid, Head>();
  readonly #movedHeads = new Set<Uuid>();
  readonly #idempotency = new Map<string, IdempotencyRecord>();
  readonly #newIdempotency: IdempotencyRecord[] = [];
  readonly #entries: LedgerEntry[] = [];
  readonly #events: Event[] = [];
  readonly #audit: AuditEntry[] = [];
  readonly #memberCallers = new Map<string, MemberValidity>();
  readonly #closed = new Map<Uuid, Date>();
  readonly #people: NewPerson[] = [];
  readonly #changeHints = new Map<Uuid, Set<string>>();

  loadDeliveries(deliveries: readonly LockedDelivery[]): void {
    for (const delivery of deliveries) this.#deliveries.set(delivery.id, delivery);
  }

  loadSettings(settings: readonly WorkspaceSettings[]): void {
    for (const one of settings) this.#settings.set(one.id, one);
  }

  loadHeads(heads: readonly Head[]): void {
    for (const head of heads) this.#heads.set(head.workspace.id, head);
  }

  loadCallers(keys: readonly KeyValidity[]): void {
    for (const key of keys) this.#callers.set(key.id, key);
  }

  loadMemberCallers(members: readonly MemberValidity[]): void {
    for (const member of members) this.#memberCallers.set(`${member.workspaceId}:${member.personId}:${member.sessionId}`, member);
  }

  /** Whoever calls with a session, as they stand now: an earlier command of this batch may have removed the member or changed the role. */
  memberCaller(workspaceId: Uuid, personId: Uuid, sessionId: Uuid): Pick<MemberValidity, 'role' | 'holds'> {
    const { role = null, holds = false } = this.#memberCallers.get(`${workspaceId}:${personId}:${sessionId}`) ?? {};
    for (const member of this.members.current.values()) {
      if (member.workspaceId !== workspaceId || member.personId !== personId) continue;
      return { role: member.removedAt === null ? member.role : null, holds };
    }
    return { role, holds };
  }

  loadIdempotency(records: readonly IdempotencyRecord[]): void {
    for (const record of records) this.#idempotency.set(`${record.workspaceId}:${record.key}`, record);
  }

  /**
   * Takes over what the batch before leaves behind, in the workspaces that both have: the commit of transaction `writer` is under way.
   * For commands that `mayFollow`: what else a batch can change, it waits for.
   */
  follow(before: WorkingSet, writer: string, workspaceIds: readonly Uuid[]): void {
    this.projects.follow(before.projects);
    this.milestones.follow(before.milestones);
    this.payments.follow(before.payments);
    this.invoices.follow(before.invoices);
    this.apiKeys.follow(before.apiKeys);
    this.loadIdempotency(before.#newIdempotency);
    for (const id of workspaceIds) {
      const head = before.#heads.get(id);
      if (head !== undefined) this.#heads.set(id, before.#movedHeads.has(id) ? { ...head, writer } : head);
    }
  }

  /**
   * Takes over the calling keys that the batch before knows, and those that it changes. It looked at them under its heads' locks, or before
   * a look at the heads that has to hold: they are so for as long as its heads are as it leaves them.
   */
  followCallers(before: WorkingSet): void {
    const known = before.#callers.size > MAX_FOLLOWED_CALLERS ? [] : before.#callers.values();
    for (const { workspaceId, id } of [...known, ...before.changedKeys])
      if (before.#heads.has(workspaceId)) this.#callers.set(id, before.caller(workspaceId, id) as KeyValidity);
  }

  head(workspaceId: Uuid): Head | undefined {
    return this.#heads.get(workspaceId);
  }

  /** A calling key as it stands now: an earlier command of this batch may have revoked it. */
  caller(workspaceId: Uuid, keyId: Uuid): KeyValidity | undefined {
    const key = this.apiKeys.current.get(keyId) ?? this.#callers.get(keyId);
    return key?.workspaceId === workspaceId ? key : undefined;
  }

  idempotencyRecord(workspaceId: Uuid, key: string): IdempotencyRecord | undefined {
    return this.#idempotency.get(`${workspaceId}:${key}`);
  }

  stateOf(workspaceId: Uuid): State {
    return {
      project: (id) => this.projects.find(workspaceId, id),
      milestone: (id) => this.milestones.find(workspaceId, id),
      payment: (id) => this.payments.find(workspaceId, id),
      invoice: (id) => this.invoices.find(workspaceId, id),
      apiKey: (id) => this.apiKeys.find(workspaceId, id),
      webhookEndpoint: (id) => this.webhookEndpoints.find(workspaceId, id),
      webhookRepair: (id) => this.webhookRepairs.find(workspaceId, id),
      delivery: (id) => {
        const delivery = this.#deliveries.get(id);
        return delivery?.workspaceId === workspaceId ? delivery : undefined;
      },
      settings: () => this.#settings.get(workspaceId),
      invitation: (id) => this.invitations.find(workspaceId, id),
      members: () => of(this.members, workspaceId),
      pendingInvitations: () => of(this.invitations, workspaceId),
      liveKeys: () => of(this.apiKeys, workspaceId).filter((key) => key.revokedAt === null),
      liveEndpoints: () =>
        of(this.webhookEndpoints, workspaceId).filter((endpoint) => endpoint.status === 'enabled' && endpoint.deletedAt === null),
    };
  }

  contextOf(head: Head, clock: Date, newId: () => Uuid): Context {
    return {
      workspace: head.workspace,
      now: clock > head.lastTime ? clock : head.lastTime,
      newId,
      nextInvoiceNumber: head.invoiceNumber + 1,
      lastSeq: head.eventSeq,
    };
  }

  /**
   * Takes an accepted decision over: numbers and chains its events, and moves the head on. For a stored answer too: whoever read without
   * a lock learns by the head alone that there is one. What changes nothing and stores nothing leaves no trace.
   */
  apply(
    changes: Changes,
    context: Context,
    idempotency: IdempotencyRecord | null,
    asked: Pick<Envelope<unknown>, 'keyId' | 'stamp'>,
  ): void {
    if (Object.keys(changes).length === 0 && idempotency === null) return;
    const invoicesBefore = this.invoices.inserted.size;
    this.projects.put(changes.projects);
    this.milestones.put(changes.milestones);
    this.invoices.put(changes.invoices);
    this.payments.put(changes.payments);
    this.apiKeys.put(changes.apiKeys);
    this.webhookEndpoints.put(changes.webhookEndpoints);
    this.webhookRepairs.put(changes.webhookRepairs);
    this.members.put(changes.members);
    this.invitations.put(changes.invitations);
    for (const { delivery, ask } of changes.deliveries ?? []) {
      this.#deliveries.set(delivery.id, delivery);
      this.#deliveryAsks.set(delivery.id, ask);
    }
    if (changes.entries !== undefined) this.#entries.push(...changes.entries);
    if (changes.people !== undefined) this.#people.push(...changes.people);
    if (idempotency !== null) {
      this.#idempotency.set(`${idempotency.workspaceId}:${idempotency.key}`, idempotency);
      this.#newIdempotency.push(idempotency);
    }
    const workspaceId = context.workspace.id;
    const head = this.#heads.get(workspaceId) as Head;
    const next = { ...head, invoiceNumber: head.invoiceNumber + this.invoices.inserted.size - invoicesBefore, lastTime: context.now };
    if (changes.settings !== undefined) {
      const { settings } = changes.settings;
      this.#settings.set(workspaceId, settings);
      this.#settingsChanges.push(changes.settings);
      const { name, defaultCurrency, invoicePrefix } = settings;
      next.workspace = { ...next.workspace, name, defaultCurrency, invoicePrefix };
    }
    for (const draft of changes.events ?? []) {
      const unhashed = { ...draft, id: context.newId(), workspaceId, seq: next.eventSeq + 1, createdAt: context.now };
      const event = { ...unhashed, hash: chainHash(next.eventHash, unhashed) };
      this.#events.push(event);
      next.eventSeq = event.seq;
      next.eventHash = event.hash;
    }
    if (changes.audit !== undefined) this.#note(changes.audit, context, asked);
    this.#hint(workspaceId, quietResourcesOf(changes));
    if (changes.closesWorkspace === true) {
      next.workspace = { ...next.workspace, closedAt: context.now };
      this.#closed.set(workspaceId, context.now);
    }
    this.#heads.set(workspaceId, next);
    this.#movedHeads.add(workspaceId);
  }

  #note(drafts: readonly AuditDraft[], context: Context, { keyId, stamp }: Pick<Envelope<unknown>, 'keyId' | 'stamp'>): void {
    const actor: AuditActor = stamp?.actor ?? (keyId === null ? SERVICE : { type: 'key', id: keyId, name: null });
    for (const { action, target, changes } of drafts) {
      this.#audit.push({
        id: context.newId(),
        workspaceId: context.workspace.id,
        actorType: actor.type,
        actorId: actor.id,
        actorName: actor.name,
        action,
        targetType: target.type,
        targetId: target.id,
        changes,
        ip: stamp?.origin?.ip ?? null,
        userAgent: stamp?.origin?.userAgent ?? null,
        createdAt: context.now,
      });
    }
  }

  #hint(workspaceId: Uuid, resources: readonly string[]): void {
    if (resources.length === 0) return;
    const known = this.#changeHints.get(workspaceId) ?? new Set();
    this.#changeHints.set(workspaceId, known);
    for (const resource of resources) known.add(resource);
  }

  /** What changed without an event. */
  get changeHints(): ChangeHints {
    return this.#changeHints;
  }

  get closedWorkspaces(): readonly { readonly id: Uuid; readonly closedAt: Date }[] {
    return Array.from(this.#closed, ([id, closedAt]) => ({ id, closedAt }));
  }

  get changedMembers(): boolean {
    return this.members.inserted.size + this.members.updated.size + this.#closed.size > 0;
  }

  /** The workspaces that have new events. */
  get toldWorkspaces(): readonly Uuid[] {
    return [...new Set(this.#events.map((event) => event.workspaceId))];
  }

  /** Keys that existed and changed: revoked, or given an end by a rotation. */
  get changedKeys(): readonly Identified[] {
    return Array.from(this.apiKeys.updated, (id) => this.apiKeys.current.get(id) as Identified);
  }

  /** Sends every write of the batch, as one statement: foreign keys and links are checked when it is done. */
  async write(transaction: Queryable): Promise<void> {
    const writes = [
      ...this.projects.writes(),
      ...this.milestones.writes(),
      ...this.invoices.writes(),
      ...this.payments.writes(),
      ...this.apiKeys.writes(),
      ...this.webhookEndpoints.writes(),
      ...this.webhookRepairs.writes(),
      ...deliveryAskWrites([...this.#deliveryAsks.values()]),
      ...settingsWrites(this.#settingsChanges),
    ];
    if (this.#people.length > 0) writes.push(...newPeopleWrites(this.#people));
    writes.push(...this.members.writes(), ...this.invitations.writes());
    if (this.#audit.length > 0) writes.push(insertOf(auditEntryTable, this.#audit));
    if (this.#entries.length > 0) writes.push(insertOf(ledgerTable, this.#entries));
    if (this.#events.length > 0) writes.push(insertOf(eventTable, this.#events));
    if (this.#newIdempotency.length > 0) writes.push(insertIdempotencyRecords(this.#newIdempotency));
    if (this.#movedHeads.size > 0) writes.push(updateHeads(Array.from(this.#movedHeads, (id) => this.#heads.get(id) as Head)));
    await sendWrites(transaction, writes);
  }
}
