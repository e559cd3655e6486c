-- People: who they are and how they prove it (identity_*, outside the lane), what they are in a workspace, invitations, and the audit log.
-- No password, token or code is here but hashed or encrypted. Nothing newer than PostgreSQL 15.

create table identity_users (
  id             uuid primary key,
  -- In lower case.
  email          text not null,
  name           text not null,
  email_verified boolean not null default false,
  image          text,
  totp_enabled   boolean not null default false,
  created_at     timestamptz(3) not null,
  updated_at     timestamptz(3) not null
);
create unique index identity_users_by_email on identity_users (email);

-- How a person proves who they are: one row, with the hash of the password (scrypt, salted).
create table identity_accounts (
  id            uuid primary key,
  user_id       uuid not null references identity_users (id) on delete cascade,
  account_id    text not null,
  provider_id   text not null,
  password_hash text,
  created_at    timestamptz(3) not null,
  updated_at    timestamptz(3) not null
);
create unique index identity_accounts_by_user on identity_accounts (user_id, provider_id);

create table identity_sessions (
  id           uuid primary key,
  user_id      uuid not null references identity_users (id) on delete cascade,
  -- SHA-256 of the token that the cookie carries.
  token_hash   bytea not null,
  ip_address   text,
  user_agent   text,
  last_used_at timestamptz(3) not null default now(),
  expires_at   timestamptz(3) not null,
  created_at   timestamptz(3) not null,
  updated_at   timestamptz(3) not null
) with (fillfactor = 80);
create unique index identity_sessions_by_token on identity_sessions (token_hash);
create index identity_sessions_by_user on identity_sessions (user_id, id);
create index identity_sessions_by_end on identity_sessions (expires_at);

-- Sign-ins that wait for their code. The identifier is hashed.
create table identity_challenges (
  id         uuid primary key,
  identifier text not null,
  value      text not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index identity_challenges_by_identifier on identity_challenges (identifier);
create index identity_challenges_by_end on identity_challenges (expires_at);

-- The second factor: its secret and its backup codes are encrypted.
create table identity_totp (
  id           uuid primary key,
  user_id      uuid not null references identity_users (id) on delete cascade,
  secret       text not null,
  backup_codes text not null,
  verified     boolean not null,
  failures     integer not null default 0,
  locked_until timestamptz(3)
);
create unique index identity_totp_by_user on identity_totp (user_id);

-- Codes that were sent lately, as a keyed hash: none is taken twice.
create table identity_used_codes (
  user_id   uuid not null references identity_users (id) on delete cascade,
  code_hash bytea not null,
  used_at   timestamptz(3) not null,
  primary key (user_id, code_hash)
);

-- Attempts to sign in, by the hash of the address or account they count for. Unlogged: a crash of the database forgives a quarter of an hour.
create unlogged table sign_in_attempts (
  bucket   bytea primary key,
  attempts integer not null,
  until    timestamptz(3) not null
) with (fillfactor = 50);
create index sign_in_attempts_by_end on sign_in_attempts (until);

-- SHA-256 of the tokens that serving processes have printed while nobody has signed up.
create table setup_tokens (
  hash       bytea primary key,
  created_at timestamptz(3) not null
);

create table members (
  workspace_id uuid not null references workspaces (id),
  id           uuid not null,
  person_id    uuid not null references identity_users (id),
  role         text not null check (role in ('owner', 'admin', 'developer', 'finance', 'viewer')),
  created_at   timestamptz(3) not null,
  updated_at   timestamptz(3) not null,
  removed_at   timestamptz(3),
  primary key (workspace_id, id)
) with (fillfactor = 80);
create unique index members_one_per_person on members (workspace_id, person_id);
create index members_by_person on members (person_id, workspace_id);
create trigger members_kept before delete or truncate on members for each statement execute function refuse_change();

create table invitations (
  workspace_id uuid not null references workspaces (id),
  id           uuid not null,
  email        text not null,
  role         text not null check (role in ('admin', 'developer', 'finance', 'viewer')),
  token_hash   bytea not null,
  invited_by   uuid references identity_users (id),
  expires_at   timestamptz(3) not null,
  accepted_at  timestamptz(3),
  revoked_at   timestamptz(3),
  created_at   timestamptz(3) not null,
  primary key (workspace_id, id)
) with (fillfactor = 80);
create unique index invitations_by_token on invitations (token_hash);

-- Who changed what. Written in the transaction of the change, and never again.
create table audit_entries (
  workspace_id uuid not null references workspaces (id),
  id           uuid not null,
  actor_type   text not null check (actor_type in ('person', 'key', 'system')),
  actor_id     uuid,
  actor_name   text,
  action       text not null,
  target_type  text not null,
  target_id    uuid not null,
  changes      jsonb not null,
  ip           text,
  user_agent   text,
  created_at   timestamptz(3) not null,
  primary key (workspace_id, id),
  check ((actor_type = 'system') = (actor_id is null))
);
create index audit_entries_by_actor on audit_entries (workspace_id, actor_id, id);
create index audit_entries_by_target on audit_entries (workspace_id, target_id, id);
create index audit_entries_by_action on audit_entries (workspace_id, action, id);
create trigger audit_entries_append_only before update or delete or truncate on audit_entries
  for each statement execute function refuse_change();

-- Once set, nothing in the workspace changes any more.
alter table workspaces add column closed_at timestamptz(3);
