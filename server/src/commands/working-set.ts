// The records of one batch in memory: as loaded, then as each accepted command leaves them, so that the next one sees it.
// Writes them out at the end, each record once and in its final state. Decides nothing.

import type { Changes, Context } from '../domain/decision.ts';
import type { DeliveryAsk, LockedDelivery } from '../domain/delivery-repair.ts';
import { chainHash, type Event } from '../domain/event.ts';
import type { Uuid } from '../domain/ids.ts';
import type { LedgerEntry } from '../domain/ledger.ts';
import { apiKeyTable } from '../store/api-keys.ts';
import type { Queryable } from '../store/database.ts';
import { deliveryAskWrites } from '../store/delivery-asks.ts';
import { eventTable } from '../store/events.ts';
import { type Head, updateHeads } from '../store/heads.ts';
import { type IdempotencyRecord, insertIdempotencyRecords } from '../store/idempotency.ts';
import { invoiceTable } from '../store/invoices.ts';
import { ledgerTable } from '../store/ledger.ts';
import { milestoneTable } from '../store/milestones.ts';
import { paymentTable } from '../store/payments.ts';
import { projectTable } from '../store/projects.ts';
import type { KeyValidity } from '../store/records.ts';
import { insertOf, sendWrites, type Table, updateOf, type Write } from '../store/tables.ts';
import { webhookEndpointTable } from '../store/webhook-endpoints.ts';
import { webhookRepairTable } from '../store/webhook-repairs.ts';
import type { State } from './command.ts';

interface Identified {
  readonly workspaceId: Uuid;
  readonly id: Uuid;
}

/** The records of one table, keyed by id. An id is looked up for one workspace: another's record is as good as absent. */
class Shelf<Entity extends Identified> {
  readonly table: Table<Entity>;
  readonly current = new Map<Uuid, Entity>();
  readonly inserted = new Set<Uuid>();
  readonly updated = new Set<Uuid>();

  constructor(table: Table<Entity>) {
    this.table = table;
  }

  load(entities: readonly Entity[]): void {
    for (const entity of entities) this.current.set(entity.id, entity);
  }

  find(workspaceId: Uuid, id: Uuid): Entity | undefined {
    const entity = this.current.get(id);
    return entity?.workspaceId === workspaceId ? entity : undefined;
  }

  put(entities: readonly Entity[] = []): void {
    for (const entity of entities) {
      if (!this.current.has(entity.id)) this.inserted.add(entity.id);
      else if (!this.inserted.has(entity.id)) this.updated.add(entity.id);
      this.current.set(entity.id, entity);
    }
  }

  writes(): Write[] {
    const pick = (ids: Set<Uuid>): Entity[] => Array.from(ids, (id) => this.current.get(id) as Entity);
    const writes: Write[] = [];
    if (this.inserted.size > 0) writes.push(insertOf(this.table, pick(this.inserted)));
    if (this.updated.size > 0) writes.push(updateOf(this.table, pick(this.updated)));
    return writes;
  }
}

export class WorkingSet {
  readonly projects = new Shelf(projectTable);
  readonly milestones = new Shelf(milestoneTable);
  readonly invoices = new Shelf(invoiceTable);
  readonly payments = new Shelf(paymentTable);
  readonly apiKeys = new Shelf(apiKeyTable);
  readonly webhookEndpoints = new Shelf(webhookEndpointTable);
  readonly webhookRepairs = new Shelf(webhookRepairTable);
  readonly #deliveries = new Map<Uuid, LockedDelivery>();
  /** The last one of each delivery counts. */
  readonly #deliveryAsks = new Map<Uuid, DeliveryAsk>();
  readonly #callers = new Map<Uuid, KeyValidity>();
  readonly #heads = new Map<Uuid, Head>();
  readonly #movedHeads = new Set<Uuid>();
  readonly #idempotency = new Map<string, IdempotencyRecord>();
  readonly #newIdempotency: IdempotencyRecord[] = [];
  readonly #entries: LedgerEntry[] = [];
  readonly #events: Event[] = [];

  loadDeliveries(deliveries: readonly LockedDelivery[]): void {
    for (const delivery of deliveries) this.#deliveries.set(delivery.id, delivery);
  }

  loadHeads(heads: readonly Head[]): void {
    for (const head of heads) this.#heads.set(head.workspace.id, head);
  }

  loadCallers(keys: readonly KeyValidity[]): void {
    for (const key of keys) this.#callers.set(key.id, key);
  }

  loadIdempotency(records: readonly IdempotencyRecord[]): void {
    for (const record of records) this.#idempotency.set(`${record.workspaceId}:${record.key}`, record);
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

  /** Takes an accepted decision over: numbers and chains its events, and moves the head on. */
  apply(changes: Changes, context: Context, idempotency: IdempotencyRecord | null): void {
    const invoicesBefore = this.invoices.inserted.size;
    this.projects.put(changes.projects);
    this.milestones.put(changes.milestones);
    this.invoices.put(changes.invoices);
    this.payments.put(changes.payments);
    this.apiKeys.put(changes.apiKeys);
    this.webhookEndpoints.put(changes.webhookEndpoints);
    this.webhookRepairs.put(changes.webhookRepairs);
    for (const { delivery, ask } of changes.deliveries ?? []) {
      this.#deliveries.set(delivery.id, delivery);
      this.#deliveryAsks.set(delivery.id, ask);
    }
    if (changes.entries !== undefined) this.#entries.push(...changes.entries);
    if (idempotency !== null) {
      this.#idempotency.set(`${idempotency.workspaceId}:${idempotency.key}`, idempotency);
      this.#newIdempotency.push(idempotency);
    }
    const workspaceId = context.workspace.id;
    const head = this.#heads.get(workspaceId) as Head;
    const next = { ...head, invoiceNumber: head.invoiceNumber + this.invoices.inserted.size - invoicesBefore, lastTime: context.now };
    for (const draft of changes.events ?? []) {
      const unhashed = { ...draft, id: context.newId(), workspaceId, seq: next.eventSeq + 1, createdAt: context.now };
      const event = { ...unhashed, hash: chainHash(next.eventHash, unhashed) };
      this.#events.push(event);
      next.eventSeq = event.seq;
      next.eventHash = event.hash;
    }
    this.#heads.set(workspaceId, next);
    if (Object.keys(changes).length > 0) this.#movedHeads.add(workspaceId);
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
    ];
    if (this.#entries.length > 0) writes.push(insertOf(ledgerTable, this.#entries));
    if (this.#events.length > 0) writes.push(insertOf(eventTable, this.#events));
    if (this.#newIdempotency.length > 0) writes.push(insertIdempotencyRecords(this.#newIdempotency));
    if (this.#movedHeads.size > 0) writes.push(updateHeads(Array.from(this.#movedHeads, (id) => this.#heads.get(id) as Head)));
    await sendWrites(transaction, writes);
  }
}
