-- Repair: what was asked for while an attempt was under way, and bulk work on deliveries as records that a restart takes up again.

-- What follows when the attempt that is under way has ended: it is sent again unless it was acknowledged, or not sent again. Null: as ever.
alter table deliveries add column asked text check (asked in ('replay', 'cancel'));

create table webhook_repairs (
  workspace_id uuid not null references workspaces (id),
  id           uuid not null,
  action       text not null check (action in ('replay', 'recover', 'cancel')),
  -- The filter. Null: any.
  endpoint_id  uuid,
  event_types  text[],
  statuses     text[] not null,
  project_id   uuid,
  since        timestamptz(3),
  until        timestamptz(3),
  -- Counts and changes nothing.
  dry_run      boolean not null,
  status       text not null check (status in ('pending', 'running', 'completed', 'stopped')),
  reason       text,
  matched      bigint not null default 0,
  changed      bigint not null default 0,
  -- How far the walk has come: over deliveries by id, or with `recover` over events by sequence. Moves in the transaction of what it tells of.
  at_delivery  uuid,
  at_seq       bigint,
  -- The last event there was when it was asked for: a repair has an end.
  through_seq  bigint not null,
  -- Nobody takes its next step before this time: a rest, or the lease of who is at it, told by the token.
  rest_until   timestamptz(3) not null,
  token        uuid,
  created_at   timestamptz(3) not null,
  completed_at timestamptz(3),
  primary key (workspace_id, id),
  foreign key (workspace_id, endpoint_id) references webhook_endpoints (workspace_id, id),
  check ((status in ('completed', 'stopped')) = (completed_at is not null))
) with (fillfactor = 70);
create index webhook_repairs_open on webhook_repairs (rest_until) where status in ('pending', 'running');
