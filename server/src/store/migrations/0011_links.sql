-- The links of projects and milestones are checked once a statement too, as those of invoices, payments, entries and events are: a foreign
-- key ran a query and wrote a lock into the parent for each of the five milestones of a new project. The check refuses the same.
-- No parent ever goes: workspaces are kept like the rest of the books now.
-- All locks first, and in the order in which a batch of writes comes to them.
lock table workspaces, milestones, projects in access exclusive mode;
alter table projects drop constraint projects_workspace_id_fkey;
alter table milestones drop constraint milestones_workspace_id_project_id_fkey;

create function refuse_unlinked_projects() returns trigger language plpgsql as $$
begin
  if exists (select from (select distinct workspace_id from added) a where not exists (select from workspaces w where w.id = a.workspace_id)) then
    raise exception 'a project belongs to no workspace' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
create trigger projects_linked after insert on projects
  referencing new table as added for each statement execute function refuse_unlinked_projects();

create function refuse_unlinked_milestones() returns trigger language plpgsql as $$
begin
  if exists (select from (select distinct workspace_id, project_id from added) a where not exists (
    select from projects p where p.workspace_id = a.workspace_id and p.id = a.project_id
  )) then
    raise exception 'a milestone belongs to no project of its workspace' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
create trigger milestones_linked after insert on milestones
  referencing new table as added for each statement execute function refuse_unlinked_milestones();

create trigger workspaces_kept before delete or truncate on workspaces for each statement execute function refuse_change();
-- A link stays as it was made, and so do identities.
create trigger projects_fixed before update of workspace_id, id on projects for each statement execute function refuse_change();
create trigger milestones_fixed before update of workspace_id, id, project_id on milestones for each statement execute function refuse_change();
