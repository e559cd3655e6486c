-- The tables of the peer service, as its Drizzle schema describes them.
create table workspaces (
  id             uuid primary key default gen_random_uuid(),
  name           text not null,
  invoice_number bigint not null default 0
);
create table api_keys (
  id           uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces (id),
  hash         text not null,
  scopes       text[] not null,
  revoked_at   timestamptz(3)
);
create unique index api_keys_hash on api_keys (hash);
create table projects (
  id           uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces (id),
  name         text not null,
  client_id    text not null,
  payee_id     text,
  currency     text not null default 'USD',
  status       text not null default 'active',
  metadata     jsonb not null default '{}',
  created_at   timestamptz(3) not null default now(),
  updated_at   timestamptz(3) not null default now()
);
create table milestones (
  id           uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces (id),
  project_id   uuid not null references projects (id),
  title        text not null,
  description  text,
  amount       bigint not null,
  currency     text not null,
  payee_id     text,
  due_date     date,
  status       text not null default 'pending',
  submission   jsonb,
  submitted_at timestamptz(3),
  approved_at  timestamptz(3),
  version      integer not null default 1,
  created_at   timestamptz(3) not null default now(),
  updated_at   timestamptz(3) not null default now()
);
create index milestones_project on milestones (project_id);
create table invoices (
  id           uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces (id),
  number       bigint not null,
  project_id   uuid not null references projects (id),
  milestone_id uuid not null references milestones (id),
  total        bigint not null,
  currency     text not null,
  status       text not null,
  created_at   timestamptz(3) not null default now()
);
create unique index invoices_number on invoices (workspace_id, number);
create table payments (
  id           uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces (id),
  project_id   uuid not null references projects (id),
  milestone_id uuid not null references milestones (id),
  invoice_id   uuid not null references invoices (id),
  client_id    text not null,
  payee_id     text,
  amount       bigint not null,
  currency     text not null,
  status       text not null,
  released_at  timestamptz(3),
  created_at   timestamptz(3) not null default now()
);
create unique index payments_milestone on payments (milestone_id);
create table events (
  id           uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces (id),
  type         text not null,
  data         jsonb not null,
  created_at   timestamptz(3) not null default now()
);
