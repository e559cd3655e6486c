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
  replaced_at    timestamptz(3) not null,
  primary key (workspace_id, last_number),
  foreign key (workspace_id, logo_hash) references workspace_logos (workspace_id, hash)
);
create trigger workspace_letterheads_append_only before update or delete or truncate on workspace_letterheads
  for each statement execute function refuse_change();
