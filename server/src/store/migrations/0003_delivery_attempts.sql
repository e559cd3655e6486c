-- What an attempt met, in full; and what an endpoint may ask of its deliveries: ed25519 signatures and headers of its own.

alter table delivery_attempts
  -- A word for programs; `error` is the sentence for people. Both null when an answer arrived.
  add column error_kind text,
  -- The address that was connected to, or tried last; null when there was none or it must not be told.
  add column remote_address text,
  -- Name to value, bounded; null when no answer arrived.
  add column response_headers jsonb,
  -- Whether the answer went on after what is kept of it.
  add column response_truncated boolean not null default false;

-- Until now the word stood before the sentence.
update delivery_attempts
set error_kind = split_part(error, ': ', 1), error = substr(error, strpos(error, ': ') + 2)
where error is not null;

alter table webhook_endpoints
  add column signature_schemes text[] not null default '{v1}',
  -- [{public_key, sealed, expires_at}], newest first; empty until the scheme v1a is asked for.
  add column signing_keys jsonb not null default '[]',
  -- [{name, sealed}]: the values are as secret as keys, since most of them are.
  add column headers jsonb not null default '[]';

-- Public keys are asked for by who knows the endpoint's id and nothing of its workspace.
-- A hash has no order, so no list is ever read along it in place of the primary key.
create index webhook_endpoints_by_id on webhook_endpoints using hash (id);
