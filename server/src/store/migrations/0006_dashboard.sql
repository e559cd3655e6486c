-- What the dashboard shows and does: settings, letterheads that invoices keep, lists of what needs somebody, search, the log of requests.

alter table workspaces
  add column legal_name     text,
  add column address_lines  text[] not null default '{}',
  add column tax_id         text,
  add column logo_hash      bytea,
  add column invoice_prefix text not null default 'INV-',
  add column tax_line       text,
  add column timezone       text not null default 'UTC',
  add column version        integer not null default 1,
  -- Null until settings change for the first time.
  add column updated_at     timestamptz(3);

-- An image is kept once, by its SHA-256, however many letterheads show it.
create table workspace_logos (
  workspace_id uuid not null references workspaces (id),
  hash         bytea not null,
  content_type text not null check (content_type in ('image/png', 'image/jpeg')),
  width        integer not null,
  height       integer not null,
  data         bytea not null,
  primary key (workspace_id, hash)
);
-- Images do not get smaller by compressing them again.
alter table workspace_logos alter column data set storage external;
alter table workspaces add foreign key (id, logo_hash) references workspace_logos (workspace_id, hash);

-- A letterhead that went out of use, and the last invoice that was issued under it. Invoices after the last of these stand under the
-- present one, which is in workspaces: so neither an approval nor an invoice's row carries anything of it.
create table workspace_letterheads (
  workspace_id   uuid not null references workspaces (id),
  last_number    bigint not null,
  name           text not null,
  legal_name     text,
  address_lines  text[] not null,
  tax_id         text,
  logo_hash      bytea,
  invoice_prefix text not null,
  tax_line       text,
  timezone       text not null,
  replaced_at    timestamptz(3) not null,
  primary key (workspace_id, last_number),
  foreign key (workspace_id, logo_hash) references workspace_logos (workspace_id, hash)
);
create trigger workspace_letterheads_append_only before update or delete or truncate on workspace_letterheads
  for each statement execute function refuse_change();

-- What needs somebody: submitted milestones, and those that are due and not handed in. Both hold only rows in these states, so that an
-- approval, which takes a row out of the first, adds to neither.
create index milestones_submitted on milestones (workspace_id, id) where status = 'submitted';
create index milestones_due on milestones (workspace_id, due_date, id)
  where due_date is not null and status in ('pending', 'in_progress', 'changes_requested');

-- Search: the words of a project's name and client id, in small letters, each with the end of the workspace's id in front, so that a search
-- walks through the words of its own workspace only. Whatever is neither letter nor digit of ASCII parts words, and so do blanks and dashes
-- of other scripts; the rest is left to the collation, the best that this server has. Not in SQL: that would be inlined, and the planner
-- would think it costs nothing to cut names into words while it walks through all of them.
do $block$
declare
  letters text := coalesce(
    (select format(' collate %I', collname) from pg_collation
     where collname in ('pg_c_utf8', 'und-x-icu') and collnamespace = 'pg_catalog'::regnamespace order by collname limit 1), '');
  gaps text := '[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f\u00a0\u2000-\u206f\u3000-\u3003]';
begin
  execute format($make$
    create function project_words(workspace uuid, name text, client text) returns tsvector
    language plpgsql immutable parallel safe cost 2000 as $f$
    begin
      return array_to_tsvector(string_to_array(right(workspace::text, 8) ||
        regexp_replace(lower((name || ' ' || client)%1$s), %2$L, ' ' || right(workspace::text, 8), 'g'), ' '));
    end $f$ $make$, letters, gaps || '+');
  execute format($make$
    create function project_search(workspace uuid, words text) returns tsquery
    language plpgsql immutable parallel safe as $f$
    begin
      return ('''' || right(workspace::text, 8) || regexp_replace(
        regexp_replace(lower(words%1$s), %3$L, '', 'g'), %2$L, ''':* & ''' || right(workspace::text, 8), 'g') || ''':*')::tsquery;
    end $f$ $make$, letters, gaps || '+', '^' || gaps || '+|' || gaps || '+$');
end $block$;
-- A small list of what was added lately keeps both a search and the project that has to empty it short.
create index projects_by_words on projects using gin (project_words(workspace_id, name, client_id)) with (gin_pending_list_limit = 256);

-- The requests that were answered. Unlogged: a crash of the database empties it, and nothing else depends on it.
create unlogged table request_log (
  workspace_id uuid not null,
  id           uuid not null,
  key_id       uuid not null,
  created_at   timestamptz(3) not null,
  duration_us  integer not null,
  status       smallint not null,
  by_session   boolean not null,
  method       text not null,
  path         text not null,
  request_id   text not null,
  primary key (workspace_id, id)
);
create index request_log_by_key on request_log (workspace_id, key_id, id);
create index request_log_failures on request_log (workspace_id, id) where status >= 400;

-- What keys used of their limit, hour by hour; written once a minute, from leases that are over.
create unlogged table key_usage (
  workspace_id   uuid not null,
  key_id         uuid not null,
  hour           timestamptz(3) not null,
  requests       integer not null,
  busiest_minute integer not null,
  primary key (workspace_id, key_id, hour)
) with (fillfactor = 50);
