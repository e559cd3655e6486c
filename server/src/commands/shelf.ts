// The records of one table in a batch: as loaded, then as its commands leave them, each to be written once.
// Decides nothing.

import type { Uuid } from '../domain/ids.ts';
import { insertOf, type Table, updateOf, type Write } from '../store/tables.ts';

export interface Identified {
  readonly workspaceId: Uuid;
  readonly id: Uuid;
}

/** The records of one table, keyed by id. An id is looked up for one workspace: another's record is as good as absent. */
export class Shelf<Entity extends Identified> {
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

  /** Takes over what another batch has written: newer than anything that was loaded. */
  follow({ current, inserted, updated }: Shelf<Entity>): void {
    for (const ids of [inserted, updated]) for (const id of ids) this.current.set(id, current.get(id) as Entity);
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
