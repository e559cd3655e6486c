-- The books: workspaces, projects, milestones, payments, invoices, the ledger and the event log; keys, idempotency and webhooks.
-- Every tenant table begins its primary key with workspace_id and foreign keys carry it: the database refuses a link across workspaces.
-- Nothing newer than PostgreSQL 15.

create table workspaces (
  id               uuid primary key,
  name             text not null,
  default_currency text not null default 'USD',
  created_at       timestamptz(3) not null
);

-- One row per workspace, the only lock of a write (FOR NO KEY UPDATE): it makes event order equal commit order.
create table workspace_heads (
  workspace_id   uuid primary key references workspaces (id),
  event_seq      bigint not null default 0,
  event_hash     bytea not null,
  invoice_number bigint not null default 0,
  last_time      timestamptz(3) not null
) with (fillfactor = 50);

create table projects (
  workspace_id uuid not null references workspaces (id),
  id           uuid not null,
  name         text not null,
  client_id    text not null,
  payee_id     text,
  currency     text not null,
  release      text not null check (release in ('on_approval', 'manual')),
  status       text not null check (status in ('active', 'archived')),
  metadata     jsonb not null,
  version      integer not null,
  created_at   timestamptz(3) not null,
  updated_at   timestamptz(3) not null,
  primary key (workspace_id, id)
) with (fillfactor = 90);
create index projects_by_client on projects (workspace_id, client_id, id);
create index projects_archived on projects (workspace_id, id) where status = 'archived';
create index projects_by_metadata on projects using gin (metadata jsonb_path_ops);

create table milestones (
  workspace_id uuid not null,
  id           uuid not null,
  project_id   uuid not null,
  title        text not null,
  description  text,
  amount_minor bigint not null check (amount_minor between 1 and 999999999999),
  currency     text not null,
  payee_id     text,
  due_date     date,
  status       text not null check (status in ('pending', 'in_progress', 'submitted', 'changes_requested', 'approved', 'cancelled')),
  reason       text,
  submission   jsonb,
  metadata     jsonb not null,
  submitted_at timestamptz(3),
  approved_at  timestamptz(3),
  version      integer not null,
  created_at   timestamptz(3) not null,
  updated_at   timestamptz(3) not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, project_id) references projects (workspace_id, id)
) with (fillfactor = 80);
create index milestones_by_project on milestones (workspace_id, project_id, id);

create table invoices (
  workspace_id   uuid not null,
  id             uuid not null,
  number         bigint not null,
  project_id     uuid not null,
  milestone_id   uuid not null,
  payment_id     uuid not null,
  client_id      text not null,
  status         text not null check (status in ('issued', 'void')),
  payment_status text not null check (payment_status in ('unpaid', 'paid')),
  lines          jsonb not null,
  subtotal_minor bigint not null,
  tax_minor      bigint not null,
  total_minor    bigint not null check (total_minor = subtotal_minor + tax_minor),
  currency       text not null,
  paid_at        timestamptz(3),
  created_at     timestamptz(3) not null,
  primary key (workspace_id, id),
  check (status = 'issued' or payment_status = 'unpaid'),
  check ((payment_status = 'paid') = (paid_at is not null))
) with (fillfactor = 90);
create unique index invoices_by_number on invoices (workspace_id, number);
create index invoices_by_project on invoices (workspace_id, project_id, id);
create index invoices_by_client on invoices (workspace_id, client_id, id);
create index invoices_unpaid on invoices (workspace_id, id) where payment_status = 'unpaid';

create table payments (
  workspace_id uuid not null,
  id           uuid not null,
  project_id   uuid not null,
  milestone_id uuid not null,
  invoice_id   uuid not null,
  client_id    text not null,
  payee_id     text,
  amount_minor bigint not null check (amount_minor between 1 and 999999999999),
  currency     text not null,
  status       text not null check (status in ('pending', 'released')),
  released_at  timestamptz(3),
  created_at   timestamptz(3) not null,
  primary key (workspace_id, id),
  check ((status = 'released') = (released_at is not null))
) with (fillfactor = 90);
-- One payment a milestone, whatever happens: the last line of defence against paying twice.
create unique index payments_one_per_milestone on payments (workspace_id, milestone_id);
create index payments_by_project on payments (workspace_id, project_id, id);
create index payments_by_client on payments (workspace_id, client_id, id);
create index payments_pending on payments (workspace_id, id) where status = 'pending';

create table ledger_entries (
  workspace_id uuid not null,
  posting_id   uuid not null,
  line         smallint not null,
  account      text not null check (account in ('receivable', 'payable', 'paid_out')),
  project_id   uuid not null,
  payment_id   uuid not null,
  currency     text not null,
  amount_minor bigint not null check (amount_minor <> 0),
  created_at   timestamptz(3) not null,
  -- Led by the payment, so that one index serves both uniqueness and the look-up of a payment's entries.
  primary key (workspace_id, payment_id, posting_id, line)
);

