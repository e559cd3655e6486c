// Every SQL statement that deletes what the request log and the settings keep no longer: old entries, and logos that nothing shows.
// A bite at a time along primary keys.

import type { Uuid } from '../domain/ids.ts';
import type { Queryable } from './database.ts';
import { firstIdOf } from './lists.ts';

/** Deletes entries of a workspace from before a time, oldest first: ids are in the order of time, along the primary key (workspace_id, id). */
export async function pruneRequestLog(queryable: Queryable, workspaceId: Uuid, before: Date, limit: number): Promise<number> {
  const rows = await queryable.query(
    `delete from request_log where workspace_id = $1 and id in (
       select id from request_log where workspace_id = $1 and id < $2 order by id limit $3
     ) returning 1`,
    [workspaceId, firstIdOf(before.getTime()), limit],
  );
  return rows.length;
}

/**
 * Deletes logos of a workspace that neither its settings nor a letterhead shows: primary keys of workspace_logos and workspaces, and a walk
 * over the letterheads of the workspace, which are few. Under the head's lock, so that no write is about to show one of them; while
 * somebody else holds it, nothing is done.
 */
export async function pruneLogos(queryable: Queryable, workspaceId: Uuid): Promise<number> {
  const rows = await queryable.query(
    `with head as (select workspace_id from workspace_heads where workspace_id = $1 for no key update skip locked)
     delete from workspace_logos l using head where l.workspace_id = head.workspace_id
     and not exists (select from workspaces w where w.id = l.workspace_id and w.logo_hash = l.hash)
     and not exists (select from workspace_letterheads h where h.workspace_id = l.workspace_id and h.logo_hash = l.hash) returning 1`,
    [workspaceId],
  );
  return rows.length;
}
