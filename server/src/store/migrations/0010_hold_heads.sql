-- Locks the heads of workspaces and refuses, to be tried again, where one is not as it was expected. As nothing of a workspace changes
-- without its head, everything that was read before is then still so. `xmin` says which transaction wrote a row; after a crash or a
-- failover its number may be given out again, so hash and time have to fit as well.
-- A head that somebody else holds is waited for, or with `patient` false refused at once.
-- The arrays come in id order, as the rows are locked, so that they are compared as wholes: our sessions join by nested loops alone, and a
-- batch of 256 workspaces would be compared 65,536 times while its locks are held.
create function hold_heads(workspaces uuid[], writers text[], hashes bytea[], times timestamptz[], patient boolean)
returns void language plpgsql as $$
declare
  held record;
begin
  if patient then
    select array_agg(h.id) as ids, array_agg(h.writer) as writers, array_agg(h.hash) as hashes, array_agg(h.time) as times into held from (
      select h.workspace_id as id, h.xmin::text as writer, h.event_hash as hash, h.last_time::timestamptz as time from workspace_heads h
      where h.workspace_id = any (workspaces) order by h.workspace_id for no key update
    ) h;
  else
    select array_agg(h.id) as ids, array_agg(h.writer) as writers, array_agg(h.hash) as hashes, array_agg(h.time) as times into held from (
      select h.workspace_id as id, h.xmin::text as writer, h.event_hash as hash, h.last_time::timestamptz as time from workspace_heads h
      where h.workspace_id = any (workspaces) order by h.workspace_id for no key update skip locked
    ) h;
  end if;
  if (held.ids, held.writers, held.hashes, held.times) is distinct from (workspaces, writers, hashes, times) then
    raise exception 'another transaction has written to a workspace meanwhile' using errcode = 'serialization_failure';
  end if;
end $$;