create table events (
  workspace_id uuid not null,
  seq          bigint not null,
  id           uuid not null,
  type         text not null,
  project_id   uuid not null,
  body         text not null,
  hash         bytea not null,
  created_at   timestamptz(3) not null,
  primary key (workspace_id, seq)
);
create unique index events_by_id on events (workspace_id, id);

-- Rows of the log and the ledger are never changed, and no row of the books ever goes: the database itself refuses, whoever asks.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the rows of % are kept as they are: % is refused', tg_table_name, tg_op using errcode = 'restrict_violation';
end $$;
create trigger ledger_entries_append_only before update or delete or truncate on ledger_entries
  for each statement execute function refuse_change();
create trigger events_append_only before update or delete or truncate on events
  for each statement execute function refuse_change();
create trigger projects_kept before delete or truncate on projects for each statement execute function refuse_change();
create trigger milestones_kept before delete or truncate on milestones for each statement execute function refuse_change();
create trigger invoices_kept before delete or truncate on invoices for each statement execute function refuse_change();
create trigger payments_kept before delete or truncate on payments for each statement execute function refuse_change();

-- What identifies a payment or an invoice, and how much it is, stays as issued. A column list is looked at once a statement.
create trigger payments_fixed
  before update of workspace_id, id, project_id, milestone_id, invoice_id, client_id, payee_id, amount_minor, currency, created_at on payments
  for each statement execute function refuse_change();
create trigger invoices_fixed
  before update of workspace_id, id, number, project_id, milestone_id, payment_id, client_id, lines, subtotal_minor, tax_minor, total_minor,
    currency, created_at on invoices
  for each statement execute function refuse_change();

-- A released payment and a paid invoice are never rewritten. Checked once a statement.
create function refuse_rewriting_payments() returns trigger language plpgsql as $$
begin
  if exists (select from before where status = 'released') then
    raise exception 'a released payment is never rewritten' using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
create trigger payments_settled after update on payments
  referencing old table as before for each statement execute function refuse_rewriting_payments();

create function refuse_rewriting_invoices() returns trigger language plpgsql as $$
begin
  if exists (select from before where payment_status = 'paid') then
    raise exception 'a paid invoice is never rewritten' using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
create trigger invoices_settled after update on invoices
  referencing old table as before for each statement execute function refuse_rewriting_invoices();

-- Links of the books are checked once a statement, over all rows it added, and not once a row as a foreign key does: on the
-- road of an approval that halves what PostgreSQL spends, and writes no lock into the parents. The check is the same or stricter:
-- a parent of the same workspace, project and milestone. Parents are never deleted and links never updated: refused above.
create function refuse_unlinked_invoices() returns trigger language plpgsql as $$
begin
  if exists (select from added a where not exists (
    select from milestones m where m.workspace_id = a.workspace_id and m.id = a.milestone_id and m.project_id = a.project_id
  )) then
    raise exception 'an invoice belongs to no milestone of its workspace and project' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
create trigger invoices_linked after insert on invoices
  referencing new table as added for each statement execute function refuse_unlinked_invoices();

create function refuse_unlinked_payments() returns trigger language plpgsql as $$
begin
  if exists (select from added a where not exists (
    select from invoices i where i.workspace_id = a.workspace_id and i.id = a.invoice_id and i.payment_id = a.id
      and i.project_id = a.project_id and i.milestone_id = a.milestone_id
  )) then
    raise exception 'a payment belongs to no invoice of its workspace, project and milestone' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
create trigger payments_linked after insert on payments
  referencing new table as added for each statement execute function refuse_unlinked_payments();

-- A posting is written whole, by one statement, and sums to zero in each currency; a statement that breaks this is refused.
-- By induction every posting is balanced for ever.
create function refuse_unsound_entries() returns trigger language plpgsql as $$
begin
  if exists (select from added group by workspace_id, posting_id, currency having sum(amount_minor) <> 0) then
    raise exception 'a posting does not sum to zero' using errcode = 'check_violation';
  end if;
  if exists (select from (select distinct workspace_id, payment_id, project_id, currency from added) a where not exists (
    select from payments p where p.workspace_id = a.workspace_id and p.id = a.payment_id and p.project_id = a.project_id and p.currency = a.currency
  )) then
    raise exception 'a ledger entry belongs to no payment of its workspace and project' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
create trigger ledger_entries_sound after insert on ledger_entries
  referencing new table as added for each statement execute function refuse_unsound_entries();

create function refuse_unlinked_events() returns trigger language plpgsql as $$
begin
  if exists (select from (select distinct workspace_id from added) a where not exists (select from workspaces w where w.id = a.workspace_id)) then
    raise exception 'an event belongs to no workspace' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;
create trigger events_linked after insert on events
  referencing new table as added for each statement execute function refuse_unlinked_events();

create table api_keys (
  workspace_id uuid not null references workspaces (id),
  id           uuid not null,
  name         text not null,
  hash         bytea not null,
  hint         text not null,
  scopes       text[] not null,
  expires_at   timestamptz(3),
  revoked_at   timestamptz(3),
  created_at   timestamptz(3) not null,
  primary key (workspace_id, id)
);
create unique index api_keys_by_hash on api_keys (hash);

-- Written outside the lane, in bulk and seldom; losing it in a crash loses nothing that counts.
create unlogged table api_key_uses (
  workspace_id uuid not null,
  key_id       uuid not null,
  used_at      timestamptz(3) not null,
  primary key (workspace_id, key_id)
) with (fillfactor = 50);

-- What a process has leased of a key's minute. Unlogged: a crash of the database forgives the minute.
create unlogged table rate_leases (
  workspace_id uuid not null,
  key_id       uuid not null,
  minute       bigint not null,
  used         integer not null,
  primary key (workspace_id, key_id)
) with (fillfactor = 50);

create table idempotency_keys (
  workspace_id uuid not null references workspaces (id),
  key          text not null,
  fingerprint  bytea not null,
  status       smallint not null,
  headers      jsonb not null,
  body         text not null,
  -- Whether `body` is encrypted because it carries a secret.
  sealed       boolean not null,
  created_at   timestamptz(3) not null,
  primary key (workspace_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

create table webhook_endpoints (
  workspace_id    uuid not null references workspaces (id),
  id              uuid not null,
  url             text not null,
  description     text,
  event_types     text[],
  status          text not null check (status in ('enabled', 'disabled')),
  disabled_reason text,
  secrets         jsonb not null,
  after_seq       bigint not null,
  version         integer not null,
  created_at      timestamptz(3) not null,
  updated_at      timestamptz(3) not null,
  deleted_at      timestamptz(3),
  primary key (workspace_id, id)
);

-- How far the events of a workspace have been fanned out. Apart from the head, so that fan-out never waits for a write.
create table webhook_cursors (
  workspace_id uuid primary key references workspaces (id),
  seq          bigint not null
) with (fillfactor = 50);

-- The last sequence number given to each endpoint, for Tranche-Prev-Seq.
create table webhook_positions (
  workspace_id uuid not null,
  endpoint_id  uuid not null,
  seq          bigint not null,
  primary key (workspace_id, endpoint_id),
  foreign key (workspace_id, endpoint_id) references webhook_endpoints (workspace_id, id)
) with (fillfactor = 50);

create table deliveries (
  workspace_id    uuid not null,
  id              uuid not null,
  endpoint_id     uuid not null,
  event_seq       bigint not null,
  previous_seq    bigint,
  status          text not null check (status in ('pending', 'succeeded', 'failed', 'cancelled')),
  attempts        integer not null default 0,
  -- When the next attempt is due; while an attempt is under way, when its lease ends.
  next_attempt_at timestamptz(3),
  -- Fences a late worker: results are written only by the holder of the current token.
  lease_token     uuid,
  created_at      timestamptz(3) not null,
  completed_at    timestamptz(3),
  primary key (workspace_id, id),
  foreign key (workspace_id, endpoint_id) references webhook_endpoints (workspace_id, id),
  foreign key (workspace_id, event_seq) references events (workspace_id, seq),
  check ((status = 'pending') = (next_attempt_at is not null))
) with (fillfactor = 70);
create unique index deliveries_once_per_endpoint on deliveries (workspace_id, endpoint_id, event_seq);
-- Led by the endpoint: a claim leaps from one endpoint to the next, so that the backlog of one is never in the way of another.
create index deliveries_due on deliveries (workspace_id, endpoint_id, next_attempt_at, id) where status = 'pending';
create index deliveries_by_endpoint on deliveries (workspace_id, endpoint_id, id);
create index deliveries_failed on deliveries (workspace_id, endpoint_id, id) where status = 'failed';

create table delivery_attempts (
  workspace_id  uuid not null,
  delivery_id   uuid not null,
  number        integer not null,
  started_at    timestamptz(3) not null,
  duration_ms   integer not null,
  -- Null when no answer arrived; then `error` says why.
  status_code   smallint,
  error         text,
  response_body text,
  primary key (workspace_id, delivery_id, number),
  foreign key (workspace_id, delivery_id) references deliveries (workspace_id, id)
);

-- A check value: a process with another ENCRYPTION_KEY is refused before it writes what nobody could read.
create table encryption_checks (
  id     boolean primary key default true check (id),
  sealed text not null
);
